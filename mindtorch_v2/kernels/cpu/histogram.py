"""Histograms in one dimension and in several.

Mirrors ``Histogram.cpp`` and ``cpu/HistogramKernel.cpp`` of ``aten/src/ATen/native``; ``histc``, an
older function, is in :mod:`mindtorch_v2.kernels.cpu.searching`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import TYPE_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_AMINMAX: Final = OperatorHandle("aten::aminmax")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIFF: Final = OperatorHandle("aten::diff")
_DIV_: Final = OperatorHandle("aten::div_.Tensor")
_DIV_BY_: Final = OperatorHandle("aten::div_.Scalar")
_EDGES: Final = OperatorHandle("aten::_histogramdd_bin_edges")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FROM_COUNTS: Final = OperatorHandle("aten::_histogramdd_from_bin_cts")
_FROM_TENSORS: Final = OperatorHandle("aten::_histogramdd_from_bin_tensors")
_ITEM: Final = OperatorHandle("aten::item")
_LINSPACE_OUT: Final = OperatorHandle("aten::linspace.out")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SUM: Final = OperatorHandle("aten::sum")

BINNED: Final = FLOATING_TYPES | HALVES

Range = Sequence[float] | None


# --- checks -------------------------------------------------------------------------------------


def _check_inputs(input: Tensor, bins: Sequence[Tensor], weight: Tensor | None) -> None:
    """``histogramdd_check_inputs``."""
    if len(input._sizes) < 2:
        raise RuntimeError(
            "torch.histogramdd: input tensor should have at least 2 dimensions, but got "
            f"{len(input._sizes)}"
        )
    count, own = input._sizes[-1], TYPE_NAMES[input._dtype]
    if len(bins) != count:
        raise RuntimeError(
            f"torch.histogramdd: expected {count} sequences of bin edges for a "
            f"{count}-dimensional histogram but got {len(bins)}"
        )
    for dim, edges in enumerate(bins):
        if edges._dtype is not input._dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {own} and bins for dimension {dim} with dtype "
                f"{TYPE_NAMES[edges._dtype]}"
            )
        if len(edges._sizes) != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{len(edges._sizes)} dimensions in the bins tensor for dimension {dim}"
            )
        if not edges._sizes[0]:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                f"in the bins tensor for dimension {dim}"
            )
    if weight is None:
        return
    if weight._dtype is not input._dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got input({own}), and "
            f"weight({TYPE_NAMES[weight._dtype]})"
        )
    if tuple(input._sizes[:-1]) != (tuple(weight._sizes) or (1,)):
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(input._sizes)} and weight with shape {list(weight._sizes)}"
        )


def check_hist(input: DType, hist: DType) -> None:
    if input is not hist:
        raise RuntimeError(
            "torch.histogram: input tensor and hist tensor should have the same dtype, but got "
            f"input {TYPE_NAMES[input]} and hist {TYPE_NAMES[hist]}"
        )


def _prepare_out(
    input: Tensor, counts: Sequence[int], hist: Tensor, bin_edges: Sequence[Tensor]
) -> None:
    """``histogramdd_prepare_out``."""
    check_hist(input._dtype, hist._dtype)
    for dim, (count, edges) in enumerate(zip(counts, bin_edges, strict=True)):
        if edges._dtype is not input._dtype:
            raise RuntimeError(
                "torch.histogram: input tensor and bin_edges tensor should have the same dtype, "
                f"but got input {TYPE_NAMES[input._dtype]} and bin_edges "
                f"{TYPE_NAMES[edges._dtype]} for dimension {dim}"
            )
        check_bins(count, dim)
        resize_output(edges, (count + 1,))
    resize_output(hist, tuple(counts))


def check_bins(count: int, dim: int = 0) -> None:
    if count <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}"
        )


# --- edges of bins ------------------------------------------------------------------------------


def _outer_edges(points: Tensor, range: Range) -> list[tuple[float, float]]:
    """``select_outer_bin_edges``: what is given, or where the points end."""
    count = points._sizes[-1]
    if range is not None:
        if len(range) != 2 * count:
            raise RuntimeError(
                f"torch.histogramdd: for a {count}-dimensional histogram range should have "
                f"{2 * count} elements, but got {len(range)}"
            )
        edges = list(zip(range[::2], range[1::2], strict=True))
    elif numel(points._sizes):
        dispatch_over(FLOATING_TYPES, "histogramdd", points._dtype)
        ends = (as_array(each, each._dtype) for each in _AMINMAX(points, dim=0))
        edges = [(float(low), float(high)) for low, high in zip(*ends, strict=True)]
    else:
        edges = [(0.0, 1.0)] * count
    return [_outer_edge(dim, *pair) for dim, pair in enumerate(edges)]


def _outer_edge(dim: int, low: float, high: float) -> tuple[float, float]:
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {dim}'s range [{streamed(low)}, {streamed(high)}] is "
            "not finite"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {streamed(low)} max "
            f"{streamed(high)} for dimension {dim}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _empty(like: Tensor) -> Any:
    return _EMPTY([0], dtype=like._dtype, layout=like._layout, device=like._device)


def _points(self: Tensor) -> Any:
    """Rows of coordinates."""
    return _RESHAPE(self, [prod(self._sizes[:-1]), self._sizes[-1]])


@kernel("aten::_histogramdd_bin_edges")
def bin_edges_of(
    self: Tensor, bins: Sequence[int], range: Range, weight: Tensor | None, density: bool
) -> list[Tensor]:
    outputs = _edges_to_make(self)
    edges = _outer_edges(_points(self), range)
    if len(bins) != len(outputs):
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    for output, (low, high), count in zip(outputs, edges, bins, strict=True):
        _LINSPACE_OUT(low, high, count + 1, out=output)
    return outputs


def _edges_to_make(self: Tensor) -> list[Tensor]:
    """``allocate_bin_edges_tensors``."""
    if len(self._sizes) < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    return [_empty(self) for _ in range(self._sizes[-1])]


# --- counting -----------------------------------------------------------------------------------


def _count(
    self: Tensor,
    weight: Tensor | None,
    density: bool,
    hist: Tensor,
    bin_edges: Sequence[Tensor],
    *,
    linear: bool,
) -> Tensor:
    """``histogramdd_out_cpu_template``."""
    dtype = self._dtype
    dispatch_over(BINNED, "histogram_cpu", dtype)
    points = as_array(_points(self), dtype)
    weights = None if weight is None else as_array(weight, dtype).reshape(-1)
    inside = np.ones(len(points), bool)
    places = []
    for dim, edges in enumerate(as_array(each, dtype) for each in bin_edges):
        values = points[:, dim]
        inside &= (values >= edges[0]) & (values <= edges[-1])
        found = _places(np.where(inside, values, edges[0]), edges, dtype, linear=linear)
        places.append(np.minimum(found, len(edges) - 2))
    counts = np.zeros(tuple(hist._sizes), points.dtype)
    if places:
        index = tuple(each[inside] for each in places)
        ones = np.ones(len(points), points.dtype)
        _add(counts, index, (ones if weights is None else weights)[inside], dtype)
    store(hist, counts)
    if density:
        _DIV_BY_(hist, _ITEM(_SUM(hist)))
        for dim, given in enumerate(bin_edges):
            shape = [1] * len(bin_edges)
            shape[dim] = given._sizes[0] - 1
            _DIV_(hist, _RESHAPE(_DIFF(given), shape))
    return hist


def _places(values: Array, edges: Array, dtype: DType, *, linear: bool) -> Array:
    """The bin of each value; a value that is the last edge is behind the last bin.

    Between equal distances it is calculated, and then looked for nearby: a product may round.
    """
    first, count = np.zeros(len(values), np.int64), np.full(len(values), len(edges))
    if linear:
        scaled = rounded(
            rounded(values - edges[0], dtype) * values.dtype.type(len(edges) - 1), dtype
        )
        guess = rounded(scaled / rounded(edges[-1:] - edges[0], dtype), dtype).astype(np.int64)
        first = np.maximum(guess - 1, 0)
        count = np.minimum(guess + 2, len(edges)) - first
    return _upper_bound(edges, values, first, count) - 1


def _upper_bound(edges: Array, values: Array, first: Array, count: Array) -> Array:
    """``std::upper_bound`` within so many edges from ``first`` on, whether they are sorted or
    not."""
    while np.any(count > 0):
        half = count // 2
        middle = np.minimum(first + half, len(edges) - 1)
        is_above = (count > 0) & ~(values < edges[middle])
        first = np.where(is_above, middle + 1, first)
        count = np.where(is_above, count - half - 1, half)
    return first


def _add(counts: Array, index: tuple[Array, ...], weights: Array, dtype: DType) -> None:
    """One after the other, each sum in the elements' precision."""
    if dtype not in HALVES:
        np.add.at(counts, index, weights)
        return
    for place, weight in zip(zip(*index, strict=True), weights, strict=True):
        counts[place] = rounded(np.asarray(counts[place] + weight), dtype)


