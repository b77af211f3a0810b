"""Reductions of segments of a dimension, which lie one behind the other, and the derivative.

Mirrors ``aten/src/ATen/native/SegmentReduce.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.scatter_reducing import check_reduction
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.tensor import Tensor

_ALL: Final = OperatorHandle("aten::all")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_ITEM: Final = OperatorHandle("aten::item")
_MIN: Final = OperatorHandle("aten::min")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_INDEX_TYPES: Final = frozenset((int64, DTYPES["int32"]))

_SHORT_NAMES: Final = {"max": "amax", "min": "amin"}
_START: Final = {"amax": -np.inf, "amin": np.inf, "mean": 0, "sum": 0, "prod": 1}
"""What a reduction begins with, unless that is given."""


class _Segment(NamedTuple):
    """One of the reductions along the axis, at all places of the dimensions behind it."""

    outer: int
    place: int
    begin: int
    end: int


class _Segments:
    """Where the segments of a dimension are: by their lengths, or by where each begins and the last
    one ends."""

    def __init__(self, lengths: Tensor | None, offsets: Tensor | None) -> None:
        self.are_offsets = offsets is not None
        given = lengths if offsets is None else offsets
        assert given is not None
        self.given = given
        self.axis = len(given._sizes) - 1

    @property
    def count(self) -> int:
        """Along the axis."""
        return self.given._sizes[self.axis] - self.are_offsets

    def dispatch(self, name: str) -> None:
        what = "offsets" if self.are_offsets else "lengths"
        dispatch_over(_INDEX_TYPES, name.format(what), self.given._dtype)

    def of(self, data: Tensor) -> Iterator[_Segment]:
        numbers = value_array(self.given).reshape(-1).tolist()
        step = self.count + self.are_offsets
        for outer in range(prod(data._sizes[: self.axis])):
            row = numbers[outer * step : (outer + 1) * step]
            end = row.pop(0) if self.are_offsets else 0
            for place, number in enumerate(row):
                begin, end = end, number if self.are_offsets else end + number
                yield _Segment(outer, place, begin, end)

    def rows(self, tensor: Tensor, dtype: DType) -> Array:
        """Its values as outer dimensions, the axis, and inner ones."""
        sizes = tuple(tensor._sizes)
        shape = (prod(sizes[: self.axis]), sizes[self.axis], prod(sizes[self.axis + 1 :]))
        return as_array(tensor, dtype).reshape(shape)


def _largest(one: Array, two: Array) -> Array:
    """``std::max``, but that a second NaN counts."""
    return np.where(np.isnan(two) | (one < two), two, one)


def _smallest(one: Array, two: Array) -> Array:
    return np.where(np.isnan(two) | (two < one), two, one)


_STEPS: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "amax": _largest,
    "amin": _smallest,
    "mean": np.add,
    "sum": np.add,
    "prod": np.multiply,
}


def _reduction(reduce: str) -> str:
    """``get_reduction_enum``, with old names for extremes."""
    reduction = _SHORT_NAMES.get(reduce, reduce)
    check_reduction(reduction)
    return reduction


@kernel("aten::segment_reduce")
def segment_reduce(
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    indices: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    unsafe: bool,
    initial: Number | None,
) -> Tensor:
    axis = wrap_dim(axis, len(data._sizes))
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    _check_segments(lengths, offsets)
    reduction = _reduction(reduce)
    segments = _Segments(lengths, offsets)
    _check_given(data, segments, axis)
    if not segments.are_offsets and not unsafe:
        _check_lengths(data, segments.given, axis)
    sizes = list(data._sizes)
    sizes[segments.axis] = segments.count
    output = new_tensor(sizes, data._dtype, data._device)
    segments.dispatch("_segment_reduce_{}_cpu_kernel1")
    dispatch_over(FLOATING_TYPES | HALVES, "_segment_reduce_cpu", data._dtype)
    store(output, quietly(_reduced, data, segments, reduction, initial).reshape(tuple(sizes)))
    return output


def _check_segments(lengths: Tensor | None, offsets: Tensor | None) -> None:
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")


def _check_given(data: Tensor, segments: _Segments, axis: int) -> None:
    what = "offsets" if segments.are_offsets else "lengths"
    if data._device != segments.given._device:
        raise RuntimeError(expected(f"data.get_device() == {what}_value.get_device()"))
    if len(data._sizes) < len(segments.given._sizes):
        raise RuntimeError(expected(f"data.dim() >= {what}_value.dim()"))
    if axis != segments.axis:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {what} but got {axis}."
        )


def _check_lengths(data: Tensor, lengths: Tensor, axis: int) -> None:
    if _ITEM(_MIN(lengths)) < 0:
        raise RuntimeError("lengths contains negative value!")
    if not _ITEM(_ALL(_EQ(_SUM(lengths, [-1]), data._sizes[axis]))):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )


def _reduced(data: Tensor, segments: _Segments, reduction: str, initial: Number | None) -> Array:
    """One element after the other, each in the precision of the dtype."""
    dtype = data._dtype
    values = segments.rows(data, dtype)
    start = element(_START[reduction] if initial is None else initial, dtype)
    found = np.empty((values.shape[0], segments.count, values.shape[2]), values.dtype)
    for outer, place, begin, end in segments.of(data):
        total = np.full(values.shape[2], start, values.dtype)
        for row in values[outer, begin:end]:
            total = rounded(_STEPS[reduction](total, row), dtype)
        if end < begin and total.size:
            raise RuntimeError(expected("segment_length >= 0"))
        if reduction == "mean" and end > begin:
            total = rounded(total / values.dtype.type(end - begin), dtype)
        elif reduction == "mean" and initial is None:
            total[:] = np.nan
        found[outer, place] = total
    return found


@kernel("aten::_segment_reduce_backward")
def segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    initial: Number | None,
) -> Tensor:
    wrap_dim(axis, len(data._sizes))
    _check_segments(lengths, offsets)
    reduction = _reduction(reduce)
    segments = _Segments(lengths, offsets)
    grad_input = new_tensor(data._sizes, grad._dtype, grad._device)
    segments.dispatch("_segment_reduce_cpu_{}_backward_kernel1")
    dispatch_over(FLOATING_TYPES | HALVES, "_segment_reduce_cpu", data._dtype)
    gradients = quietly(_gradients, grad, output, data, segments, reduction, initial)
    store(grad_input, gradients.reshape(tuple(data._sizes)))
    return grad_input


def _gradients(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    segments: _Segments,
    reduction: str,
    initial: Number | None,
) -> Array:
    dtype = data._dtype
    grads, results, values = (segments.rows(each, dtype) for each in (grad, output, data))
    start = element(1 if initial is None else initial, dtype)
    found = np.zeros_like(values)
    for outer, place, begin, end in segments.of(data):
        part, own = values[outer, begin:end], grads[outer, place]
        if reduction in ("amax", "amin"):
            parts = _shares(part, results[outer, place], own, dtype)
        elif reduction == "prod":
            parts = _of_factors(part, results[outer, place], own, start, dtype)
        elif reduction == "mean":
            parts = rounded(own / values.dtype.type(end - begin), dtype)
        else:
            parts = own
        found[outer, begin:end] = parts
    return found


def _shares(part: Array, result: Array, grad: Array, dtype: DType) -> Array:
    """The gradient of an extreme, of which the elements that are it have the same part: but only a
    positive one is divided."""
    is_extreme = np.isnan(part) | (part == result)
    counts = is_extreme.sum(0)
    gradients = np.where(is_extreme, grad, np.zeros((), part.dtype))
    shared = rounded(gradients / np.maximum(counts, 1).astype(part.dtype), dtype)
    return np.where((gradients > 0) & (counts > 1), shared, gradients)


def _of_factors(part: Array, result: Array, grad: Array, start: Any, dtype: DType) -> Array:
    """The product of the others: what is left of the whole without a factor, unless that is 0."""
    found = rounded(rounded(grad * result, dtype) / part, dtype)
    for place in np.flatnonzero((np.isnan(part) | (part == 0)).any(1)):
        others = np.full_like(grad, start)
        for row in np.delete(part, place, 0):
            others = rounded(others * row, dtype)
        is_own = np.isnan(part[place]) | (part[place] == 0)
        found[place] = np.where(is_own, rounded(grad * others, dtype), found[place])
    return found
