"""C++ RAII guards as Python context managers.

Mirrors ``torch/csrc/utils/python_raii.h``: ``py_context_manager``, whose guard is made on entry,
and ``py_context_manager_DEPRECATED``, whose guard is made with the object.  Either way the guard
is undone on exit, or when the object goes away, whichever comes first; entering twice undoes the
first guard before it makes the second.

A block under a guard is to cost little more than what it does to the thread, so what every such
block does takes one step each: a class called with one object of the class that it takes, entry,
and exit.  Any other call is loaded as pybind11 loads it, which also finds the words of a refusal.
For the same reason a guard need not be an object of a class of its own: it is whatever the function
answers that makes the change, for another function to undo it with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from mindtorch_v2.pybind.cast import BoundClass, bound_class
from mindtorch_v2.pybind.classes import bind_methods, pybind11_type
from mindtorch_v2.pybind.function import cpp_function, instancemethod, pass_for_builtin
from mindtorch_v2.pybind.signature import parse_docstring

Guard = Any
"""What undoes a change; never None."""


def close(guard: Guard) -> None:
    """Undo the change of a guard that is an object with such a method."""
    guard.close()


_ABSENT: Final = object()


class _guard_type(pybind11_type):  # noqa: N801 (as its base)
    """The metaclass of guards."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 (of a metaclass)
        taken = _TAKEN.get(cls)
        if kwargs or taken is None or len(args) != 1 or type(args[0]) is not taken[0]:
            return super().__call__(*args, **kwargs)
        instance: Any = _new(cls)
        instance._args, instance._guard = (taken[1](args[0]),), None
        return instance


_new: Final[Callable[..., Any]] = object.__new__
_TAKEN: Final[dict[type, BoundClass]] = {}
"""By the classes of guards that are made on entry, that of their one argument."""


type.__setattr__(_guard_type, "__name__", pybind11_type.__name__)
_guard_type.__module__ = pybind11_type.__module__


class _ContextManager(metaclass=_guard_type):
    """``std::optional`` of a guard, and the arguments to make it with."""

    __slots__ = ("_args", "_guard")

    _args: tuple[Any, ...]
    _guard: Guard
    _undo: Callable[[Guard], None] = staticmethod(close)

    @property
    def _constructed(self) -> tuple[tuple[Any, ...], Guard]:
        return self._args, self._guard

    @_constructed.setter
    def _constructed(self, value: tuple[tuple[Any, ...], Guard]) -> None:
        self._args, self._guard = value

    def _close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            self._undo(guard)

    def __del__(self) -> None:
        try:
            if self._guard is None:
                return
        except AttributeError:  # nothing was ever constructed
            return
        self._undo(self._guard)


class _one_step(partial[Any], cpp_function):  # noqa: N801 (passes for its second base)
    """A bound function that has one step for a usual call: CPython calls that at once."""

    __repr__ = cpp_function.__repr__

    @classmethod
    def of(cls, function: cpp_function, step: Callable[..., Any]) -> _one_step:
        """``step`` gets every call, and ``function``'s own way is for what it does not take."""
        made = cls.__new__(cls, step)
        cpp_function.__init__(made, function.__name__, function._overloads, function.__doc__ or "")
        return made


pass_for_builtin(_one_step)


def make_guard_class(
    name: str,
    module: str,
    docs: Mapping[str, str],
    guard: Callable[..., Guard],
    undo: Callable[[Guard], None] = close,
    *,
    at_init: bool,
) -> type:
    """The context manager of a guard; ``at_init`` for torch's deprecated kind."""

    def construct(*args: Any) -> tuple[tuple[Any, ...], Guard]:
        return args, guard(*args) if at_init else None

    def enter(self: _ContextManager) -> None:
        if not at_init:
            self._close()
            self._guard = guard(*self._args)

    def leave(self: _ContextManager, *exception: object) -> None:
        self._close()

    cls = _guard_type(
        name,
        (_ContextManager,),
        {
            "__slots__": (),
            "__module__": module,
            "__qualname__": name,
            "__doc__": None,
            "_undo": staticmethod(undo),
        },
        cpp_name=f"torch._C.{name}",
    )
    methods: dict[str, Callable[..., Any]] = {
        "__init__": construct,
        "__enter__": enter,
        "__exit__": leave,
    }
    bind_methods(cls, docs, methods, slot="_constructed")
    if not at_init:
        _take_one_step(cls, docs, guard, undo)
    return cls


def _take_one_step(
    cls: _guard_type,
    docs: Mapping[str, str],
    guard: Callable[..., Guard],
    undo: Callable[[Guard], None],
) -> None:
    """Have usual calls take one step each."""
    (signature,) = parse_docstring(docs["__init__"])
    taken = bound_class(signature.parameters[1].type) if len(signature.parameters) == 2 else None
    if taken is not None:
        _TAKEN[cls] = taken
    loading_enter: cpp_function = cls.__enter__  # type: ignore[attr-defined]
    loading_exit: cpp_function = cls.__exit__  # type: ignore[attr-defined]

    # Named arguments cost less than a tuple of them; who gives others is told by what loads them.

    def enter(self: Any = _ABSENT, /, *others: Any, **kwargs: Any) -> Any:
        if type(self) is not cls or others or kwargs:
            return loading_enter(*_given(self, *others), **kwargs)
        if self._guard is not None:
            self._close()
        args = self._args  # a call that unpacks them costs as much again
        self._guard = guard(args[0]) if len(args) == 1 else guard(*args)
        return None

    def leave(
        self: Any = _ABSENT,
        kind: Any = _ABSENT,
        value: Any = _ABSENT,
        traceback: Any = _ABSENT,
        /,
        *others: Any,
        **kwargs: Any,
    ) -> Any:
        if type(self) is not cls or traceback is _ABSENT or others or kwargs:
            return loading_exit(*_given(self, kind, value, traceback, *others), **kwargs)
        found, self._guard = self._guard, None
        if found is not None:
            undo(found)
        return None

    cls.__enter__ = instancemethod(_one_step.of(loading_enter, enter))  # type: ignore[attr-defined]
    cls.__exit__ = instancemethod(_one_step.of(loading_exit, leave))  # type: ignore[attr-defined]


def _given(*args: Any) -> tuple[Any, ...]:
    return tuple(each for each in args if each is not _ABSENT)
