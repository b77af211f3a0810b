"""The regularized incomplete gamma functions.

Mirrors ``calc_igamma`` and ``calc_igammac`` of ``aten/src/ATen/native/Math.h``, which follow
SciPy's: a series, a continued fraction, or a uniform expansion where both arguments are large and
close to each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import erfc, exp, expm1, lgamma, log, log1p, power
from mindtorch_v2.kernels.cpu.functions.coefficients import series, table
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.series import by_pieces, polynomial
from mindtorch_v2.kernels.elementwise.pointwise import pointwise
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP
from mindtorch_v2.tensor.elements import Array

_MOST_TERMS: Final = 2000
_EPSILON: Final = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
_BIG: Final = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**52}
_MOST_LOG: Final = {
    np.dtype(np.float32): 88.72283905206835,
    np.dtype(np.float64): 7.09782712893383996843e2,
}
_LANCZOS_G: Final = 6.024680040776729583740234375
_SMALL: Final = 20
_LARGE: Final = 200
_NEAR: Final = 0.3
_NEAR_OF_LARGE: Final = 4.5


# --- what all series begin with --------------------------------------------------------------


def _lanczos_sum(x: Array) -> Array:
    """Lanczos' sum, scaled: a quotient of polynomials of one degree, of ``1 / x`` above one."""
    over, under = series("lanczos", "N"), series("lanczos", "D")

    def turned(x: Array) -> Array:
        y = 1 / x
        return polynomial(y, over[::-1]) / polynomial(y, under[::-1])

    def straight(x: Array) -> Array:
        return polynomial(x, over) / polynomial(x, under)

    return by_pieces((x,), (np.abs(x) > 1, turned), (True, straight))


def _factor_apart(a: Array, x: Array) -> Array:
    found = fused(a, log(x), -x) - lgamma(a)
    return np.where(found < -_MOST_LOG[a.dtype], 0, exp(found))


def _factor_together(a: Array, x: Array) -> Array:
    kind = a.dtype.type
    base = a + kind(_LANCZOS_G) - kind(0.5)
    root = np.sqrt(base / kind(math.e)) / _lanczos_sum(a)

    def small(a: Array, x: Array, base: Array, root: Array) -> Array:
        return np.asarray(root * (exp(a - x) * power(x / base, a)))

    def large(a: Array, x: Array, base: Array, root: Array) -> Array:
        """The exponent is of double precision."""
        part = (x - a - kind(_LANCZOS_G) + kind(0.5)) / base
        shift = x.astype(np.float64) * (0.5 - _LANCZOS_G) / base
        return np.asarray((root * np.exp(a * (log1p(part) - part) + shift)).astype(a.dtype))

    return by_pieces((a, x, base, root), ((a < _LARGE) & (x < _LARGE), small), (True, large))


def _factor(a: Array, x: Array) -> Array:
    """``x**a * exp(-x) / gamma(a)``."""
    is_apart = np.abs(a - x) > 0.4 * np.abs(a).astype(np.float64)
    return by_pieces((a, x), (is_apart, _factor_apart), (True, _factor_together))


# --- the ways to compute them ----------------------------------------------------------------


def _lower_by_series(a: Array, x: Array) -> Array:
    """DLMF 8.11.4: a power series."""
    factor = _factor(a, x)
    total, term, r = np.ones_like(a), np.ones_like(a), a.copy()
    at = np.flatnonzero(factor != 0)
    for _ in range(_MOST_TERMS):
        if not at.size:
            break
        r[at] += 1
        term[at] *= x[at] / r[at]
        total[at] += term[at]
        at = at[~(term[at] <= a.dtype.type(_EPSILON[a.dtype]) * total[at])]
    return np.where(factor == 0, 0, total * factor / a)


def _upper_by_series(a: Array, x: Array) -> Array:
    """DLMF 8.7.3, so that nothing cancels."""
    kind = a.dtype.type
    factor, total = np.ones_like(a), np.zeros_like(a)
    at = np.arange(a.size)
    for n in range(1, _MOST_TERMS):
        if not at.size:
            break
        factor[at] *= -x[at] / kind(n)
        term = factor[at] / (a[at] + kind(n))
        total[at] += term
        at = at[~(np.abs(term) <= kind(_EPSILON[a.dtype]) * np.abs(total[at]))]
    logarithm = log(x)
    first = -expm1(fused(a, logarithm, -lgamma(1 + a)))
    return fused(-exp(fused(a, logarithm, -lgamma(a))), total, first)


