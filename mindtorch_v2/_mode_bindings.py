"""Modes and the switches of overriding, as torch binds them; ``_C`` shows what EXPORTS has.

Mirrors the method definitions of ``torch/csrc/autograd/init.cpp`` and ``torch/csrc/Module.cpp``
that pybind11 has no part in: their errors are CPython's own.  The logic is in
:mod:`mindtorch_v2.dispatch.mode_stack`, :mod:`mindtorch_v2.torch_function` and
:mod:`mindtorch_v2.torch_dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from mindtorch_v2 import profile, torch_dispatch, torch_function
from mindtorch_v2.binding.python.function import module_function
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import mode_stack
from mindtorch_v2.overloaded import ABSENT, has_attribute
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import make_enum
from mindtorch_v2.pybind.function import cpp_function
from mindtorch_v2.tensor.made_in_c import MadeInC, check_count, final
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import State

_functions: Final = profile.active().bindings["functions"]
_classes: Final = profile.active().bindings["classes"]
_NONE_REFUSALS: Final[dict[str, str]] = profile.active().messages["none_refusals"]

EXPORTS: Final[dict[str, Any]] = {}
"""Names of torch._C to what stands there."""


def _define(name: str, call: Callable[..., Any], count: int | None) -> None:
    EXPORTS[name] = module_function(name, call, count)


# --- dispatch modes ---------------------------------------------------------------------------

_ModeKey: Any = make_enum(
    "torch._C._TorchDispatchModeKey",
    "mindtorch_v2._C",
    _classes["_TorchDispatchModeKey"],
    _classes["_TorchDispatchModeKey"]["members"],
    _cast.signed_loader(8),
)
EXPORTS["_TorchDispatchModeKey"] = _ModeKey


def _cast_key(value: Any) -> int:
    """``py::cast``: RuntimeError for what is no mode key, without words for None."""
    if value is None:
        raise RuntimeError
    if isinstance(value, _ModeKey):
        number: int = value._value
        return number
    raise RuntimeError(
        f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define "
        "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


def push_dispatch_mode(mode: Any) -> None:
    """Put a mode where its key says, which only infra modes have, or on top of the users' modes."""
    if mode is None:
        return
    try:  # as attribute() does; but every block under a mode comes here
        is_infra = getattr(mode, "_mode_key", ABSENT) is not ABSENT
    except Exception:
        is_infra = False
    if not is_infra:
        mode_stack.push(mode)
    else:
        mode_stack.set_mode(mode, _cast_key(mode._mode_key))


def pop_dispatch_mode(mode_key: Any) -> Any:
    """Take the topmost mode away, or the infra mode of a key."""
    if mode_key is None:
        return mode_stack.pop()
    key = _cast_key(mode_key)
    mode = mode_stack.unset_mode(key)
    if mode is None:
        name = mode_stack.infra_name(key)
        raise RuntimeError(f"Attempted to unset {name}, but there wasn't one active.")
    return mode


def _set_dispatch_mode(mode: Any) -> None:
    _refuse_none("_set_dispatch_mode", mode)
    if not has_attribute(mode, "_mode_key"):
        raise RuntimeError(
            "set_dispatch_mode() called with a mode that does not contain a _mode_key attribute!"
        )
    mode_stack.set_mode(mode, _cast_key(mode._mode_key))


def _get_dispatch_mode(mode_key: Any) -> Any:
    _refuse_none("_get_dispatch_mode", mode_key)
    return mode_stack.get_mode(_cast_key(mode_key))


def _unset_dispatch_mode(mode_key: Any) -> Any:
    _refuse_none("_unset_dispatch_mode", mode_key)
    return mode_stack.unset_mode(_cast_key(mode_key))


def _refuse_none(name: str, value: Any) -> None:
    if value is None:
        raise RuntimeError(_NONE_REFUSALS[name])


