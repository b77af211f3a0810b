"""The methods of tensors that torch writes in Python: its operators, above all.

Mirrors ``torch/_tensor.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import storage
from mindtorch_v2.torch_function import without_torch_function


def _torch(name: str) -> Callable[..., Any]:
    return FUNCTIONS["torch"][name]


def _operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """A binary operator: a TypeError has Python ask the other side."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            return NotImplemented

    return wrapped


def _rsub(self: Any, other: Any) -> Any:
    return _torch("rsub")(self, other)


def _rdiv(self: Any, other: Any) -> Any:
    return self.reciprocal() * other


def _floordiv(self: Any, other: Any) -> Any:
    return _torch("floor_divide")(self, other)


def _reflected(name: str) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        return _torch(name)(other, self)

    return operator


def _length(self: Any) -> int:
    if self.dim() == 0:
        raise TypeError("len() of a 0-d tensor")
    return int(self.shape[0])


def _iterate(self: Any) -> Any:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _reversed(self: Any) -> Any:
    return self if self.dim() == 0 else self.flip(0)


def _contains(self: Any, element: Any, /) -> Any:
    """Whether an element is equal to a tensor or a number; RuntimeError for anything else."""
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((element == self).any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def _torch_function(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """What a subclass inherits: the function itself, its tensors made instances of the class."""
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    with without_torch_function():
        return func(*args, **(kwargs or {}))


def bind() -> None:
    """Give ``Tensor`` its methods that are written in Python."""
    base: Any = TensorBase
    methods: dict[str, Any] = {
        "__rsub__": _operator(_rsub),
        "__rdiv__": _operator(_rdiv),
        "__itruediv__": base.__idiv__,
        "__pow__": _operator(base.pow),
        "__ipow__": _operator(base.pow_),
        "__rmod__": _operator(_reflected("remainder")),
        "__rpow__": _operator(_reflected("pow")),
        "__floordiv__": _operator(_floordiv),
        "__rfloordiv__": _operator(_reflected("floor_divide")),
        "__rlshift__": _operator(_reflected("bitwise_left_shift")),
        "__rrshift__": _operator(_reflected("bitwise_right_shift")),
        "__rmatmul__": _operator(_reflected("matmul")),
        "__pos__": base.positive,
        "__neg__": base.neg,
        "__abs__": base.abs,
        "__len__": _length,
        "__iter__": _iterate,
        "__reversed__": _reversed,
        "__contains__": _contains,
        "storage": storage,
        "__torch_function__": classmethod(_torch_function),
    }
    methods["__rtruediv__"] = methods["__rdiv__"]
    for name, method in methods.items():
        setattr(Tensor, name, method)