def _upper_by_fraction(a: Array, x: Array) -> Array:
    """DLMF 8.9.2: a continued fraction, whose parts are scaled down as they grow."""
    kind = a.dtype.type
    big = kind(_BIG[a.dtype])
    factor = _factor(a, x)
    found = np.zeros_like(a)
    at = np.flatnonzero(factor != 0)
    a, x = a[at], x[at]
    y = 1 - a
    z = x + y + kind(1)
    over, under = [np.ones_like(x), x + kind(1)], [x, z * x]
    last = over[1] / under[1]
    for count in range(1, _MOST_TERMS + 1):
        if not at.size:
            break
        y, z = y + kind(1), z + kind(2)
        weight = y * kind(count)
        over = [over[1], fused(over[1], z, -(over[0] * weight))]
        under = [under[1], fused(under[1], z, -(under[0] * weight))]
        quotient = over[1] / under[1]
        has_one = under[1] != 0
        change = np.where(has_one, np.abs((last - quotient) / quotient), 1)
        last = np.where(has_one, quotient, last)
        shrink = np.where(np.abs(over[1]) > big, 1 / big, kind(1))
        over, under = [each * shrink for each in over], [each * shrink for each in under]
        found[at] = last
        on = ~(change <= kind(_EPSILON[x.dtype]))
        at, y, z, last = at[on], y[on], z[on], last[on]
        over, under = [each[on] for each in over], [each[on] for each in under]
    return np.where(factor == 0, 0, found * factor)


def _uniformly(a: Array, x: Array, *, sign: int) -> Array:
    """DLMF 8.12.3 and 8.12.4: the error function, and terms in powers of ``1 / a``."""
    kind = a.dtype.type
    quotient, sigma = x / a, (x - a) / a
    size = np.sqrt(kind(-2) * (log1p(sigma) - sigma))
    eta = np.where(quotient > 1, size, np.where(quotient < 1, -size, kind(0)))
    first = kind(0.5) * erfc(kind(sign) * eta * np.sqrt(a / kind(2)))
    total = _uniform_sum(a, eta)
    # A float's, whatever the dtype is; the exponent is a double's.
    turn = kind(2) * kind(np.float32(math.pi))
    weight = sign * np.exp(-0.5 * a.astype(np.float64) * eta * eta)
    return np.asarray((first + weight * total / np.sqrt(turn * a)).astype(a.dtype))


def _uniform_sum(a: Array, eta: Array) -> Array:
    kind = a.dtype.type
    epsilon = kind(_EPSILON[a.dtype])
    rows = table("igam").astype(a.dtype)
    powers = [np.ones_like(eta)]
    for _ in range(rows.shape[1] - 1):
        powers.append(eta * powers[-1])
    total, scale = np.zeros_like(a), np.ones_like(a)
    least = np.full_like(a, np.inf)
    at = np.arange(a.size)
    for row in rows:
        if not at.size:
            break
        term = _in_powers(row, [each[at] for each in powers], epsilon) * scale[at]
        size = np.abs(term)
        shrinks = ~(size > least[at])
        at, term, size = at[shrinks], term[shrinks], size[shrinks]
        total[at] += term
        least[at] = size
        scale[at] /= a[at]
        at = at[~(size < epsilon * np.abs(total[at]))]
    return total


def _in_powers(coefficients: Array, powers: Sequence[Array], epsilon: np.floating) -> Array:
    """Added up for as long as a term counts."""
    found = np.full_like(powers[0], coefficients[0])
    goes_on = np.ones(found.shape, np.bool_)
    for coefficient, raised in zip(coefficients[1:], powers[1:], strict=True):
        term = coefficient * raised
        found = np.where(goes_on, found + term, found)
        goes_on &= ~(np.abs(term) < epsilon * np.abs(found))
    return found


# --- which way goes where --------------------------------------------------------------------


def _is_uniform(a: Array, x: Array) -> Array:
    kind = a.dtype.type
    apart = np.abs(x - a) / a
    is_medium = (a > _SMALL) & (a < _LARGE) & (apart < kind(_NEAR))
    is_large = (a > _LARGE) & (apart < kind(_NEAR_OF_LARGE) / np.sqrt(a))
    return np.asarray(is_medium | is_large)


def _rest_of_lower(a: Array, x: Array) -> Array:
    return 1 - _lower_by_series(a, x)


def _igammac(a: Array, x: Array) -> Array:
    wide = x.astype(np.float64)
    low = np.where(wide > 0.5, wide * 1.1, -0.4 / log(x).astype(np.float64))
    return by_pieces(
        (a, x),
        ((x < 0) | (a < 0), np.nan),
        (a == 0, lambda _, x: np.where(x > 0, 0, np.nan)),
        (x == 0, 1),
        (np.isinf(a), lambda _, x: np.where(np.isinf(x), np.nan, 1)),
        (np.isinf(x), 0),
        (_is_uniform(a, x), partial(_uniformly, sign=1)),
        ((wide > 1.1) & (x < a), _rest_of_lower),
        (wide > 1.1, _upper_by_fraction),
        (low < a, _rest_of_lower),
        (True, _upper_by_series),
    )


def _igamma(a: Array, x: Array) -> Array:
    return by_pieces(
        (a, x),
        ((x < 0) | (a < 0), np.nan),
        (a == 0, lambda _, x: np.where(x > 0, 1, np.nan)),
        (x == 0, 0),
        (np.isinf(a), lambda _, x: np.where(np.isinf(x), np.nan, 0)),
        (np.isinf(x), 1),
        (_is_uniform(a, x), partial(_uniformly, sign=-1)),
        ((x > 1) & (x > a), lambda a, x: 1 - _igammac(a, x)),
        (True, _lower_by_series),
    )


pointwise("aten::igamma", _igamma, BINARY_OP, 2)
pointwise("aten::igammac", _igammac, BINARY_OP, 2)