def _at_level(get: Callable[[int], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        # Imported late: the argument parser takes keysets, which are torch._C's.
        from mindtorch_v2.binding.python.manual import value
        from mindtorch_v2.binding.python.parser import ArgParser

        parsed = ArgParser(["get_stack_at(int64_t level)"]).parse(None, args, kwargs)
        return get(value(parsed, "level"))

    return call


_define("_push_on_torch_dispatch_stack", push_dispatch_mode, 1)
_define("_pop_torch_dispatch_stack", pop_dispatch_mode, 1)
_define("_get_dispatch_stack_at", _at_level(mode_stack.get_stack_at), None)
_define("_len_torch_dispatch_stack", mode_stack.stack_len, 0)
_define("_set_dispatch_mode", _set_dispatch_mode, 1)
_define("_get_dispatch_mode", _get_dispatch_mode, 1)
_define("_unset_dispatch_mode", _unset_dispatch_mode, 1)


# --- torch function ---------------------------------------------------------------------------


def _push_function_mode(mode: Any) -> None:
    if mode is not None:
        torch_function.push_mode(mode)


def has_torch_function(values: Iterable[Any]) -> bool:
    """Whether a mode or one of the values overrides functions; TypeError for no sequence."""
    if not isinstance(values, (list, tuple)):
        try:
            values = list(values)
        except TypeError:
            raise TypeError("expected a sequence") from None
    return any(map(has_torch_function_unary, values))


def has_torch_function_unary(value: Any) -> bool:
    return torch_function.is_mode_enabled() or torch_function.overrides(value, never=Tensor)


def has_torch_function_variadic(*values: Any, **kwargs: Any) -> bool:
    if kwargs:
        raise TypeError("torch._C._has_torch_function_variadic() takes no keyword arguments")
    return has_torch_function(values)


_define("_push_on_torch_function_stack", _push_function_mode, 1)
_define("_pop_torch_function_stack", torch_function.pop_mode, 0)
_define("_get_function_stack_at", _at_level(torch_function.mode_at), None)
_define("_len_torch_function_stack", torch_function.mode_count, 0)
_define("_is_torch_function_mode_enabled", torch_function.is_mode_enabled, 0)
_define("_is_torch_function_enabled", torch_function.is_torch_function_enabled, 0)
_define("_has_torch_function", has_torch_function, 1)
_define("_has_torch_function_unary", has_torch_function_unary, 1)
_define("_has_torch_function_variadic", has_torch_function_variadic, None)
EXPORTS["_disabled_torch_function_impl"] = torch_function.disabled
EXPORTS["_disabled_torch_dispatch_impl"] = torch_dispatch.disabled


class _Switch(metaclass=MadeInC):
    """A context manager written in C that switches overriding off: no guard, it only remembers
    what it found when it was last entered."""

    __slots__ = ("_before",)

    _before: State

    def __new__(cls, *args: Any, **kwargs: Any) -> _Switch:
        self = super().__new__(cls)
        self._before = State.ENABLED
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @staticmethod
    def _next(state: State) -> State:
        raise NotImplementedError

    def __enter__(*args: Any, **kwargs: Any) -> None:
        self = _receiver("__enter__", args)
        check_count(f"{type(self).__name__}.__enter__", 0, args[1:], kwargs)
        self._before = torch_function.get_state()
        torch_function.set_state(self._next(self._before))

    def __exit__(*args: Any, **kwargs: Any) -> None:
        self = _receiver("__exit__", args)
        if kwargs:
            raise TypeError(f"{type(self).__name__}.__exit__() takes no keyword arguments")
        torch_function.set_state(self._before)


def _receiver(name: str, args: tuple[Any, ...]) -> _Switch:
    if not args:
        raise TypeError(f"unbound method {name}() needs an argument")
    if not isinstance(args[0], _Switch):
        raise TypeError(f"descriptor '{name}' doesn't apply to a '{type_name(args[0])}' object")
    return args[0]


@final
class DisableTorchFunction(_Switch):  # no object and no mode overrides a function
    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None

    @staticmethod
    def _next(state: State) -> State:
        return State.ALL_DISABLED


@final
class DisableTorchFunctionSubclass(_Switch):  # no object overrides a function
    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None

    @staticmethod
    def _next(state: State) -> State:
        return max(state, State.SUBCLASSES_DISABLED)


EXPORTS["DisableTorchFunction"] = DisableTorchFunction
EXPORTS["DisableTorchFunctionSubclass"] = DisableTorchFunctionSubclass


# --- what only newer releases have ------------------------------------------------------------

if "_TorchFunctionState" in _classes:
    _FunctionState: Any = make_enum(
        "torch._C._TorchFunctionState",
        "mindtorch_v2._C",
        _classes["_TorchFunctionState"],
        _classes["_TorchFunctionState"]["members"],
        _cast.signed_loader(8),
    )
    EXPORTS["_TorchFunctionState"] = _FunctionState
    _define(
        "_is_torch_function_all_disabled",
        lambda: torch_function.get_state() is State.ALL_DISABLED,
        0,
    )
    _state_functions: dict[str, Callable[..., Any]] = {
        "_get_torch_function_state": lambda: _FunctionState.from_cpp(torch_function.get_state()),
        "_set_torch_function_state": torch_function.set_state,
    }
    for _name, _call in _state_functions.items():
        EXPORTS[_name] = cpp_function.documented(
            _name, _functions[_name], _call, cast=lambda value: value
        )
