"""The scale and the zero point that quantize a range of numbers.

Mirrors ``ChooseQuantizationParams`` of ``aten/src/ATen/native/quantized/cpu/QuantUtils.h``, and
FBGEMM's of the same name, which asserts nothing in a build for release.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.tensor.quiet import quietly

_SMALL: Final = np.float32(6.1e-5)
"""Scales below are subnormal numbers of float16."""


class TensorQuantizationParams(NamedTuple):
    scale: float
    zero_point: int


def _symmetric(least: Any, most: Any, qmin: int, qmax: int) -> tuple[Any, Any]:
    """A range that has nought in its middle."""
    low, high = np.float32(-((qmax - qmin) // 2 + 1)), np.float32((qmax - qmin) // 2)
    widest = max(abs(float(least / low)), abs(float(most / high)))
    return np.float32(widest * float(low)), np.float32(widest * float(high))


def _with_scale(least: Any, most: Any, scale: float, steps: int) -> tuple[Any, Any]:
    """The range that a larger scale covers."""
    if least == 0:
        return least, np.float32(_SMALL * np.float32(steps))
    if most == 0:
        return np.float32(-_SMALL * np.float32(steps)), most
    wider = _SMALL / np.float32(scale)
    return least * wider, most * wider


def choose_quantization_params(
    least: Any, most: Any, qmin: int, qmax: int, *, preserve_sparsity: bool, is_checked: bool
) -> TensorQuantizationParams:
    """Of float32 bounds."""
    with np.errstate(all="ignore"):
        return _choose(least, most, qmin, qmax, preserve_sparsity, is_checked)


def _choose(
    least: Any, most: Any, qmin: int, qmax: int, preserve_sparsity: bool, is_checked: bool
) -> TensorQuantizationParams:
    if is_checked and not least <= most:
        raise RuntimeError("In ChooseQuantizationParams, min should be less than or equal to max")
    if least < 0 < most and preserve_sparsity:
        least, most = _symmetric(least, most, qmin, qmax)
    zero = np.float32(0)
    least = zero if zero < least else least  # ``std::min``, of which NaN is the first
    most = zero if most < zero else most
    if is_checked and qmin >= qmax:
        raise RuntimeError("In ChooseQuantizationParams, qmin should be less than qmax")
    scale = float((np.float64(most) - np.float64(least)) / np.float64(qmax - qmin))
    if np.float32(scale) == 0 or np.isinf(np.float32(1) / np.float32(scale)):
        scale = 0.1
    if not is_checked:  # FBGEMM keeps a float, of which the zero point is made
        scale = float(quietly(np.float32, scale))
    if is_checked and not scale > 0:
        raise RuntimeError("quantization scale should be > 0")
    if scale < _SMALL:
        least, most = _with_scale(least, most, scale, qmax - qmin)
        scale = float(_SMALL)
    return TensorQuantizationParams(
        scale, _zero_point(float(least), float(most), scale, qmin, qmax, preserve_sparsity)
    )


def _zero_point(
    least: float, most: float, scale: float, qmin: int, qmax: int, preserve_sparsity: bool
) -> int:
    """That of the end of the range that rounds less."""
    below, above = np.float64(least) / scale, np.float64(most) / scale
    is_below = abs(qmin) - abs(below) < abs(qmax) - abs(above)
    found = float(qmin - below if is_below else qmax - above)
    if least < 0 < most and preserve_sparsity:
        found = (qmin + qmax) / 2
    if found < qmin:
        return qmin
    if found > qmax:
        return qmax
    return -(2**31) if math.isnan(found) else round(found)
