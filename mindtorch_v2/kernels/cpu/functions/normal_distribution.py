"""The distribution function of the normal distribution, its inverse and its logarithm.

Mirrors ``calc_ndtri``, ``calc_log_ndtr`` and ``calc_erfcx`` of ``aten/src/ATen/native/Math.h``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import erfc, exp, log, log1p
from mindtorch_v2.kernels.cpu.functions.coefficients import series, table
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.series import by_pieces, ratio
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.tensor.elements import Array

# --- the complementary error function, scaled ------------------------------------------------

_INTERVALS: Final = 100
_FAR: Final = 50
_FARTHER: Final = 5e7
_OVERFLOWS: Final = -26.7
_NO_REST: Final = -6.1
_ROOT: Final = 1 / math.sqrt(math.pi)


def _on_intervals(x: Array) -> Array:
    """``erfcx_y100`` of what is not negative: from infinity to nought are a hundred intervals, each
    with a polynomial, which are computed in double precision."""
    kind = x.dtype.type
    place = kind(4 * _INTERVALS) / (kind(4) + x)
    interval = place.astype(np.int64)
    t = (kind(2) * place - (2 * interval + 1).astype(x.dtype)).astype(np.float64)
    rows = table("erfcx")[np.minimum(interval, _INTERVALS - 1)]
    found = rows[:, -1]
    for column in reversed(range(rows.shape[1] - 1)):
        found = fused(found, t, rows[:, column])
    return np.where(interval < _INTERVALS, found, 1).astype(x.dtype)


def _far(x: Array) -> Array:
    """Five terms of a continued fraction."""
    kind, square = x.dtype.type, x * x
    over = kind(_ROOT) * fused(square, square + kind(4.5), kind(2))
    return np.asarray(over / (x * fused(square, square + kind(5), kind(3.75))))


def _reflected(x: Array) -> Array:
    kind = x.dtype.type
    return np.asarray(kind(2) * exp(x * x) - _on_intervals(-x))


def _erfcx(self: Array) -> Array:
    kind = self.dtype.type
    return by_pieces(
        (self,),
        (np.isnan(self), np.nan),
        (self > _FARTHER, lambda x: kind(_ROOT) / x),
        (self > _FAR, _far),
        (self >= 0, _on_intervals),
        (self < _OVERFLOWS, np.inf),
        (self < _NO_REST, lambda x: kind(2) * exp(x * x)),
        (True, _reflected),
    )


# --- the logarithm ---------------------------------------------------------------------------


def _log_of_tail(t: Array) -> Array:
    return fused(-t, t, log(_erfcx(-t) / t.dtype.type(2)))


def _log_of_rest(t: Array) -> Array:
    return log1p(-erfc(t) / t.dtype.type(2))


def _log_ndtr(self: Array) -> Array:
    t = self * self.dtype.type(math.sqrt(0.5))
    return by_pieces((t,), (self < -1, _log_of_tail), (True, _log_of_rest))


# --- the inverse -----------------------------------------------------------------------------

_TAIL: Final = 0.13533528323661269189
"""``exp(-2)``: beyond it the inverse is a function of ``sqrt(-2 * log(y))``."""
_FAR_TAIL: Final = 8
_table: Final = partial(series, "ndtri")


def _middle(y: Array) -> Array:
    kind = y.dtype.type
    y = y - kind(0.5)
    square = y * y
    found = fused(y, square * ratio(square, _table("P0"), _table("Q0")), y)
    return np.asarray(found * kind(math.sqrt(2 * math.pi)))


def _in_tail(y: Array) -> Array:
    kind = y.dtype.type
    x = np.sqrt(kind(-2) * log(y))
    first = x - log(x) / x
    z = kind(1) / x
    second = by_pieces(
        (z,),
        (x < _FAR_TAIL, lambda z: z * ratio(z, _table("P1"), _table("Q1"))),
        (True, lambda z: z * ratio(z, _table("P2"), _table("Q2"))),
    )
    return np.asarray(first - second)


def _ndtri(self: Array) -> Array:
    kind = self.dtype.type
    return by_pieces(
        (self,),
        (self == 0, -np.inf),
        (self == 1, np.inf),
        ((self < 0) | (self > 1), np.nan),
        (self > kind(1) - kind(_TAIL), lambda y: _in_tail(kind(1) - y)),
        (self > kind(_TAIL), _middle),
        (True, lambda y: -_in_tail(y)),
    )


special("erfcx", _erfcx)
special("log_ndtr", _log_ndtr)
special("ndtri", _ndtri)
