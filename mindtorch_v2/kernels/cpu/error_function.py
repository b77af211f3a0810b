"""The error function of arrays, which NumPy has not.

Between points of a grid it is its Taylor series there: ``erf(p + h)`` is ``erf(p)`` and the
integral of a Gaussian, whose series is one of Hermite polynomials.  With points every sixty-fourth
the terms beyond :data:`_TERMS` are below half a unit in the last place of a double, and beyond the
last point the value is one.  A few elements go to C's function one by one, which is sooner done.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from mindtorch_v2.tensor.elements import Array

_LAST: Final = 6.0
_PER_UNIT: Final = 64
_TERMS: Final = 8
_AT_ONCE: Final = 1 << 13
"""Elements whose intermediate results stay in the processor's cache."""
_FEW: Final = 256

_one_by_one: Final = np.frompyfunc(math.erf, 1, 1)


def erf(self: Array) -> Array:
    """In double precision, in the dtype of the array."""
    given = np.ravel(np.asarray(self, np.float64))
    found = np.empty_like(given)
    if given.size <= _FEW:
        found[:] = _one_by_one(given)
        return found.reshape(self.shape).astype(self.dtype)
    for start in range(0, given.size, _AT_ONCE):
        found[start : start + _AT_ONCE] = _erf(given[start : start + _AT_ONCE])
    return found.reshape(self.shape).astype(self.dtype)


def _erf(x: Array) -> Array:
    magnitude = np.abs(x)
    at = np.rint(np.fmin(magnitude, _LAST) * _PER_UNIT).astype(np.intp)  # the last for NaN as well
    h = np.minimum(magnitude, _LAST) - at / _PER_UNIT
    values, *coefficients = _series()
    sum_ = np.take(coefficients[-1], at)
    for coefficient in reversed(coefficients[:-1]):
        sum_ *= h
        sum_ += np.take(coefficient, at)
    return np.asarray(np.copysign(np.take(values, at) + sum_ * h, x))


@cache
def _series() -> tuple[Array, ...]:
    """At each point the value, and the coefficients of ``h``, ``h**2`` …"""
    points = np.arange(_LAST * _PER_UNIT + 1) / _PER_UNIT
    values = np.array([math.erf(point) for point in points])
    slope = 2 / math.sqrt(math.pi) * np.exp(-points * points)
    before, term = np.zeros_like(points), np.ones_like(points)
    coefficients = []
    for order in range(1, _TERMS + 1):
        coefficients.append(slope * term / order)
        before, term = term, -2 * (points * term + before) / order
    return values, *coefficients
