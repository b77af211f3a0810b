"""Logarithm, sine and cosine of floats as the Cephes library computes them, eight lanes at a time.

Mirrors ``aten/src/ATen/native/cpu/avx_mathfun.h``, with the multiplications and additions that a
compiler fuses: what these functions make of a float differs from the nearest one in the last bit,
and normal numbers are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.tensor.elements import Array

_F: Final = np.float32
_ONE: Final = _F(1)
_HALF: Final = _F(0.5)

_SQRT_HALF: Final = _F(0.707106781186547524)
_LOG: Final = (
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LN2: Final = (_F(0.693359375), _F(-2.12194440e-4))
"""ln 2 in two parts, of which the first has few bits."""

_FOUR_OVER_PI: Final = _F(1.27323954473516)
_MINUS_QUARTER_PI: Final = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
"""-pi/4 in three parts."""
_SINE: Final = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE: Final = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def polynomial(x: Array, coefficients: Sequence[float | np.float32]) -> Array:
    """Of float32s; the coefficient of the highest power comes first.

    Each step is a :func:`~mindtorch_v2.kernels.cpu.functions.fused.fused`, its rounded result in
    doubles.
    """
    wide = np.asarray(x, np.float64)
    found = np.full(wide.shape, _F(coefficients[0]), np.float64)
    for coefficient in coefficients[1:]:
        np.multiply(found, wide, out=found)
        np.add(found, float(_F(coefficient)), out=found)
        found[...] = found.astype(_F)
    return found.astype(_F)


def log(x: Array) -> Array:
    """``log256_ps`` of positive normal float32s: ``x = m * 2**e``, the logarithm of m is a
    polynomial."""
    m, exponents = np.frexp(x)
    is_low = m < _SQRT_HALF
    e = np.where(is_low, exponents - 1, exponents).astype(_F)
    m = np.where(is_low, m - _ONE + m, m - _ONE)
    square = m * m
    found = fused(polynomial(m, _LOG) * m, square, e * _LN2[1])
    return fused(e, _LN2[0], m + (found - square * _HALF))


def sincos(x: Array) -> tuple[Array, Array]:
    """``sincos256_ps`` of float32s that are not negative: polynomials between -pi/4 and pi/4, which
    take turns by the octant."""
    octant = ((x * _FOUR_OVER_PI).astype(np.int32) + 1) & ~1
    turns = octant.astype(_F)
    for part in _MINUS_QUARTER_PI:
        x = fused(turns, _F(part), x)
    square = x * x
    sine = fused(polynomial(square, _SINE) * square, x, x)
    cosine = fused(polynomial(square, _COSINE) * square, square, -(square * _HALF)) + _ONE
    swaps = octant & 2 != 0
    first, second = np.where(swaps, cosine, sine), np.where(swaps, sine, cosine)
    return (
        np.where(octant & 4 != 0, -first, first),
        np.where((octant + 2) & 4 != 0, -second, second),
    )
