"""Objects that override torch's functions: ``__torch_function__`` and the switches around it.

Mirrors ``torch/csrc/utils/disable_torch_function.cpp`` and
``handle_torch_function_no_python_arg_parser`` in ``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

from mindtorch_v2.warn import in_python, warn_once

Overloaded = list[Any]
"""Arguments that override functions, one of each type, in the order in which they are asked."""


class _State(threading.local):
    enabled = True


_state = _State()

_PLAIN: Final = (
    *(bool, int, float, complex, list, tuple, dict, set, frozenset, str, bytes, slice),
    *(type(None), type(...), type(NotImplemented), ModuleType),
)
"""Types that are not looked at further."""


@contextmanager
def without_torch_function() -> Iterator[None]:
    """``DisableTorchFunctionSubclass``: nothing overrides a function in this thread."""
    before, _state.enabled = _state.enabled, False
    try:
        yield
    finally:
        _state.enabled = before


def is_torch_function_enabled() -> bool:
    return _state.enabled


def disabled(
    function: Callable[..., Any],
    types: Sequence[type],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """``_disabled_torch_function_impl``: a class that has it overrides nothing."""
    with without_torch_function():
        return function(*args, **(kwargs or {}))


def overrides(value: Any, never: type) -> bool:
    """Whether ``value`` has a ``__torch_function__``; a class may, and it counts as a value.

    ``never`` is the class whose own instances are not asked.
    """
    cls = type(value)
    if cls is never or cls in _PLAIN or not _state.enabled:
        return False
    found = getattr(value, "__torch_function__", None)
    return found is not None and getattr(found, "__func__", found) is not disabled


def append_overloaded(overloaded: Overloaded, value: Any) -> None:
    """Add ``value`` unless one of its type is there; before those of its superclasses."""
    cls = _type_of(value)
    if any(_type_of(other) is cls for other in overloaded):
        return
    before = (at for at, other in enumerate(overloaded) if issubclass(cls, _type_of(other)))
    overloaded.insert(next(before, len(overloaded)), value)


def _type_of(value: Any) -> type:
    return value if isinstance(value, type) else type(value)


def handle_torch_function(
    function: Callable[..., Any],
    shown_name: str,
    overloaded: Overloaded,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """What the first ``__torch_function__`` answers that does not decline.

    ``function`` is what the user called, ``shown_name`` its full name in messages; without
    ``kwargs`` none are handed on.  TypeError if every one declines.
    """
    types = tuple(map(_type_of, overloaded))
    for argument in overloaded:
        override = argument.__torch_function__
        if getattr(override, "__self__", None) is argument:
            warn_once(
                "dispatch_on_subclass",
                "Defining your `__torch_function__` as a plain method is deprecated and will be an "
                "error in future, please define it as a classmethod.",
            )
        with in_python():
            answer = (
                override(function, types, args)
                if kwargs is None
                else override(function, types, args, kwargs)
            )
        if answer is not NotImplemented:
            return answer
    handlers = "".join(f"  - tensor subclass {cls!r}\n" for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for '{shown_name}'; all __torch_function__ handlers returned "
        f"NotImplemented:\n\n{handlers}\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )
