"""Slopes of what a tensor holds, by differences of its elements.

Mirrors ``gradient`` of ``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import dim_list, wrap_dim
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_CAT: Final = OperatorHandle("aten::cat")
_DIFF: Final = OperatorHandle("aten::diff")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_DIV_BY: Final = OperatorHandle("aten::div.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_BY: Final = OperatorHandle("aten::mul.Scalar")
_NEG: Final = OperatorHandle("aten::neg")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")

Spacing = Sequence[Number] | Sequence[Tensor]


# --- what is asked for --------------------------------------------------------------------------


def _check(self: Tensor, count: int | None, dim: Sequence[int] | None, edge_order: int) -> None:
    """``pre_check_gradient``; ``count`` is of how many dimensions a spacing is given."""
    if self._dtype is DTYPES["uint8"]:
        raise worded("gradient of bytes")
    rank = len(self._sizes)
    if count is not None and dim is None and count != rank:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {rank}', since dim argument was not given, but got a list of "
            f"length {count}"
        )
    if count is not None and dim is not None and count != len(dim):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            "arguments to have the same length, but got a spacing argument of length "
            f"{count} and a dim argument of length {len(dim)}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if dim is not None:
        dim_list(dim, rank)
    for each in range(rank) if dim is None else dim:
        if size_at(self, each) < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )


def _dims(self: Tensor, dim: int | None) -> list[int]:
    return list(range(len(self._sizes))) if dim is None else [dim]


# --- differences --------------------------------------------------------------------------------


def _along_coordinates(self: Tensor, points: Tensor, dim: int, edge_order: int) -> Any:
    """Between points anywhere."""
    if len(points._sizes) != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an "
            f"element with {len(points._sizes)} dimensions!"
        )
    dim = wrap_dim(dim, len(self._sizes))
    shape = [-1 if place == dim else 1 for place in range(len(self._sizes))]
    steps = _DIFF(points, 1, 0)
    low, high = _SLICE(steps, 0, 0, -1), _SLICE(steps, 0, 1)
    weights = [_RESHAPE(weight(low, high), shape) for weight in (_before, _middle, _behind)]
    parts = [(0, -2), (1, -1), (2, None)]
    center = _weighed(weights, self, dim, parts)
    ends = [_end(self, dim, steps, edge_order, at_end=at_end) for at_end in (False, True)]
    return _CAT([ends[0], center, ends[1]], dim)


# Of the element before, the one in the middle, and the one behind.  As C++ does, they take what
# something is divided by before that.


def _before(low: Any, high: Any) -> Any:
    divisor = _MUL(low, _ADD(low, high))
    return _DIV(_NEG(high), divisor)


def _middle(low: Any, high: Any) -> Any:
    divisor = _MUL(low, high)
    return _DIV(_SUB(high, low), divisor)


def _behind(low: Any, high: Any) -> Any:
    return _DIV(low, _MUL(high, _ADD(low, high)))


def _weighed(
    weights: Sequence[Any], self: Tensor, dim: int, parts: Sequence[tuple[int, int | None]]
) -> Any:
    """The sum of three parts of a tensor times their weights, the last one taken first."""
    third, second, first = (
        _MUL(weight, _SLICE(self, dim, *ends))
        for weight, ends in zip(reversed(weights), reversed(parts), strict=True)
    )
    return _ADD(_ADD(first, second), third)


def _end(self: Tensor, dim: int, steps: Any, edge_order: int, *, at_end: bool) -> Any:
    """The slope at the first element or at the last, by its neighbours alone.

    C++ selects a step wherever it names one, and takes what stands on the right first.
    """
    x, y = (partial(_SELECT, steps, 0, at) for at in ((-1, -2) if at_end else (0, 1)))
    if edge_order == 1:
        step = x()
        return _DIV(_difference(self, dim, at_end=at_end), step)

    def both() -> Any:
        second = y()
        return _ADD(x(), second)

    def outer() -> Any:
        total = both()
        divisor = _MUL(x(), total)
        second = y()
        twice = _ADD(_MUL_BY(x(), 2 if at_end else 2.0), second)
        return _DIV(twice if at_end else _NEG(twice), divisor)

    def middle() -> Any:
        second = y()
        divisor = _MUL(x(), second)
        return _DIV(_NEG(both()) if at_end else both(), divisor)

    def inner() -> Any:
        total = both()
        divisor = _MUL(y(), total)
        return _DIV(x() if at_end else _NEG(x()), divisor)

    order = (inner, middle, outer) if at_end else (outer, middle, inner)
    return _weighed([weight() for weight in order], self, dim, _OUTERMOST[at_end])


_OUTERMOST: Final = (((0, 1), (1, 2), (2, 3)), ((-3, -2), (-2, -1), (-1, None)))
"""Each of three elements at the first end and at the last."""


def _difference(self: Tensor, dim: int, *, at_end: bool) -> Any:
    one, two = ((-1, None), (-2, -1)) if at_end else ((1, 2), (0, 1))
    second = _SLICE(self, dim, *two)  # which C++ takes first
    return _SUB(_SLICE(self, dim, *one), second)


def _along_equal(self: Tensor, step: Number, dim: int, edge_order: int) -> Any:
    """At equal distances."""
    dim = wrap_dim(dim, len(self._sizes))
    low = _SLICE(self, dim, 0, -2)  # which C++ takes before what it is subtracted from
    center = _DIV_BY(_SUB(_SLICE(self, dim, 2), low), step)
    first, last = (
        _DIV_BY(_equal_end(self, dim, edge_order, at_end=at_end), step) for at_end in (False, True)
    )
    return _CAT([first, _DIV_BY(center, 2), last], dim)


def _equal_end(self: Tensor, dim: int, edge_order: int, *, at_end: bool) -> Any:
    if edge_order == 1:
        return _difference(self, dim, at_end=at_end)
    factors = (0.5, 2, 1.5) if at_end else (-1.5, 2, 0.5)
    high, middle, low = (  # as C++ takes them
        _MUL_BY(_SLICE(self, dim, *part), factor)
        for part, factor in zip(reversed(_OUTERMOST[at_end]), reversed(factors), strict=True)
    )
    return _ADD(_SUB(low, middle), high) if at_end else _SUB(_ADD(low, middle), high)


def _slopes(self: Tensor, spacing: Spacing, dims: Sequence[int], edge_order: int) -> list[Any]:
    return [
        _along_coordinates(self, each, dim, edge_order)
        if isinstance(each, Tensor)
        else _along_equal(self, each, dim, edge_order)
        for each, dim in zip(spacing, dims, strict=False)
    ]


# --- the overloads ------------------------------------------------------------------------------


@kernel("aten::gradient.scalarint", key=_IMPLICIT)
def of_one_step(self: Tensor, spacing: Number | None, dim: int | None, edge_order: int) -> Any:
    dims = _dims(self, dim)
    steps = [1.0 if spacing is None else spacing] * len(dims)
    count = None if spacing is None else len(steps)
    _check(self, count, None if dim is None else dims, edge_order)
    return _slopes(self, steps, dims, edge_order)


@kernel("aten::gradient.array", key=_IMPLICIT)
def of_dims(self: Tensor, dim: Sequence[int], edge_order: int) -> Any:
    return of_one_step_along(self, 1.0, dim, edge_order)


@kernel("aten::gradient.scalararray", key=_IMPLICIT)
def of_one_step_along(self: Tensor, spacing: Number, dim: Sequence[int], edge_order: int) -> Any:
    return of_steps_along(self, [spacing] * len(dim), dim, edge_order)


@kernel("aten::gradient.scalarrayint", "aten::gradient.tensorarrayint", key=_IMPLICIT)
def of_steps(self: Tensor, spacing: Spacing, dim: int | None, edge_order: int) -> Any:
    dims = _dims(self, dim)
    _check(self, len(spacing), None if dim is None else dims, edge_order)
    _check_devices(self, spacing)
    return _slopes(self, spacing, dims, edge_order)


@kernel("aten::gradient.scalarrayarray", "aten::gradient.tensorarray", key=_IMPLICIT)
def of_steps_along(self: Tensor, spacing: Spacing, dim: Sequence[int], edge_order: int) -> Any:
    _check(self, len(spacing), dim, edge_order)
    _check_devices(self, spacing)
    return _slopes(self, spacing, dim, edge_order)


def _check_devices(self: Tensor, spacing: Spacing) -> None:
    for each in spacing:
        if isinstance(each, Tensor) and each._device != self._device:
            raise RuntimeError(
                "torch.gradient expected each tensor to be on the same device, but got devices "
                f"{self._device} and {each._device}!"
            )
