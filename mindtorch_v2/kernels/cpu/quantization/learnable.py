"""Simulated quantization whose scale and zero point are learnt, and its derivatives.

Mirrors ``aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp``,
``FakeQuantPerChannelAffine.cpp`` and ``cpu/kernels/QuantizedOpKernels.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.quantization.fake import (
    OUT_OF_RANGE,
    check_channels,
    fused,
    integers,
    item_to,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.tensor_iterator import UNARY_OP, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.tensor import Tensor

_BFLOAT16: Final = DTYPES["bfloat16"]
_FLOAT: Final = DTYPES["float32"]
_INT: Final = DTYPES["int32"]
_TAKES_BFLOAT16: Final = HABITS["learnable fake quantization takes bfloat16"]

_CLAMP_: Final = OperatorHandle("aten::clamp_")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EXPAND: Final = OperatorHandle("aten::expand")
_MAX: Final = OperatorHandle("aten::max")
_MIN: Final = OperatorHandle("aten::min")
_PER_CHANNEL: Final = OperatorHandle("aten::fake_quantize_per_channel_affine_cachemask")
_PER_TENSOR: Final = OperatorHandle("aten::fake_quantize_per_tensor_affine_cachemask")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_ROUND: Final = OperatorHandle("aten::round")
_SELECT: Final = OperatorHandle("aten::select.int")
_SUM: Final = OperatorHandle("aten::sum")
_SUM_OF: Final = OperatorHandle("aten::sum.dim_IntList")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


def _first(tensor: Tensor) -> Any:
    return item_to(_SELECT(tensor, 0, 0), "float32", "float")


def _zero_point(tensor: Tensor, quant_min: int, quant_max: int, *, is_forward: bool) -> int:
    """The nearest integer; in the gradient that above, which halves are of, is cut off."""
    found = _first(tensor)
    found = np.rint(found) if is_forward else found + np.float32(0.5)
    least, most = np.float32(quant_min), np.float32(quant_max)
    found = least if found < least else found
    found = most if most < found else found
    return int(integers(np.asarray(found)))


@kernel("aten::_fake_quantize_learnable_per_tensor_affine")
def fake_quantize_learnable_per_tensor_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> Any:
    number = float(_first(scale))
    zero = _zero_point(zero_point, quant_min, quant_max, is_forward=True)
    return _PER_TENSOR(self, number, zero, quant_min, quant_max)[0]


def _rounded_zero_point(zero_point: Tensor, quant_min: int, quant_max: int) -> Tensor:
    found: Tensor = _CLAMP_(_ROUND(zero_point), quant_min, quant_max)
    return found


@kernel("aten::_fake_quantize_learnable_per_channel_affine")
def fake_quantize_learnable_per_channel_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> Any:
    zeros = _TO(_rounded_zero_point(zero_point, quant_min, quant_max), _INT)
    return _PER_CHANNEL(self, scale, zeros, axis, quant_min, quant_max)[0]


def _in_floats(*tensors: Tensor) -> tuple[Tensor, ...]:
    """All of them, where the second one is of bfloat16."""
    if _TAKES_BFLOAT16 and tensors[1]._dtype is _BFLOAT16:
        return tuple(_TO(each, _FLOAT) for each in tensors)
    return tensors


def _check_floats(*tensors: Tensor) -> None:
    for name, tensor in zip(("dY", "X", "scale", "zero_point"), tensors, strict=True):
        if tensor._dtype is not _FLOAT:
            name += "_" if _TAKES_BFLOAT16 else ""
            raise RuntimeError(expected(f"{name}.scalar_type() == ScalarType::Float"))


def _gradients(
    inputs: tuple[Tensor, ...],
    scale: Any,
    zero_point: Any,
    places: Array,
    bounds: tuple[int, int],
    factor: float,
) -> list[Tensor]:
    """Those of the elements, and what each of them adds to those of its scale and zero point.

    ``inputs`` begin with the elements and the gradient.  What ``places`` have is rounded to the
    elements' integers; of an integer above all and of NaN comes the least of all.
    """
    like = inputs[0]
    outputs = [_EMPTY_LIKE(like, memory_format=1) for _ in range(3)]
    outputs = list(TensorIterator(UNARY_OP, outputs, inputs).outputs)
    least, most = bounds
    with np.errstate(all="ignore"):
        values, grad = (as_array(each, _FLOAT) for each in inputs[:2])
        weight = quietly(np.float32, factor)
        quantized = integers(np.rint(places))
        inside = (least <= quantized) & (quantized <= most)
        low, high = (np.float32(each - zero_point) for each in bounds)
        kept = (np.clip(quantized, least, most) - zero_point).astype(np.float32) * scale
        beyond = np.where(quantized < least, grad * low, grad * high) * weight
        of_scale = grad * (kept - values) * (np.float32(1) / scale) * weight
        store(outputs[0], grad * inside.astype(np.float32))
        store(outputs[1], np.where(inside, of_scale, beyond))
        store(outputs[2], np.where(inside, np.float32(0), -grad * scale * weight))
    return outputs


@kernel("aten::_fake_quantize_learnable_per_tensor_affine_backward")
def fake_quantize_learnable_per_tensor_affine_backward(
    grad: Tensor,
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> tuple[Any, Any, Any]:
    floats = _in_floats(grad, self, scale, zero_point)
    grad_, self_, scale_, zero_point_ = floats
    number = _first(scale_)
    zero = _zero_point(zero_point_, quant_min, quant_max, is_forward=False)
    _check_floats(*floats)
    if numel(self_._sizes) != numel(grad_._sizes):
        raise RuntimeError("`X` and `dY` are not the same size")
    if not quant_min <= 0 <= quant_max:
        raise RuntimeError(
            "`quant_min` should be less than or         equal to `quant_max`, and the quantization "
            "range should include 0."
        )
    if not quant_min <= zero <= quant_max:
        raise RuntimeError(OUT_OF_RANGE)
    if not numel(self_._sizes):
        return self, scale, zero_point
    with np.errstate(all="ignore"):
        places = fused(np.float32(zero), as_array(self_, _FLOAT), np.float32(1) / number)
    of_self, of_scale, of_zero = _gradients(
        (self_, grad_), number, zero, places, (quant_min, quant_max), grad_factor
    )
    return of_self, _UNSQUEEZE(_SUM(of_scale), 0), _UNSQUEEZE(_SUM(of_zero), 0)


@kernel("aten::_fake_quantize_learnable_per_channel_affine_backward")
def fake_quantize_learnable_per_channel_affine_backward(
    grad: Tensor,
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> tuple[Any, Any, Any]:
    floats = _in_floats(grad, self, scale, zero_point)
    grad_, self_, scale_, zero_point_ = floats
    zeros = _rounded_zero_point(zero_point_, quant_min, quant_max)
    _check_floats(*floats)
    if tuple(self_._sizes) != tuple(grad_._sizes):
        raise RuntimeError("`X` and `dY` are not the same size")
    if not quant_min <= 0 <= quant_max:
        raise RuntimeError("Expecting `quant_min` <= 0 and `quant_max` >= 0")
    check_channels(scale_, zero_point_, self_, axis)
    least = item_to(_MIN(zeros), "int64", "int64_t")
    if least < quant_min or item_to(_MAX(zeros), "int64", "int64_t") > quant_max:
        raise RuntimeError(OUT_OF_RANGE)
    rank = len(self_._sizes)
    if not 0 <= axis < rank:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if not numel(self_._sizes):
        return self, scale, zero_point
    shape = [size if dim == axis else 1 for dim, size in enumerate(self_._sizes)]
    scale_, zeros = (_EXPAND(_RESHAPE(each, shape), self_._sizes) for each in (scale_, zeros))
    scales, origins = as_array(scale_, _FLOAT), as_array(zeros, _FLOAT)
    with np.errstate(all="ignore"):
        places = fused(origins, as_array(self_, _FLOAT), np.float32(1) / scales)
    of_self, of_scale, of_zero = _gradients(
        (self_, grad_, scale_, zeros), scales, origins, places, (quant_min, quant_max), grad_factor
    )
    rest = [dim for dim in range(rank) if dim != axis]
    return of_self, _SUM_OF(of_scale, rest), _SUM_OF(of_zero, rest)
