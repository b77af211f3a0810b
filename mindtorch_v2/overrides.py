"""``__torch_function__`` as Python sees it: functions written in Python, and modes.

Mirrors ``torch/overrides.py``.  Bound functions have their own way, in words of their own:
:mod:`mindtorch_v2.torch_function`.  Left out are the lists of functions for torch's own tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from types import TracebackType
from typing import Any, Final

from mindtorch_v2 import _C, profile, torch_function
from mindtorch_v2._mode_bindings import EXPORTS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import disabled, is_torch_function_enabled

has_torch_function: Final = EXPORTS["_has_torch_function"]
has_torch_function_unary: Final = EXPORTS["_has_torch_function_unary"]
has_torch_function_variadic: Final = EXPORTS["_has_torch_function_variadic"]


# --- functions in Python ----------------------------------------------------------------------


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the topmost mode answers, or the first argument that does not decline.

    TypeError if all decline.
    """
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(map(type, overloaded))
    if torch_function.is_mode_enabled():
        with _pop_mode_temporarily() as mode:
            answer = mode.__torch_function__(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    for argument in overloaded:
        override = argument.__torch_function__
        if override is not disabled and getattr(override, "__self__", None) is argument:
            warnings.warn(
                "Defining your `__torch_function__ as a plain method is deprecated and "
                "will be an error in future, please define it as a classmethod.",
                DeprecationWarning,
                stacklevel=2,
            )
        answer = override(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = f"{public_api.__module__}.{public_api.__name__}"
    message = (
        f"no implementation found for '{name}' on types that implement "
        f"__torch_function__: {[type(argument) for argument in overloaded]}"
    )
    if torch_function.is_mode_enabled():
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


def _get_overloaded_args(
    relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] | None = None
) -> list[Any]:
    """Arguments whose type overrides, one of each type, subclasses before their bases."""
    type_of = get_type_fn or type
    if not is_torch_function_enabled():
        return []
    seen: set[type] = set()
    found: list[Any] = []
    for argument in relevant_args:
        cls = type_of(argument)
        override = getattr(cls, "__torch_function__", disabled)
        if cls in seen or override is disabled:
            continue
        seen.add(cls)
        before = (at for at, other in enumerate(found) if issubclass(cls, type_of(other)))
        found.insert(next(before, len(found)), argument)
    return found


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that overrides see; ``dispatcher`` picks its relevant arguments."""

    def inner(func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(wrapped, relevant_args, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or its type has a ``__torch_function__``."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


@cache
def _get_tensor_methods() -> frozenset[Any]:
    names = profile.active().modes["tensor_methods"]
    return frozenset(getattr(Tensor, name) for name in names if hasattr(Tensor, name))


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether it is a method of tensors that overrides see, or ``__get__`` of an attribute."""
    return func in _get_tensor_methods() or func.__name__ == "__get__"


@cache
def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Attributes whose tensors are not made instances of the subclass that was asked."""
    names = ("_base", "grad", "_grad")
    attributes = (getattr(Tensor, name, None) for name in names)
    return {each.__get__ for each in attributes if each is not None}


# --- modes ------------------------------------------------------------------------------------


class TorchFunctionMode:
    """Overrides every function while its ``with`` block runs in this thread.

    A mode is taken off the stack while it answers, so what it calls goes to the modes below.
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Passes every call on."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    return torch_function.mode_at(torch_function.mode_count() - 1) if _depth() else None


def _get_current_function_mode_stack() -> list[Any]:
    return [torch_function.mode_at(place) for place in range(_depth())]


def _depth() -> int:
    return torch_function.mode_count()


def _push_mode(mode: Any) -> None:
    EXPORTS["_push_on_torch_function_stack"](mode)


def _pop_mode() -> Any:
    return torch_function.pop_mode()


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    old = _pop_mode()
    try:
        yield old
    finally:
        _push_mode(old)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Inside ``__torch_dispatch__``: the thread's keys as they were before the call."""
    with _C._RestorePythonTLSSnapshot():
        yield


if "_TorchFunctionState" in profile.active().bindings["classes"]:

    @contextmanager
    def _enable_torch_function() -> Iterator[None]:
        before = torch_function.get_state()
        torch_function.set_state(torch_function.State.ENABLED)
        try:
            yield
        finally:
            torch_function.set_state(before)
