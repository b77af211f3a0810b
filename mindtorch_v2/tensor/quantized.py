"""Per-tensor quantization: integers that stand for multiples of a scale.

Mirrors ``aten/src/ATen/quantized/Quantizer.cpp`` and ``native/quantized/AffineQuantizerBase.cpp``;
quantization per channel is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.copying import raw_array, store_bits, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType, float32
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_RANGES: Final = {
    DTYPES["qint8"]: (-128, 127),
    DTYPES["quint8"]: (0, 255),
    DTYPES["qint32"]: (-(1 << 31), (1 << 31) - 1),
}


class Quantizer(NamedTuple):
    """``PerTensorAffineQuantizer``."""

    scale: float
    zero_point: int
    scheme: str = "per_tensor_affine"


def check_source(source: Tensor, zero_point: int, dtype: DType) -> None:
    """RuntimeError for elements that are not float32, or for a zero point out of the range."""
    if source.dtype is not float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {CPP_NAMES[source.dtype]}")
    lowest, highest = _RANGES.get(dtype, (zero_point, zero_point))
    if not lowest <= zero_point <= highest:
        bound = "below lower" if zero_point < lowest else "above upper"
        raise RuntimeError(
            f"quantize_tensor_per_tensor_affine zero_point {zero_point} is {bound} bound."
        )


def quantize(target: Tensor, source: Tensor, quantizer: Quantizer) -> None:
    """The integers nearest to the values of a float32 tensor, cut to the range of the dtype."""
    target._content = quantizer
    if target.is_meta or target.dtype not in _RANGES:
        return
    lowest, highest = _RANGES[target.dtype]
    inverse = np.float32(1) / np.float32(quantizer.scale)
    with np.errstate(all="ignore"):
        steps = value_array(source) * inverse
        if HABITS["quantization rounds after adding the zero point"]:
            steps = np.rint(steps + np.float32(quantizer.zero_point)).astype(np.float64)
        else:
            steps = np.rint(steps).astype(np.float64) + quantizer.zero_point
        store_bits(target, np.clip(np.nan_to_num(steps), lowest, highest).astype(np.int64))


def dequantize(target: Tensor, source: Tensor) -> None:
    """The float32 values that quantized ones stand for."""
    quantizer = source._content
    if target.is_meta or not isinstance(quantizer, Quantizer):
        return
    steps = raw_array(source).astype(np.int64) - quantizer.zero_point
    store_bits(target, steps.astype(np.float32) * np.float32(quantizer.scale))


def dequantized_dtype(dtype: DType) -> DType:
    return float32 if dtype._is_quantized else dtype
