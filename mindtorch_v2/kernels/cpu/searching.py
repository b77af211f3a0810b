"""Where values belong among sorted ones, whether they are among others, how many are in a bin.

Mirrors ``Bucketization.cpp``, ``BucketizationUtils.h``, ``Histogram.cpp`` and the ``isin`` of
``TensorCompare.cpp`` in ``aten/src/ATen/native``.
"""

from __future__ import annotations

import math
from math import prod
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.extremes import extreme_of_all
from mindtorch_v2.kernels.cpu.histogram import BINNED, check_bins, check_hist
from mindtorch_v2.kernels.dtypes import check_implemented, check_supported
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand, result_type
from mindtorch_v2.kernels.elementwise.tensor_iterator import dtype_of, sizes_of
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import (
    ALL_TYPES,
    HABITS,
    HALVES,
    dispatch,
    dispatch_over,
)
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import dense_strides_like, is_contiguous, numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, check_dtype, streamed, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import view_geometry
from mindtorch_v2.warn import warn_once

_INT32: Final = DTYPES["int32"]
_ORDERED: Final = ALL_TYPES | HALVES
_FLOAT64: Final = DTYPES["float64"]


# --- searchsorted, bucketize ------------------------------------------------------------------


@structured("aten::searchsorted.Tensor")
@structured("aten::searchsorted.Scalar")
def searchsorted(
    outputs: Outputs,
    sorted_sequence: Tensor,
    self: Operand,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> tuple[Tensor, ...]:
    dtype = _INT32 if out_int32 else int64
    given = outputs[0]
    _check_side(side, right)
    _check_searched(sorted_sequence, self, sorter)
    if given is not None and given._dtype is not dtype:
        raise RuntimeError(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
            f"Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
            f"dtype {CPP_NAMES[given._dtype]} and out_int32 flag is {out_int32}"
        )
    sizes = tuple(sizes_of(self))
    output = new_tensor(sizes, dtype, sorted_sequence._device) if given is None else given
    resize_output(output, sizes)
    if not output.is_meta and numel(sizes):
        _warn_of_copies(self, sorted_sequence, sorter)
        common = result_type((sorted_sequence, self))
        dispatch_over(_ORDERED, "searchsorted_out_cpu", common)
        places = None if sorter is None else value_array(sorter)
        bounds, values = as_array(sorted_sequence, common), as_array(self, common)
        assert_no_internal_overlap(output)
        store(output, _bound(bounds, values, places, side == "right" if side else right))
    return (output,)


def _warn_of_copies(self: Operand, boundaries: Tensor, sorter: Tensor | None) -> None:
    """``searchsorted_maybe_trim_input_tensors``."""
    for what, noun, tensor in (
        ("input", "input value", self),
        ("boundaries", "boundary", boundaries),
        ("sorter", "sorter", sorter),
    ):
        if isinstance(tensor, Tensor) and not is_contiguous(tensor._sizes, tensor._strides):
            warn_once(
                f"searchsorted({what})",
                f"torch.searchsorted(): {noun} tensor is non-contiguous, this will lower the "
                "performance due to extra data copy when converting non-contiguous tensor to "
                f"contiguous, please use contiguous {noun} tensor if possible. This message will "
                "only appear once per program.",
            )


def _check_side(side: str | None, right: bool) -> None:
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )


def _check_searched(boundaries: Tensor, self: Operand, sorter: Tensor | None) -> None:
    """``searchsorted_pre_check``."""
    if isinstance(self, Tensor) and self._device != boundaries._device:
        raise RuntimeError(
            "torch.searchsorted(): boundaries and input value tensors should have same device "
            f"type, but got boundaries tensor device type {boundaries._device} and input value "
            f"tensor device type {self._device}"
        )
    if sorter is not None:
        _check_sorter(boundaries, sorter)
    sizes, rank = tuple(sizes_of(self)), len(boundaries._sizes)
    if not sizes and rank != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({rank}) and input value's dim(0) "
            "numel(1)"
        )
    if not rank:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    alike = len(sizes) == rank and sizes[:-1] == tuple(boundaries._sizes[:-1])
    if rank > 1 and not alike:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(boundaries._sizes)} and input value tensor {list(sizes)}"
        )


