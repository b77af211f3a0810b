"""Differences of neighbours.

Mirrors ``diff`` of ``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import check_like, resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CAT: Final = OperatorHandle("aten::cat")
_COPY_: Final = OperatorHandle("aten::copy_")
_NARROW: Final = OperatorHandle("aten::narrow")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUB_OUT: Final = OperatorHandle("aten::sub.out")
_XOR: Final = OperatorHandle("aten::logical_xor")
_XOR_OUT: Final = OperatorHandle("aten::logical_xor.out")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")


def _check(self: Tensor, n: int, dim: int, *others: Tensor | None) -> None:
    """``diff_check``."""
    if not self._sizes:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for other in others:
        if other is not None:
            _check_compatible_shape(self, other, wrap_dim(dim, len(self._sizes)))


def _check_compatible_shape(self: Tensor, other: Tensor, dim: int) -> None:
    if len(other._sizes) != len(self._sizes):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for place, (size, own) in enumerate(zip(other._sizes, self._sizes, strict=True)):
        if place != dim and size != own:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({place}) = {own}, but got "
                f"tensor.size({place}) = {size}"
            )


def _joined(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Any:
    parts = [each for each in (prepend, self, append) if each is not None]
    return _CAT(parts, dim) if n and len(parts) > 1 else self


def _neighbours(self: Any, dim: int, size: int) -> tuple[Any, Any]:
    """The second of each of so many pairs, and the first, which C++ takes before."""
    first = _NARROW(self, dim, 0, size)
    return _NARROW(self, dim, 1, size), first


def _diff(self: Any, n: int, dim: int) -> Any:
    """``diff_helper``."""
    if not n:
        return _COPY_(_ZEROS_LIKE(self), self)
    subtract = _XOR if self._dtype is BOOL else _SUB
    for _ in range(min(n, size_at(self, dim))):
        self = subtract(*_neighbours(self, dim, size_at(self, dim) - 1))
    return self


@kernel("aten::diff", key=_IMPLICIT)
def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Any:
    _check(self, n, dim, prepend, append)
    return _diff(_joined(self, n, dim, prepend, append), n, dim)


@kernel("aten::diff.out", key=_IMPLICIT)
def diff_out(
    self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None, out: Tensor
) -> Any:
    _check(self, n, dim, prepend, append)
    joined = _joined(self, n, dim, prepend, append)
    if not n:
        resize_output(out, joined._sizes)
        check_like(out, joined, joined._dtype)
        return _COPY_(out, joined)
    n = min(n, size_at(joined, dim))
    size = size_at(joined, dim) - n
    last = _diff(joined, n - 1, dim) if n > 1 else joined
    subtract = _XOR_OUT if joined._dtype is BOOL else _SUB_OUT
    return subtract(*_neighbours(last, dim, size), out=out)
