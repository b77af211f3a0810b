"""C++ RAII guards as Python context managers.

Mirrors ``torch/csrc/utils/python_raii.h``: ``py_context_manager``, whose guard is made on entry,
and ``py_context_manager_DEPRECATED``, whose guard is made with the object.  Either way the guard
is undone on exit, or when the object goes away, whichever comes first; entering twice undoes the
first guard before it makes the second.

A block under a guard is to cost little more than what it does to the thread.  So those that change
the thread's sets by a mask (:func:`make_sets_guard_class`) take one step for what every such block
does: a call of the class with an object of the class that it takes, entry, and exit.  Any other
call is loaded as pybind11 loads it, which also finds the words of a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from sys import getrefcount
from typing import Any, Final

from mindtorch_v2.dispatch.local_sets import Change
from mindtorch_v2.dispatch.tls import Guard, RawLocalDispatchKeySet, thread_local
from mindtorch_v2.pybind.cast import bound_class
from mindtorch_v2.pybind.classes import bind_methods, pybind11_type
from mindtorch_v2.pybind.function import cpp_function, instancemethod
from mindtorch_v2.pybind.signature import parse_docstring

# --- any guard --------------------------------------------------------------------------------


class _GuardManager(metaclass=pybind11_type):
    """``std::optional`` of a guard, and the arguments to make it with."""

    __slots__ = ("_args", "_guard")

    _args: tuple[Any, ...]
    _guard: Guard | None

    @property
    def _constructed(self) -> tuple[tuple[Any, ...], Guard | None]:
        return self._args, self._guard

    @_constructed.setter
    def _constructed(self, value: tuple[tuple[Any, ...], Guard | None]) -> None:
        self._args, self._guard = value

    def _close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()

    def __del__(self) -> None:
        try:
            if self._guard is None:
                return
        except AttributeError:  # nothing was ever constructed
            return
        self._close()


def make_guard_class(
    name: str,
    module: str,
    docs: Mapping[str, str],
    guard: Callable[..., Guard],
    *,
    at_init: bool = False,
) -> type:
    """The context manager of a guard; ``at_init`` for torch's deprecated kind."""

    def construct(*args: Any) -> tuple[tuple[Any, ...], Guard | None]:
        return args, guard(*args) if at_init else None

    def enter(self: _GuardManager) -> None:
        if not at_init:
            self._close()
            self._guard = guard(*self._args)

    def leave(self: _GuardManager, *exception: object) -> None:
        self._close()

    cls = pybind11_type(
        name, (_GuardManager,), _namespace(name, module), cpp_name=f"torch._C.{name}"
    )
    methods: dict[str, Callable[..., Any]] = {
        "__init__": construct,
        "__enter__": enter,
        "__exit__": leave,
    }
    bind_methods(cls, docs, methods, slot="_constructed")
    return cls


def _namespace(name: str, module: str) -> dict[str, Any]:
    return {"__slots__": (), "__module__": module, "__qualname__": name, "__doc__": None}


# --- guards of the thread's sets --------------------------------------------------------------


class _SetsManager(metaclass=pybind11_type):
    """A mask and, while the guard is in force, the storage that it has changed, and how."""

    __slots__ = ("_change", "_mask", "_raw")

    _mask: int
    _raw: RawLocalDispatchKeySet | None
    #: What the last block did; None before the first.
    _change: Change | None

    @property
    def _constructed(self) -> int:
        return self._mask

    @_constructed.setter
    def _constructed(self, mask: int) -> None:
        self._mask, self._raw, self._change = mask, None, None

    def _close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            change = self._change
            assert change is not None
            raw.watch()
            raw.sets = change.after if raw.sets is change.within else change.undone(raw.sets)

    def __del__(self) -> None:
        try:
            if self._raw is None:
                return
        except AttributeError:  # nothing was ever constructed
            return
        self._close()


_ABSENT: Final = object()

_STEPS: Final = """\
def steps():
 spare = None

 def construct(cls, given=absent, /, *others, **kwargs):
  nonlocal spare
  if type(given) is not python_class or cls is not made or others or kwargs:
   args = () if given is absent else (given, *others)
   return loading_construct(cls, *args, **kwargs)
  instance = spare
  spare = None
  if instance is None or getrefcount(instance) > 2:  # somebody still has it
   instance = unused()
  instance._mask = {mask}
  return instance

 def enter(self, /, *args, **kwargs):
  nonlocal spare
  if args or kwargs: return loading_enter(self, *args, **kwargs)
  if self is spare: spare = None
  if self._raw is not None: self._close()
  raw = self._raw = thread_local.raw
  found, mask = raw.sets, self._mask
  try: change = self._change = found.{kept}[mask]
  except KeyError: change = self._change = found.{make}(mask)
  if not raw.is_watched: raw.watch()
  raw.sets = change.within

 def leave(self, kind=absent, value=absent, traceback=absent, /, *others, **kwargs):
  nonlocal spare
  if traceback is absent or others or kwargs:
   args = (each for each in (kind, value, traceback, *others) if each is not absent)
   return loading_exit(self, *args, **kwargs)
  raw, self._raw = self._raw, None
  if raw is not None:
   change = self._change
   if raw.sets is change.unusual: raw.sets = change.after
   else:
    raw.watch()
    raw.sets = change.undone(raw.sets)
   if type(self) is made: spare = self

 return construct, enter, leave
"""
"""What a ``with`` block does, one step each; a call that is not for them they hand on.

Nearly every guard is gone with its block.  So ``spare`` keeps the one that left the last block, and
the next block has the same object again: it need not be finalised, nor another one made.  One that
somebody has besides (two references are the function's own, and the argument of who counts) is let
go: it may be in force, as one is no spare while it is.
"""


def make_sets_guard_class(
    name: str,
    module: str,
    docs: Mapping[str, str],
    mask_of: Callable[[Any], int],
    mask: str,
    *,
    excludes: bool,
) -> type:
    """The context manager of a guard that excludes a mask, or includes it.

    The mask is what ``mask_of`` makes of the one argument once that is loaded, and the expression
    ``mask`` of it as it was ``given``.  The class and its two methods look as if pybind11 had made
    them; a ``with`` block finds other ones in the class.
    """
    (signature,) = parse_docstring(docs["__init__"])
    taken = bound_class(signature.parameters[1].type)
    assert taken is not None
    scope: dict[str, Any] = {
        "__name__": __name__,
        "absent": _ABSENT,
        "getrefcount": getrefcount,
        "loading_construct": pybind11_type.__call__,
        "mask_of": mask_of,
        "python_class": taken.python_class,
        "thread_local": thread_local,
    }
    kept, make = ("excluding", "exclude") if excludes else ("including", "include")
    exec(_STEPS.format(mask=mask, kept=kept, make=make), scope)
    step_of_construction, enter, leave = scope["steps"]()

    class one_step(pybind11_type):  # noqa: N801 (passes for its base)
        __call__ = step_of_construction

        def __getattribute__(cls, name: str) -> Any:  # noqa: N805 (of a metaclass)
            found = super().__getattribute__(name)
            if found is enter:
                return scope["loading_enter"]
            return scope["loading_exit"] if found is leave else found

    one_step.__module__ = pybind11_type.__module__
    type.__setattr__(one_step, "__name__", pybind11_type.__name__)
    made: Any = one_step(
        name, (_SetsManager,), _namespace(name, module), cpp_name=f"torch._C.{name}"
    )
    methods: dict[str, Callable[..., Any]] = {
        "__init__": mask_of,
        "__enter__": enter,
        "__exit__": leave,
    }
    bind_methods(made, docs, methods, slot="_constructed")
    scope.update(
        made=made,
        unused=partial(_unused, made),
        loading_enter=made.__enter__,
        loading_exit=made.__exit__,
    )
    made.__enter__ = instancemethod(_in_the_name_of(made.__enter__, enter))
    made.__exit__ = instancemethod(_in_the_name_of(made.__exit__, leave))
    cls: type = made
    return cls


def _unused(cls: type[_SetsManager]) -> _SetsManager:
    """One that no block has had."""
    guard: _SetsManager = object.__new__(cls)
    guard._raw = None
    return guard


def _in_the_name_of(loading: cpp_function, step: Callable[..., Any]) -> Callable[..., Any]:
    for attribute in ("__name__", "__qualname__", "__doc__"):
        setattr(step, attribute, getattr(loading, attribute))
    return step
