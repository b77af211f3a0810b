"""Quantization that is simulated with the range of what it has seen.

Mirrors ``aten/src/ATen/native/quantized/cpu/fused_obs_fake_quant.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.composite.fake_quantization import ones_like_options
from mindtorch_v2.kernels.cpu.quantization.fake import item_to
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.quantization_params import (
    TensorQuantizationParams,
    choose_quantization_params,
)
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_AMINMAX: Final = OperatorHandle("aten::aminmax")
_CLONE: Final = OperatorHandle("aten::clone")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_HELPER: Final = OperatorHandle("aten::_fused_moving_avg_obs_fq_helper")
_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_PER_CHANNEL: Final = OperatorHandle("aten::fake_quantize_per_channel_affine_cachemask")
_PER_TENSOR: Final = OperatorHandle(
    "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
)
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_SELECT: Final = OperatorHandle("aten::select.int")


def _memory(tensor: Tensor, count: int) -> Tensor:
    """So many elements as they follow each other in memory, however the tensor has them."""
    return tensor._as_view((count,), (1,), tensor._storage_offset)


def _averaged(running: Tensor, found: Tensor, weight: Any) -> None:
    """What is infinite has seen nothing yet."""
    count = numel(found._sizes)
    place = _memory(running, count)
    before, now = value_array(place), value_array(_memory(found, count))
    with np.errstate(all="ignore"):
        store(place, np.where(np.isinf(before), now, before + weight * (now - before)))


def _observe(
    seen: Tensor, least: Tensor, most: Tensor, weight: float, per_row: bool, axis: int
) -> None:
    """``calculate_moving_average``."""
    if per_row and axis != 0:
        raise RuntimeError(
            "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on "
            "axis == 0"
        )
    found = _AMINMAX(seen, dim=1) if per_row else _AMINMAX(seen)
    check_pointers(_FLOAT, *found, least, most)
    factor = quietly(np.float32, weight)
    _averaged(least, found[0], factor)
    _averaged(most, found[1], factor)


def _rows(self: Tensor, axis: int) -> Tensor:
    """A matrix, with a row for each channel."""
    if len(self._sizes) == 2:
        return self
    dims = list(range(len(self._sizes)))
    dims[axis] = 0
    dims[0] = axis
    rows: Tensor = _FLATTEN(_PERMUTE(self, dims), 1)
    return rows


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _chosen(
    least: Any, most: Any, bounds: tuple[int, int], symmetric: bool
) -> TensorQuantizationParams:
    found = choose_quantization_params(
        least, most, *bounds, preserve_sparsity=symmetric, is_checked=False
    )
    return TensorQuantizationParams(float(quietly(np.float32, found.scale)), found.zero_point)


def _put(scale: Tensor, zero_point: Tensor, place: int, params: TensorQuantizationParams) -> None:
    _FILL_(_SELECT(scale, 0, place), params.scale)
    _FILL_(_SELECT(zero_point, 0, place), params.zero_point)


def _floats(tensor: Tensor, count: int) -> Array:
    check_pointers(_FLOAT, tensor)
    return value_array(_memory(tensor, count))


@kernel("aten::_fused_moving_avg_obs_fq_helper")
def fused_moving_avg_obs_fq_helper(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool,
    symmetric_quant: bool,
) -> Any:
    if ch_axis >= len(self._sizes):
        raise RuntimeError(
            "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()"
        )
    observes = item_to(observer_on, "int32", "int")
    seen = self
    if per_row_fake_quant:
        seen = _rows(self, ch_axis)
        count = size_at(self, ch_axis)
        if not numel(running_min._sizes):
            _FILL_(_RESIZE_(running_min, [count]), float("inf"))
            _FILL_(_RESIZE_(running_max, [count]), float("-inf"))
            _RESIZE_(scale, [count])
            _RESIZE_(zero_point, [count])
    if observes:
        _observe(seen, running_min, running_max, averaging_const, per_row_fake_quant, ch_axis)
    if not item_to(fake_quant_on, "int32", "int"):
        mask = _ONES_LIKE(self, dtype=DTYPES["bool"], memory_format=1)
        return _CLONE(self), mask
    bounds = _int32(quant_min), _int32(quant_max)
    if per_row_fake_quant:
        count = numel(running_min._sizes)
        ends = _floats(running_min, count), _floats(running_max, count)
        for place, (least, most) in enumerate(zip(*ends, strict=True)):
            _put(scale, zero_point, place, _chosen(least, most, bounds, symmetric_quant))
        return _PER_CHANNEL(self, scale, zero_point, ch_axis, *bounds)
    most = item_to(running_max, "float32", "float")
    least = item_to(running_min, "float32", "float")
    _put(scale, zero_point, 0, _chosen(least, most, bounds, symmetric_quant))
    return _PER_TENSOR(self, scale, zero_point, ones_like_options(self), *bounds)


@kernel("aten::fused_moving_avg_obs_fake_quant", key="CompositeImplicitAutograd")
def fused_moving_avg_obs_fake_quant(self: Tensor, *rest: Any) -> Any:
    if self._sym_numel() == 0:
        return _CLONE(self)
    return _HELPER(self, *rest)[0]
