"""Functions written in Python, overridden by objects with a ``__torch_function__``.

Mirrors ``torch/overrides.py``.  Bound functions have their own way, in words of their own:
:mod:`mindtorch_v2.torch_function`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import disabled, is_torch_function_enabled, overrides


def has_torch_function(relevant: Iterable[Any]) -> bool:
    """Whether one of the arguments overrides functions."""
    return any(overrides(each, Tensor) for each in relevant)


def handle_torch_function(
    public_api: Callable[..., Any], relevant: Iterable[Any], /, *args: Any, **kwargs: Any
) -> Any:
    """What the first ``__torch_function__`` answers that does not decline; else TypeError."""
    overloaded = _overloaded(relevant)
    types = tuple(map(type, overloaded))
    for argument in overloaded:
        override = argument.__torch_function__
        if getattr(override, "__self__", None) is argument:
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
    raise TypeError(
        f"no implementation found for '{name}' on types that implement "
        f"__torch_function__: {[type(argument) for argument in overloaded]}"
    )


def _overloaded(relevant: Iterable[Any]) -> list[Any]:
    """Arguments whose type overrides, one of each type, subclasses before their bases."""
    if not is_torch_function_enabled():
        return []
    found: list[Any] = []
    for argument in relevant:
        cls = type(argument)
        override = getattr(cls, "__torch_function__", None)
        is_new = all(type(other) is not cls for other in found)
        if override is None or getattr(override, "__func__", override) is disabled or not is_new:
            continue
        before = (at for at, other in enumerate(found) if issubclass(cls, type(other)))
        found.insert(next(before, len(found)), argument)
    return found
