"""Calls that Python objects answer instead of torch: modes first, then overloaded arguments.

Mirrors ``handle_torch_function_no_python_arg_parser`` in
``torch/csrc/utils/python_arg_parser.cpp``, which serves both protocols: ``__torch_function__``
(:mod:`mindtorch_v2.torch_function`) and ``__torch_dispatch__``
(:mod:`mindtorch_v2.torch_dispatch`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import MethodType
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.warn import call_in_python, warn_once

Overloaded = list[Any]
"""Arguments that override a call, one of each type, in the order in which they are asked."""

ABSENT: Final = object()
"""Stands for an attribute that an object has not."""


class Protocol(NamedTuple):
    """One of the two ways to override calls."""

    #: The method that objects and modes define.
    method: str
    #: Whether a mode is asked, before the arguments.
    is_mode_enabled: Callable[[], bool]
    #: Takes the topmost mode away while it answers: the mode, and where it has been.
    take_mode: Callable[[], tuple[Any, Any]]
    #: Puts back what was taken.
    put_back: Callable[[tuple[Any, Any]], None]
    #: What passes for the method where a class overrides nothing.
    is_disabled: Callable[[Any], bool]
    #: Whether an object's plain method draws a warning.
    warns_of_plain_methods: bool
    #: What stands for the method of a class with one function, if there is such a thing.
    rule: Callable[[Any, type], Callable[..., Any] | None] = lambda function, cls: None


def append_overloaded(overloaded: Overloaded, value: Any) -> None:
    """Add ``value`` unless one of its type is there; before those of its superclasses."""
    cls = type_of(value)
    if any(type_of(other) is cls for other in overloaded):
        return
    before = (at for at, other in enumerate(overloaded) if issubclass(cls, type_of(other)))
    overloaded.insert(next(before, len(overloaded)), value)


def type_of(value: Any) -> type:
    """The type of an overloaded argument; a class stands for itself."""
    return value if isinstance(value, type) else type(value)


def attribute(value: Any, name: str) -> Any:
    """``PyObject_FastGetAttrString``: the attribute, or a mark; no error leaves it."""
    try:
        return getattr(value, name, ABSENT)
    except Exception:
        return ABSENT


def has_attribute(value: Any, name: str) -> bool:
    return attribute(value, name) is not ABSENT


def handle(
    protocol: Protocol,
    function: Callable[..., Any],
    overloaded: Overloaded,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    shown_name: str | None = None,
    *,
    warns_python: bool = True,
) -> Any:
    """What the first answers that does not decline: the topmost mode, then the arguments.

    ``function`` is what the user called.  ``kwargs`` is None where C++ has none to pass on.
    ``shown_name`` is its name in the TypeError that follows if all decline; by default that of
    the function and its module.  ``warns_python`` says whether Python hears warnings of the call.
    """
    types = tuple(map(type_of, overloaded)) if overloaded else ()
    given = (function, types, args) if kwargs is None else (function, types, args, kwargs)
    mode: Any = ABSENT
    if protocol.is_mode_enabled():
        taken = protocol.take_mode()
        mode = taken[0]
        try:
            answer = answer_of_mode(protocol, mode, given)
        finally:
            protocol.put_back(taken)
        if answer is not NotImplemented:
            return answer
    for argument in overloaded:
        method = attribute(argument, protocol.method)
        _check_found(method)
        if protocol.method == "__torch_dispatch__" and protocol.is_disabled(method):
            continue
        if protocol.warns_of_plain_methods:
            _warn_of_plain_method(protocol, method, argument, warns_python)
        rule = protocol.rule(function, type(argument))
        if rule is not None:
            answer = call_in_python(rule, (type(argument), *given))
            if answer is not NotImplemented:
                return answer
            method = rule  # as in torch, which then takes it for the class's own
        answer = call_in_python(method, given)
        if answer is not NotImplemented:
            return answer
    raise all_declined(protocol, shown_name or full_name(function), mode, types)


def answer_of_mode(protocol: Protocol, mode: Any, given: tuple[Any, ...]) -> Any:
    """What a mode answers that has been taken away; NotImplemented if it declines."""
    method = method_of_mode(protocol, mode)
    rule = protocol.rule(given[0], type(mode))
    return call_in_python(method, given) if rule is None else call_in_python(rule, (mode, *given))


def method_of_mode(protocol: Protocol, mode: Any) -> Any:
    """What a mode answers calls with; RuntimeError if that is no method of its own."""
    try:  # as attribute() does; but every call under a mode comes here
        method = getattr(mode, protocol.method)
    except Exception:
        method = ABSENT
    is_method = type(method) is MethodType  # whose attribute may be read as it is
    if (method.__self__ if is_method else attribute(method, "__self__")) is not mode:
        _check_found(method)
        raise RuntimeError(
            f"Defining your mode's `{protocol.method}` as a classmethod is not supported, please "
            "make it a plain method"
        )
    return method


def all_declined(protocol: Protocol, name: str, mode: Any, types: tuple[type, ...]) -> TypeError:
    """What is said of a call that the mode has declined, if there is one, and all arguments."""
    modes = "" if mode is ABSENT else f"  - mode object {mode!r}\n"
    return TypeError(
        f"Multiple dispatch failed for '{name}'; all "
        f"{protocol.method} handlers returned NotImplemented:\n\n{modes}"
        + "".join(f"  - tensor subclass {cls!r}\n" for cls in types)
        + "\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _check_found(method: Any) -> None:
    """RuntimeError, an assertion of torch's, for what came here without the method."""
    if method is ABSENT:
        raise RuntimeError(internal_assert("0", "dispatch_on_mode"))


def _warn_of_plain_method(
    protocol: Protocol, method: Any, argument: Any, warns_python: bool
) -> None:
    if attribute(method, "__self__") is argument and not protocol.is_disabled(method):
        warn_once(
            "dispatch_on_subclass",
            f"Defining your `{protocol.method}` as a plain method is deprecated and will be an "
            "error in future, please define it as a classmethod.",
            in_python=warns_python,
        )


def full_name(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}"


class DisabledImpl:
    """What passes for a protocol's method in a class that overrides nothing: it makes the call
    without asking, in a context in which nobody else asks."""

    def __init__(self, name: str, unasked: Callable[[], AbstractContextManager[object]]) -> None:
        self.__name__ = name
        self._unasked = unasked

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        function, args, keywords = self._parsed(given, kwargs)
        if not callable(function):  # which C++ finds before it looks at the keywords
            raise TypeError(f"'{type_name(function)}' object is not callable")
        with self._unasked():
            return function(*args, **keywords)

    def _parsed(
        self, given: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]:
        """The function to call, and with what; TypeError as ``PyArg_ParseTuple``."""
        if kwargs:
            raise TypeError(f"{self.__name__}() takes no keyword arguments")
        if not 2 <= len(given) <= 4:
            limit = "at least 2" if len(given) < 2 else "at most 4"
            raise TypeError(f"function takes {limit} arguments ({len(given)} given)")
        function, _, *rest = given
        args = rest[0] if rest else ()
        if not isinstance(args, (list, tuple)):
            raise TypeError(f"expected List or Tuple (got {type_name(args)})")
        return function, args, rest[1] if len(rest) > 1 else {}

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


DisabledImpl.__qualname__ = "builtin_function_or_method"
DisabledImpl.__module__ = "builtins"