def _check_sorter(boundaries: Tensor, sorter: Tensor) -> None:
    if sorter._device != boundaries._device:
        raise RuntimeError(
            "torch.searchsorted(): sorter and boundary tensors should have same device type, but "
            f"got sorter tensor device type {sorter._device} and input value tensor device type "
            f"{boundaries._device}"
        )
    if tuple(sorter._sizes) != tuple(boundaries._sizes):
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(boundaries._sizes)}and got sorter tensor {list(sorter._sizes)}"
        )
    if sorter._dtype is not int64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{CPP_NAMES[sorter._dtype]}"
        )
    places = np.zeros(0) if sorter.is_meta else value_array(sorter)
    if places.size and not (places.min() >= 0 and places.max() < sorter._sizes[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


def _bound(bounds: Array, values: Array, places: Array | None, right: bool) -> Array:
    """``cus_lower_bound`` or ``cus_upper_bound``: a NaN belongs behind all that there is."""
    if places is not None:
        bounds = np.take_along_axis(bounds, places, axis=-1)
    rows = bounds.reshape(prod(bounds.shape[:-1]), bounds.shape[-1])
    row = np.zeros(values.shape, np.int64)
    if bounds.ndim > 1:
        each = np.arange(rows.shape[0]).reshape(*bounds.shape[:-1], 1)
        row = np.broadcast_to(each, values.shape)
    start, end = np.zeros(values.shape, np.int64), np.full(values.shape, bounds.shape[-1])
    while (start < end).any():
        middle = start + (end - start) // 2
        reached = rows[row, np.minimum(middle, bounds.shape[-1] - 1)]
        is_behind = reached > values if right else reached >= values
        is_open = start < end
        start, end = (
            np.where(is_open & ~is_behind, middle + 1, start),
            np.where(is_open & is_behind, middle, end),
        )
    return start


@structured("aten::bucketize.Tensor")
@structured("aten::bucketize.Scalar")
def bucketize(
    outputs: Outputs, self: Operand, boundaries: Tensor, out_int32: bool, right: bool
) -> tuple[Tensor, ...]:
    if len(boundaries._sizes) != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({len(boundaries._sizes)})"
        )
    return searchsorted(outputs, boundaries, self, out_int32, right, None, None)


# --- isin -------------------------------------------------------------------------------------


@structured("aten::isin.Tensor_Tensor")
@structured("aten::isin.Tensor_Scalar")
@structured("aten::isin.Scalar_Tensor")
def isin(
    outputs: Outputs, elements: Operand, test_elements: Operand, assume_unique: bool, invert: bool
) -> tuple[Tensor, ...]:
    for each in (elements, test_elements):
        _check_isin_dtype(dtype_of(each))
    tensor = elements if isinstance(elements, Tensor) else test_elements
    assert isinstance(tensor, Tensor)
    output = set_output(outputs[0], tuple(sizes_of(elements)), BOOL, tensor._device)
    if not output.is_meta:
        common = result_type((elements, test_elements))
        assert_no_internal_overlap(output)
        if isinstance(test_elements, Tensor):
            _check_tested_in_turn(elements, test_elements, common)
        found = np.isin(as_array(elements, common), as_array(test_elements, common))
        store(output, found != invert)
    return (output,)


def _check_tested_in_turn(elements: Operand, test_elements: Tensor, common: DType) -> None:
    """``isin_default_kernel_cpu``, which takes few elements to test for, views those as a row."""
    count = numel(tuple(sizes_of(elements)))
    if not count or numel(test_elements._sizes) >= int(10 * count**0.145):
        return
    if test_elements._dtype is not common:  # a copy, without gaps
        sizes, strides = test_elements._sizes, test_elements._strides
        test_elements = new_tensor(
            sizes, common, test_elements._device, dense_strides_like(sizes, strides)
        )
    view_geometry(test_elements, (-1,))
    dispatch("isin_default_cpu", common)


NOT_TESTED: Final = tuple(
    DTYPES[name]
    for name in ("bool", "complex64", "complex128", "bfloat16")
    if name != "bfloat16" or HABITS["isin takes no bfloat16"]
)
"""Dtypes that are not looked for."""


def _check_isin_dtype(dtype: DType) -> None:
    if dtype in NOT_TESTED:
        raise worded("isin of truth values", Bool=CPP_NAMES[dtype])


# --- histc ------------------------------------------------------------------------------------


@structured("aten::histc", keys=("CPU",))
def histc(
    outputs: Outputs, self: Tensor, bins: int, min: Number, max: Number
) -> tuple[Tensor, ...]:
    given = outputs[0]
    if given is not None:
        check_hist(self._dtype, given._dtype)
    check_bins(bins)
    output = new_tensor((bins,), self._dtype, self._device) if given is None else given
    resize_output(output, (bins,))
    if self.is_meta:  # it stands for one on the CPU
        return (output,)
    low, high = _outer_edges(self, min, max)
    check_dtype("linspace", self._dtype)  # which makes the edges of the bins
    for edge in (low, high):
        scalar_to(edge, self._dtype)
    dispatch_over(BINNED, "histogram_cpu", self._dtype)
    store(output, _counted(self, bins, low, high))
    return (output,)


def _outer_edges(self: Tensor, min: Number, max: Number) -> tuple[float, float]:
    """``histc_select_outer_bin_edges``."""
    low, high = (float(scalar_to(each, _FLOAT64)) for each in (min, max))
    if low == high and numel(self._sizes):
        check_supported("aten::aminmax", self._dtype)
        check_implemented("aten::aminmax", self._dtype)
        values = value_array(self)
        low, high = (float(extreme_of_all(values, each, self._dtype)) for each in (np.min, np.max))
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(
            f"torch.histc: range of [{streamed(low)}, {streamed(high)}] is not finite"
        )
    if not low < high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return low, high


def _counted(self: Tensor, bins: int, low: float, high: float) -> Array:
    """Each operation is one of the elements' dtype."""
    dtype = self._dtype
    values = as_array(self, dtype).reshape(-1)
    first, last, count = (element(each, dtype) for each in (low, high, bins))
    inside = values[(values >= first) & (values <= last)]
    scaled = rounded(rounded(inside - first, dtype) * count, dtype)
    places = rounded(scaled / rounded(np.asarray(last - first), dtype), dtype).astype(np.int64)
    return np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(values.dtype)
