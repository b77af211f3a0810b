"""Quantization that is simulated: floats rounded to what integers of few bits could say.

Mirrors ``aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp``,
``FakeQuantPerChannelAffine.cpp`` and what ``cpu/kernels/QuantizedOpKernels.cpp`` there has for
them.  Of a function's arguments GCC computes the last one first.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, HALVES, dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import uncast
from mindtorch_v2.tensor.copying import fill, store
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_BOOL: Final = DTYPES["bool"]
_FLOAT: Final = DTYPES["float32"]
_HALF: Final = DTYPES["float16"]
_INT: Final = DTYPES["int32"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_CLAMPS_FIRST: Final = HABITS["a fake quantization clamps before it has integers"]
_TAKES_BFLOAT16: Final = HABITS["a fake quantization takes bfloat16 scales"]

_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_ITEM: Final = OperatorHandle("aten::item")
_MAX: Final = OperatorHandle("aten::max")
_MIN: Final = OperatorHandle("aten::min")

DISORDERED: Final = "`quant_min` should be less than or         equal to `quant_max`."
"""What is said of bounds in the wrong order: the line that it is continued on is a part of it."""
OUT_OF_RANGE: Final = "`zero_point` must be between `quant_min` and `quant_max`."


def item_to(tensor: Tensor, dtype: str, c_type: str) -> Any:
    """``item<T>()``: RuntimeError for what the type cannot have."""
    number = scalar_to(_ITEM(tensor), DTYPES[dtype], c_type)
    return int(number) if dtype.startswith("int") else np.float32(number)


def integers(values: Array) -> Array:
    """``static_cast<int64_t>``: what is too large, and NaN, is the least of all numbers."""
    return np.asarray(quietly(values.astype, np.int64))


def clamped(values: Array, least: int, most: int) -> Array:
    """``std::fmin(std::fmax(…))`` of integers, which are doubles then."""
    return np.asarray(np.fmin(np.fmax(values.astype(np.float64), float(least)), float(most)))


def fused(origin: Any, values: Array, inverse: Any) -> Array:
    """A product that is added without being rounded: GCC makes one instruction of both."""
    product = values.astype(np.float64) * np.float64(inverse)
    return np.asarray((origin + product).astype(np.float32))


def _outputs(self: Tensor) -> tuple[Tensor, Tensor]:
    preserve = {"memory_format": 1}
    return _EMPTY_LIKE(self, **preserve), _EMPTY_LIKE(self, dtype=_BOOL, **preserve)


def store_doubles(output: Tensor, values: Array) -> None:
    """A half is made of a double by way of a float."""
    store(output, quietly(values.astype, np.float32) if output._dtype in HALVES else values)


def _quantize(
    self: Tensor, enabled: int, scale: Any, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    """``_fake_quantize_tensor_helper``."""
    output, mask = _outputs(self)
    dispatch("fake_quantize_tensor_cachemask_kernel_type_handling", self._dtype)
    values = as_array(self, self._dtype)
    if not enabled:
        store(output, values)
        fill(mask, True)
        return output, mask
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scale
        steps = np.rint(values * inverse.astype(values.dtype))
        places = values.dtype.type(zero_point) + steps
        if _CLAMPS_FIRST:
            kept = integers(clamped(places, quant_min, quant_max)) - zero_point
            store(output, rounded(kept.astype(np.float32) * scale, output._dtype))
        else:
            places = integers(places)
            store_doubles(output, (clamped(places, quant_min, quant_max) - zero_point) * scale)
        bounds = np.asarray((quant_min, quant_max)).astype(places.dtype)
        store(mask, (bounds[0] <= places) & (places <= bounds[1]))
    return output, mask


@kernel("aten::fake_quantize_per_tensor_affine_cachemask")
def fake_quantize_per_tensor_affine_cachemask(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    if quant_min > quant_max:
        raise RuntimeError(DISORDERED)
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError(OUT_OF_RANGE)
    return _quantize(self, 1, quietly(np.float32, scale), zero_point, quant_min, quant_max)


@kernel("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    fake_quant_enabled: Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[Tensor, Tensor]:
    if quant_min > quant_max:
        raise RuntimeError(DISORDERED)
    zero = item_to(zero_point, "int32", "int")
    number = item_to(scale, "float32", "float")
    enabled = item_to(fake_quant_enabled, "int32", "int")
    return _quantize(self, enabled, number, zero, quant_min, quant_max)


def check_channels(scale: Tensor, zero_point: Tensor, self: Tensor, axis: int) -> None:
    """One scale and one zero point for each channel."""
    if len(scale._sizes) != 1:
        raise RuntimeError("scale should be a 1-D tensor")
    if len(zero_point._sizes) != 1:
        raise RuntimeError("zero point should be a 1-D tensor")
    if scale._sizes != zero_point._sizes:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale._sizes[0] != size_at(self, axis):
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )


@kernel("aten::fake_quantize_per_channel_affine_cachemask")
def fake_quantize_per_channel_affine_cachemask(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    if scale._dtype is not _FLOAT and not (_TAKES_BFLOAT16 and scale._dtype is _BFLOAT16):
        wanted = "Float or BFloat16" if _TAKES_BFLOAT16 else "Float"
        raise RuntimeError(f"Scale must be {wanted}, found {CPP_NAMES[scale._dtype]}")
    if zero_point._dtype not in (_INT, _FLOAT, _HALF):
        found = CPP_NAMES[zero_point._dtype]
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {found}")
    check_channels(scale, zero_point, self, axis)
    if quant_min > quant_max:
        raise RuntimeError(DISORDERED)
    if zero_point._dtype is _INT and not (
        scalar_to(_ITEM(_MIN(zero_point)), _INT) >= quant_min
        and scalar_to(_ITEM(_MAX(zero_point)), _INT) <= quant_max
    ):
        raise RuntimeError(OUT_OF_RANGE)
    rank = len(self._sizes)
    if not 0 <= axis <= rank:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    output, mask = _outputs(self)
    dispatch("fake_quantize_channel_cachemask_cpu_type_handling", self._dtype)
    if scale._dtype is not _FLOAT:  # which is let in and then not cast
        raise RuntimeError(uncast())
    shape = [size if dim == axis else 1 for dim, size in enumerate(self._sizes)]
    scales = as_array(scale, _FLOAT).reshape(shape)
    zeros = as_array(zero_point, zero_point._dtype).reshape(shape)
    values = as_array(self, self._dtype)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scales
        if zero_point._dtype is _INT:
            scaled = values * inverse.astype(values.dtype)
            quantized = integers(zeros.astype(values.dtype) + np.rint(scaled))
        else:
            if zero_point._dtype is _FLOAT:
                places = fused(zeros, values, inverse)
            else:  # what a half is added to is a float that is rounded
                places = zeros + values * inverse.astype(values.dtype)
            quantized = integers(np.rint(places.astype(np.float32)))
        doubles = clamped(quantized, quant_min, quant_max) - zeros.astype(np.float64)
        store_doubles(output, doubles * scales.astype(np.float64))
    store(mask, (quant_min <= quantized) & (quantized <= quant_max))
    return output, mask
