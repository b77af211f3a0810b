"""The error function of arrays, which NumPy has not.

Between points of a grid it is its Taylor series there: ``erf(p + h)`` is ``erf(p)`` and the
integral of a Gaussian, whose series is one of Hermite polynomials.  Beyond the last points the
value is one, or minus one.  A few elements go to C's function one by one, which is sooner done.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.blocks import by_blocks
from mindtorch_v2.kernels.cpu.functions.cephes import polynomial
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.tensor.elements import Array

_LAST: Final = 6.0
_FEW: Final = 256

_one_by_one: Final = np.frompyfunc(math.erf, 1, 1)


class _Grid(NamedTuple):
    """How many points there are from one number to the next, and how many terms of a series."""

    per_unit: int
    terms: int


_DOUBLE: Final = _Grid(64, 8)
"""The terms beyond are below half a unit in the last place of a double."""
_FLOAT: Final = _Grid(512, 3)
"""The terms beyond are 2**-33 of the value, below any rounding of a float."""


def erf(self: Array) -> Array:
    """Computed in double precision, in the dtype of the array."""
    if self.size <= _FEW:
        return np.asarray(_one_by_one(self.astype(np.float64)), self.dtype)
    return _erf(self)


ERROR: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
ERROR_AT: Final = np.float32(0.3275911)
"""The polynomial of Abramowitz and Stegun, and where in it a number is."""


def erf_of_vectors(self: Array) -> Array:
    """``Vectorized<float>::erf`` of ``aten/src/ATen/cpu/vec/vec256/vec256_float.h``, which is right
    to seven digits of one."""
    one = np.float32(1)
    w = one / fused(ERROR_AT, np.abs(self), one)
    exponential = np.exp(-(self * self).astype(np.float64)).astype(np.float32)
    size = fused(-exponential * w, polynomial(w, ERROR), one)
    return np.where(np.signbit(self), -size, size)


@by_blocks
def _erf(self: Array) -> Array:
    grid = _DOUBLE if self.dtype == np.float64 else _FLOAT
    h = np.clip(self, -_LAST, _LAST).astype(np.float64)
    h *= grid.per_unit
    nearest = np.rint(h)
    nearest += 0.0  # of zeros, which have a sign, the positive: the other one stays in h
    h -= nearest
    with np.errstate(invalid="ignore"):  # NaN is no place
        at = nearest.astype(np.intp)
    at += int(_LAST) * grid.per_unit
    np.maximum(at, 0, out=at)  # the first for NaN
    first, *others = reversed(_series(grid))
    sum_ = first.take(at)
    for coefficient in others:
        sum_ *= h
        sum_ += coefficient.take(at)
    return sum_.astype(self.dtype)


@cache
def _series(grid: _Grid) -> tuple[Array, ...]:
    """At each point the value, and the coefficients of ``h``, ``h**2`` …, where the next point is
    at ``h = 1``."""
    points = np.arange(_LAST * grid.per_unit + 1) / grid.per_unit
    values = np.array([math.erf(point) for point in points])
    values[0] = -0.0  # so that what is added to it keeps its sign
    slope = 2 / math.sqrt(math.pi) * np.exp(-points * points)
    before, term = np.zeros_like(points), np.ones_like(points)
    coefficients = [np.concatenate((-values[:0:-1], values))]
    for order in range(1, grid.terms + 1):
        found = slope * term / order / grid.per_unit**order
        left = found if order % 2 else -found
        coefficients.append(np.concatenate((left[:0:-1], found)))
        before, term = term, -2 * (points * term + before) / order
    return tuple(coefficients)


def inverse_error(value: float) -> float:
    """Where the error function has a value; near its ends, its complement."""
    size = abs(value)
    if math.isnan(value) or size > 1:
        return math.nan
    if size == 1 or size == 0:
        return math.copysign(math.inf if size else 0.0, value)
    rest = 1 - size  # exact, where the complement is looked for
    logarithm = math.log(rest * (1 + size))  # Winitzki's approximation
    half = 2 / (math.pi * 0.147) + logarithm / 2
    found = math.sqrt(math.sqrt(half * half - logarithm / 0.147) - half)
    for _ in range(4):  # Newton's steps
        slope = 2 / math.sqrt(math.pi) * math.exp(-found * found)
        missing = size - math.erf(found) if size < 0.5 else math.erfc(found) - rest
        found += missing / slope
    return math.copysign(found, value)
