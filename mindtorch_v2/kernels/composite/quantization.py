"""Ranges that quantize well, and matrices of which rows are left out or values cut off.

Mirrors ``aten/src/ATen/native/quantized/QTensor.cpp``, ``RowwisePrune.cpp`` and
``quantized/cpu/qlinear_prepack.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.cpu.quantization.fake import item_to
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.quantization_params import choose_quantization_params
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import ALL_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

_IMPLICIT: Final = "CompositeImplicitAutograd"
_BOOL: Final = DTYPES["bool"]
_FLOAT: Final = DTYPES["float32"]
_LOOKS_AT_DTYPE_FIRST: Final = HABITS["choose_qparams_optimized looks at the dtype first"]
_LARGEST_HALF: Final = np.float32(65504)

_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_MAX: Final = OperatorHandle("aten::max")
_MIN: Final = OperatorHandle("aten::min")
_SELECT: Final = OperatorHandle("aten::select.int")


def _in_memory(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """The elements as they follow each other in memory, however the tensor has them."""
    return tensor._as_view(sizes, contiguous_strides(sizes), tensor._storage_offset)


@kernel("aten::_choose_qparams_per_tensor", key=_IMPLICIT)
def choose_qparams_per_tensor(self: Tensor, reduce_range: bool) -> tuple[float, int]:
    values = _CONTIGUOUS(self)
    least = item_to(_MIN(values), "float32", "float")
    most = item_to(_MAX(values), "float32", "float")
    bits = 127 if reduce_range else 255
    found = choose_quantization_params(
        least, most, 0, bits, preserve_sparsity=False, is_checked=True
    )
    return found.scale, found.zero_point


def _loss(values: Array, least: Any, most: Any, bit_width: int) -> Any:
    """How far values are from what they are quantized to: terms are added one after the other."""
    least = np.float32(np.float16(least))
    extent = most - least
    steps = np.float32((1 << bit_width) - 1)
    scale = np.float32(1) if extent == 0 else np.float32(np.float16(extent / steps))
    inverse = np.float32(1) if scale == 0 else np.float32(1) / scale
    places = np.rint((values - least) * inverse)
    kept = np.where(places < steps, places, steps)
    kept = np.where(kept > 0, kept, np.float32(0))
    missed = values - (kept * scale + least)
    terms = np.concatenate(([np.float32(0)], missed * missed)).astype(np.float32)
    return np.sqrt(np.add.accumulate(terms, dtype=np.float32)[-1])


def _narrowed(values: Array, ends: tuple[Any, Any], step: Any, threshold: Any, bits: int) -> Any:
    """The range with the least loss on the way on which the end moves that costs less."""
    least, most = best = ends
    loss = best_loss = _loss(values, least, most, bits)
    while least + threshold < most:
        left = _loss(values, least + step, most, bits)
        right = _loss(values, least, most - step, bits)
        if loss < left and loss < right and loss < best_loss:
            best_loss, best = loss, (least, most)
        if left < right:
            least, loss = least + step, left
        else:
            most, loss = most - step, right
    return best


@kernel("aten::choose_qparams_optimized", key=_IMPLICIT)
def choose_qparams_optimized(
    input: Tensor, numel_: int, n_bins: int, ratio: float, bit_width: int
) -> tuple[Tensor, Tensor]:
    if _LOOKS_AT_DTYPE_FIRST:
        check_pointers(_FLOAT, input)
    if not 0 <= numel_ <= numel(input._sizes):
        raise RuntimeError("numel is out of the bound of input tensor")
    check_pointers(_FLOAT, input)
    seen = value_array(_in_memory(input, (numel_,)))
    values = value_array(_in_memory(_CONTIGUOUS(input), (numel_,)))
    with np.errstate(all="ignore"):
        ends = seen.min(), seen.max()
        step = (ends[1] - ends[0]) / np.float32(n_bins)
        least_bins = int(n_bins * (1.0 - float(np.float32(ratio))))
        threshold = np.float32(least_bins) * step
        least, most = _narrowed(values, ends, step, threshold, bit_width)
    made = _EMPTY([1]), _EMPTY([1])
    for tensor, number in zip(made, (most, least), strict=True):
        _FILL_(_SELECT(tensor, 0, 0), float(number))
    return made


@kernel("aten::_rowwise_prune", key=_IMPLICIT)
def rowwise_prune(
    weight: Tensor, mask: Tensor, compressed_indices_dtype: int
) -> tuple[Tensor, Tensor]:
    if len(weight._sizes) != 2:
        raise RuntimeError("'weights' should have 2 dimensions.")
    rows, columns = weight._sizes
    if numel(mask._sizes) != rows:
        raise RuntimeError(
            "Number of elements in 'mask' should be equivalent to the number of rows in 'weights'."
        )
    dtype = dtype_of_value(compressed_indices_dtype)
    if dtype not in (DTYPES["int32"], DTYPES["int64"]):
        raise RuntimeError("compressed_indices_dtype should be either int(int32) or long(int64).")
    flags = _CONTIGUOUS(mask)
    check_pointers(_BOOL, flags)
    is_kept = value_array(flags).reshape(-1).astype(bool)
    options = {"layout": weight._layout, "device": weight._device}
    pruned = _EMPTY([int(is_kept.sum()), columns], dtype=weight._dtype, **options)
    mapping = _EMPTY([rows], dtype=dtype)
    dispatch_over(ALL_TYPES | HALVES, "rowwise_prune_helper", weight._dtype)
    if numel(pruned._sizes):
        store_bits(pruned, raw_array(_in_memory(weight, (rows, columns)))[is_kept])
    store(mapping, np.where(is_kept, np.cumsum(is_kept) - 1, -1))
    return pruned, mapping


def saturate(values: Array) -> tuple[Array, bool]:
    """What float16 has a finite number for, and whether there was more."""
    found = np.clip(values, -_LARGEST_HALF, _LARGEST_HALF)
    return found, bool(np.any(np.abs(values) > _LARGEST_HALF))


@kernel("aten::_saturate_weight_to_fp16", key=_IMPLICIT)
def saturate_weight_to_fp16(weight: Tensor) -> Tensor:
    """The tensor itself, which is changed if it is contiguous; a copy that is changed is lost."""
    copied = _CONTIGUOUS(weight)
    check_pointers(_FLOAT, copied)
    count = size_at(weight, 1) * size_at(weight, 0)
    place = _in_memory(copied, (count,))
    found, is_beyond = saturate(value_array(place))
    if is_beyond:
        quietly(store, place, found)
        warn("HandleWeightsSaturation", "FOUND weight out of range ")
    return weight