# --- the operators ------------------------------------------------------------------------------


def _from_tensors(
    self: Tensor,
    bins: Sequence[Tensor],
    weight: Tensor | None,
    density: bool,
    hist: Tensor,
    bin_edges: Sequence[Tensor],
    *,
    linear: bool = False,
) -> Tensor:
    """``histogramdd_out``."""
    _check_inputs(self, bins, weight)
    _prepare_out(self, [numel(edges._sizes) - 1 for edges in bins], hist, bin_edges)
    for edges, given in zip(bin_edges, bins, strict=True):
        _COPY_(edges, given)
    return _count(self, weight, density, hist, bin_edges, linear=linear)


@kernel("aten::_histogramdd_from_bin_tensors")
def histogramdd_from_bin_tensors(
    self: Tensor, bins: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Tensor:
    return _from_tensors(self, bins, weight, density, _empty(self), _edges_to_make(self))


@kernel("aten::_histogramdd_from_bin_cts")
def histogramdd_from_bin_cts(
    self: Tensor, bins: Sequence[int], range: Range, weight: Tensor | None, density: bool
) -> Tensor:
    hist, outputs = _empty(self), _edges_to_make(self)
    edges = bin_edges_of(self, bins, range, weight, density)
    return _from_tensors(self, edges, weight, density, hist, outputs, linear=True)


@kernel("aten::histogram.bins_tensor")
def histogram(
    self: Tensor, bins: Tensor, weight: Tensor | None, density: bool
) -> tuple[Tensor, Tensor]:
    return histogram_out(self, bins, weight, density, _empty(self), _empty(bins))


@kernel("aten::histogram.bins_tensor_out")
def histogram_out(
    self: Tensor,
    bins: Tensor,
    weight: Tensor | None,
    density: bool,
    hist: Tensor,
    bin_edges: Tensor,
) -> tuple[Tensor, Tensor]:
    _from_tensors(_column(self), [bins], _row(weight), density, hist, [bin_edges])
    return hist, bin_edges


@kernel("aten::histogram.bin_ct")
def histogram_of_equal_bins(
    self: Tensor, bins: int, range: Range, weight: Tensor | None, density: bool
) -> tuple[Tensor, Tensor]:
    given = (self, bins, range, weight, density)
    return histogram_of_equal_bins_out(*given, _empty(self), _empty(self))


@kernel("aten::histogram.bin_ct_out")
def histogram_of_equal_bins_out(
    self: Tensor,
    bins: int,
    range: Range,
    weight: Tensor | None,
    density: bool,
    hist: Tensor,
    bin_edges: Tensor,
) -> tuple[Tensor, Tensor]:
    points, weight = _column(self), _row(weight)
    _prepare_out(points, [bins], hist, [bin_edges])
    ((low, high),) = _outer_edges(points, range)
    _LINSPACE_OUT(low, high, bins + 1, out=bin_edges)
    _check_inputs(points, [bin_edges], weight)
    _count(points, weight, density, hist, [bin_edges], linear=True)
    return hist, bin_edges


def _column(self: Tensor) -> Any:
    return _RESHAPE(self, [numel(self._sizes), 1])


def _row(weight: Tensor | None) -> Any:
    return None if weight is None else _RESHAPE(weight, [numel(weight._sizes)])


@kernel("aten::histogramdd", key=_IMPLICIT)
def histogramdd(
    self: Tensor, bins: Sequence[int], range: Range, weight: Tensor | None, density: bool
) -> tuple[Any, Any]:
    edges = _EDGES(self, bins, range=range, weight=weight, density=density)
    return _FROM_COUNTS(self, bins, range=range, weight=weight, density=density), edges


@kernel("aten::histogramdd.int_bins", key=_IMPLICIT)
def histogramdd_of_equal_counts(
    self: Tensor, bins: int, range: Range, weight: Tensor | None, density: bool
) -> tuple[Any, Any]:
    return histogramdd(self, [bins] * size_at(self, -1), range, weight, density)


@kernel("aten::histogramdd.TensorList_bins", key=_IMPLICIT)
def histogramdd_of_edges(
    self: Tensor, bins: Sequence[Tensor], range: Range, weight: Tensor | None, density: bool
) -> tuple[Any, Any]:
    return _FROM_TENSORS(self, bins, weight=weight, density=density), list(bins)
