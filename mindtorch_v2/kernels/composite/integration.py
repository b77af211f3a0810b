"""Integrals by the trapezoid rule.

Mirrors ``aten/src/ATen/native/Integration.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_CUMSUM: Final = OperatorHandle("aten::cumsum")
_DIV: Final = OperatorHandle("aten::div.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_BY: Final = OperatorHandle("aten::mul.Scalar")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _neighbours(tensor: Any, dim: int) -> tuple[Any, Any]:
    """All but the last, and all but the first."""
    left = _SLICE(tensor, dim, 0, -1)
    return left, _SLICE(tensor, dim, 1)


def _pair_sums(y: Tensor, dim: int) -> Any:
    return _ADD(*_neighbours(y, dim))


def _distances(name: str, y: Tensor, x: Tensor, dim: int) -> Any:
    """Between the points of ``x``, which has as many dimensions as ``y`` for that."""
    rank = len(y._sizes)
    sizes = list(x._sizes)
    if len(sizes) == 1:
        if sizes[0] != size_at(y, dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = _VIEW(x, [sizes[0] if place == dim else 1 for place in range(rank)])
    elif len(sizes) < rank:
        x = _VIEW(x, [1] * (rank - len(sizes)) + sizes)
    left, right = _neighbours(x, dim)
    return _SUB(right, left)


def _check_points(name: str, y: Tensor, x: Tensor) -> None:
    if BOOL in (y._dtype, x._dtype):
        raise worded("trapezoid of truth values at points", trapezoid=name)


def _check_distance(name: str, y: Tensor, dx: Number) -> None:
    if y._dtype is BOOL:
        raise worded("trapezoid of truth values", trapezoid=name)
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _nothing(y: Tensor, dim: int) -> Any:
    """The integral of no points: zero."""
    sizes = list(y._sizes)
    del sizes[wrap_dim(dim, len(sizes))]
    return _ZEROS(sizes, dtype=y._dtype, layout=y._layout, device=y._device)


@kernel("aten::trapezoid.x", "aten::trapz.x", key=_IMPLICIT)
def trapezoid(y: Tensor, x: Tensor, dim: int) -> Any:
    dim = wrap_dim(dim, len(y._sizes))
    if not size_at(y, dim):
        return _nothing(y, dim)
    _check_points("trapezoid", y, x)
    distances = _distances("trapezoid", y, x, dim)
    return _DIV(_SUM(_MUL(_pair_sums(y, dim), distances), [dim]), 2.0)


@kernel("aten::trapezoid.dx", "aten::trapz.dx", key=_IMPLICIT)
def trapezoid_of_equal(y: Tensor, dx: Number, dim: int) -> Any:
    """At equal distances: the sum of all, less half of the first and of the last."""
    if not size_at(y, dim):
        return _nothing(y, dim)
    _check_distance("trapezoid", y, dx)
    last = _SELECT(y, dim, -1)
    ends = _MUL_BY(_ADD(_SELECT(y, dim, 0), last), 0.5)
    return _MUL_BY(_SUB(_SUM(y, [dim]), ends), float(dx))  # type: ignore[arg-type]


@kernel("aten::cumulative_trapezoid.x", key=_IMPLICIT)
def cumulative_trapezoid(y: Tensor, x: Tensor, dim: int) -> Any:
    dim = wrap_dim(dim, len(y._sizes))
    _check_points("cumulative_trapezoid", y, x)
    distances = _distances("cumulative_trapezoid", y, x, dim)
    return _DIV(_CUMSUM(_MUL(_pair_sums(y, dim), distances), dim), 2.0)


@kernel("aten::cumulative_trapezoid.dx", key=_IMPLICIT)
def cumulative_trapezoid_of_equal(y: Tensor, dx: Number, dim: int) -> Any:
    _check_distance("cumulative_trapezoid", y, dx)
    return _CUMSUM(_MUL_BY(_pair_sums(y, dim), float(dx) / 2.0), dim)  # type: ignore[arg-type]
