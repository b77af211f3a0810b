"""Functions of the C library, one element at a time, to the last digit.

Most are the nearest number to the exact result.  Mirrors glibc's ``e_acosf.c``, ``s_log1pf.c`` and
``e_lgammaf_r.c`` where they are not: what a Chebyshev polynomial of a high degree or an exponential
makes of the last digit is many times as large.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.vector_functions import to_the_last_digit
from mindtorch_v2.kernels.cpu.unary import one_by_one
from mindtorch_v2.tensor.elements import Array

exp: Final = to_the_last_digit(np.exp)
expm1: Final = to_the_last_digit(np.expm1)
log: Final = to_the_last_digit(np.log)
sin: Final = to_the_last_digit(np.sin)
cos: Final = to_the_last_digit(np.cos)
erfc: Final = one_by_one(math.erfc)

_F: Final = np.float32


def power(base: Array, exponent: Array) -> Array:
    return np.asarray(np.float_power(base, exponent), base.dtype)


def _horner(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Each step is rounded twice: the library is compiled for any processor."""
    found = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + _F(coefficient)
    return found


# --- the arc of a cosine ---------------------------------------------------------------------

_PI: Final = _F(3.1415925026)
_HALF_PI: Final = (_F(1.5707962513), _F(7.5497894159e-08))
"""In two parts, of which the first has few bits."""
_ARC_OVER: Final = (
    *(3.4793309169e-05, 7.9153501429e-04, -4.0055535734e-02, 2.0121252537e-01),
    *(-3.2556581497e-01, 1.6666667163e-01, 0.0),
)
_ARC_UNDER: Final = (7.7038154006e-02, -6.8828397989e-01, 2.0209457874, -2.4033949375, 1.0)
_HIGH_BITS: Final = np.int32(-4096)

_acos_of_doubles: Final = one_by_one(math.acos)


def acos(x: Array) -> Array:
    """Between minus one and one."""
    return _acos_of_floats(x) if x.dtype == _F else _acos_of_doubles(x)


def _acos_of_floats(x: Array) -> Array:
    size, high, low = np.abs(x), *_HALF_PI
    is_middle = size < 0.5
    z = np.where(is_middle, x * x, (_F(1) - size) * _F(0.5))
    share = _horner(z, _ARC_OVER) / _horner(z, _ARC_UNDER)
    root = np.sqrt(z)
    root_high = (root.view(np.int32) & _HIGH_BITS).view(_F)
    root_low = (z - root_high * root_high) / (root + root_high)
    middle = high - (x - (low - x * share))
    below = _PI - _F(2) * (root + (share * root - low))
    above = _F(2) * (root_high + (share * root + root_low))
    return np.asarray(np.where(is_middle, middle, np.where(x < 0, below, above)))


# --- the logarithm of what is close to one ---------------------------------------------------

_LN2: Final = (_F(6.9313812256e-01), _F(9.0580006145e-06))
"""In two parts, of which the first has few bits."""
_LOG1P: Final = (
    *(1.4798198640e-01, 1.5313838422e-01, 1.8183572590e-01, 2.2222198546e-01),
    *(2.8571429849e-01, 4.0000000596e-01, 6.6666668653e-01, 0.0),
)
_LEAST: Final = -0.2929
_MOST: Final = 0.41422


def log1p(x: Array) -> Array:
    return _log1p_of_floats(x) if x.dtype == _F else np.log1p(x)


def _log1p_of_floats(x: Array) -> Array:
    """``1 + x`` is ``2**k * (1 + f)``, and what that is rounded by a part of the result."""
    is_close = (x > _LEAST) & (x < _MOST)
    one_more = _F(1) + x
    m, exponents = np.frexp(one_more)
    is_low = m < _F(math.sqrt(0.5))
    k = np.where(is_close, 0, np.where(is_low, exponents - 1, exponents)).astype(_F)
    f = np.where(is_close, x, np.where(is_low, m + m, m) - _F(1))
    lost = np.where(exponents > 1, _F(1) - (one_more - x), x - (one_more - _F(1))) / one_more
    square = _F(0.5) * f * f
    s = f / (_F(2) + f)
    rest = s * (square + _horner(s * s, _LOG1P))
    far = k * _LN2[0] - ((square - (rest + (k * _LN2[1] + lost))) - f)
    found = np.where(k == 0, f - (square - rest), far)
    is_regular = (np.abs(x) > 2.0**-29) & (one_more > 0) & (one_more < np.inf)
    return np.where(is_regular, found, np.log1p(x.astype(np.float64)).astype(_F))


# --- the logarithm of the gamma function -----------------------------------------------------

_STIRLING: Final = (
    *(-1.6309292987e-03, 8.3633989561e-04, -5.9518753551e-04, 7.9365057172e-04),
    *(-2.7777778450e-03, 8.3333335817e-02),
)
_HALF_LOG_TURN: Final = _F(4.1893854737e-01)
"""``log(2 * pi) / 2 - 1 / 2``, to which the series is added."""
_STIRLING_FROM: Final = 8.0
_STIRLING_TO: Final = 2.0**58


def _log_gamma(x: float) -> float:
    return math.lgamma(x) if math.isfinite(x) and x > 0 else math.inf


_lgamma_nearest: Final = one_by_one(_log_gamma)


def lgamma(x: Array) -> Array:
    """Of positive numbers; below eight the library's floats may be next to the nearest."""
    found: Array = _lgamma_nearest(x)
    if x.dtype != _F:
        return found
    is_stirling = (x >= _STIRLING_FROM) & (x < _STIRLING_TO)
    return np.where(is_stirling, _stirling(x), found)


def _stirling(x: Array) -> Array:
    z = _F(1) / x
    rest = _HALF_LOG_TURN + z * _horner(z * z, _STIRLING)
    return np.asarray((x - _F(0.5)) * (log(x) - _F(1)) + rest)
