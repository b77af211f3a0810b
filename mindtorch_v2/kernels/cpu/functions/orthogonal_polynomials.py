"""Chebyshev's, Hermite's, Laguerre's and Legendre's polynomials.

Mirrors ``aten/src/ATen/native/Math.h``: each follows from the two before it.  Chebyshev's of a high
degree are waves between minus one and one, and so they are computed there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import acos, cos, sin
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.series import by_pieces
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.tensor.elements import Array

Step = Callable[[Array, int, Array, Array], Array]
"""From the argument, a degree and the polynomials of it and of the one before, the next one."""
_Degrees = Callable[[Array], Array]
"""Of each degree a value."""


def _by_recurrence(first: Callable[[Array], Array], step: Step, x: Array, n: Array) -> Array:
    """The polynomials of degrees ``n``, of which ``first`` is that of degree one."""
    found = np.ones_like(x)
    before, last, k = np.ones_like(x), first(x), 1
    at = np.arange(x.size)
    while at.size:
        is_there = n == k
        found[at[is_there]] = last[is_there]
        goes_on = n > k
        at, x, n, before, last = (each[goes_on] for each in (at, x, n, before, last))
        before, last = last, step(x, k, last, before)
        k += 1
    return found


def _degrees(n: Array) -> Array:
    """Whole numbers; what an integer of 64 bits cannot be is the least of these, which no
    polynomial has."""
    return n.astype(np.int64)


# --- Chebyshev -------------------------------------------------------------------------------


def _one(n: Array) -> Array:
    return np.ones_like(n)


def _next(n: Array) -> Array:
    return n + 1


def _odd(n: Array) -> Array:
    return n + n + 1


def _alternating(values: _Degrees, n: Array) -> Array:
    return np.where(n % 2 == 0, values(n), -values(n))


class _Ends(NamedTuple):
    """The values at one and, but for their sign, at minus one."""

    upper: _Degrees
    lower: _Degrees


def _wave_t(x: Array, n: Array) -> Array:
    return cos(n.astype(x.dtype) * acos(x))


def _wave_u(x: Array, n: Array) -> Array:
    angle, sine = (n + 1).astype(x.dtype) * acos(x), sin(acos(x))
    at_end = (n + 1).astype(x.dtype) * cos(angle) / x
    return np.where(sine != 0, sin(angle) / sine, at_end)


def _wave_v(ends: _Ends, x: Array, n: Array) -> Array:
    angle, half = acos(x), acos(x) / x.dtype.type(2)
    at_end = _alternating(ends.lower, n).astype(x.dtype)
    wave = cos((n.astype(x.dtype) + x.dtype.type(0.5)) * angle) / cos(half)
    return np.where(sin(half) != 1, wave, at_end)


def _wave_w(at_end: Callable[[Array, Array], Array], x: Array, n: Array) -> Array:
    angle, half = acos(x), acos(x) / x.dtype.type(2)
    wave = sin((n.astype(x.dtype) + x.dtype.type(0.5)) * angle) / sin(half)
    return np.where(cos(half) != 1, wave, at_end(x, n).astype(x.dtype))


_T: Final = _Ends(_one, _one)
_U: Final = _Ends(_next, _next)
_V: Final = _Ends(_one, _odd)
_W: Final = _Ends(_odd, _one)


def _upper_of_w(x: Array, n: Array) -> Array:
    return np.where(x > 0, _odd(n), _alternating(_one, n))


def _lower_of_w(x: Array, n: Array) -> Array:
    """Those of shifted polynomials answer at one end what they have at the other."""
    return _alternating(_one, n)


def _chebyshev_step(x: Array, k: int, last: Array, before: Array) -> Array:
    return fused(x + x, last, -before)


@dataclass(frozen=True)
class _Chebyshev:
    """One kind: ``first`` is added to ``x + x`` for degree one, ``wave`` is for higher degrees than
    ``waves_from`` and ``shifted_waves_from``."""

    ends: _Ends
    first: Callable[[Array], Array]
    wave: Callable[[Array, Array], Array]
    shifted_wave: Callable[[Array, Array], Array]
    waves_from: int
    shifted_waves_from: int = 6

    def __call__(self, x: Array, n: Array) -> Array:
        n = _degrees(n)
        ends = (x == 1, x == -1)
        return self._of(x, n, ends, self.wave, self.waves_from)

    def shifted(self, x: Array, n: Array) -> Array:
        """From nought to one, as the other is from minus one."""
        n = _degrees(n)
        ends = (x == 1, x == 0)
        inner = x + x - x.dtype.type(1)
        return self._of(inner, n, ends, self.shifted_wave, self.shifted_waves_from)

    def _of(
        self,
        x: Array,
        n: Array,
        ends: tuple[Any, Any],
        wave: Callable[[Array, Array], Array],
        waves_from: int,
    ) -> Array:
        upper, lower = ends
        return by_pieces(
            (x, n),
            (n < 0, 0),
            (upper, lambda _, n: self.ends.upper(n)),
            (lower, lambda _, n: _alternating(self.ends.lower, n)),
            ((n > waves_from) & (np.abs(x) < 1), wave),
            (True, partial(_by_recurrence, self.first, _chebyshev_step)),
        )


for _letter, _kind in {
    "t": _Chebyshev(_T, lambda x: x, _wave_t, _wave_t, 6),
    "u": _Chebyshev(_U, lambda x: x + x, _wave_u, _wave_u, 8),
    "v": _Chebyshev(
        _V, lambda x: x + x - x.dtype.type(1), partial(_wave_v, _V), partial(_wave_v, _V), 8
    ),
    "w": _Chebyshev(
        _W,
        lambda x: x + x + x.dtype.type(1),
        partial(_wave_w, _upper_of_w),
        partial(_wave_w, _lower_of_w),
        8,
        4,
    ),
}.items():
    special(f"chebyshev_polynomial_{_letter}", _kind, 2)
    special(f"shifted_chebyshev_polynomial_{_letter}", _kind.shifted, 2)


# --- others ----------------------------------------------------------------------------------


def _hermite_h_step(x: Array, k: int, last: Array, before: Array) -> Array:
    return fused(x + x, last, -(x.dtype.type(k + k) * before))


def _hermite_he_step(x: Array, k: int, last: Array, before: Array) -> Array:
    return fused(x, last, -(x.dtype.type(k) * before))


def _laguerre_step(x: Array, k: int, last: Array, before: Array) -> Array:
    kind = x.dtype.type
    weight = kind(k + k) + (kind(1) - x)
    return np.asarray(fused(weight, last, -(kind(k) * before)) / kind(k + 1))


def _legendre_step(x: Array, k: int, last: Array, before: Array) -> Array:
    kind = x.dtype.type
    return np.asarray(fused(kind(k + k + 1) * x, last, -(kind(k) * before)) / kind(k + 1))


def _hermite(first: Callable[[Array], Array], step: Step, x: Array, n: Array) -> Array:
    n = _degrees(n)
    return by_pieces((x, n), (n < 0, 0), (True, partial(_by_recurrence, first, step)))


def _laguerre_l(x: Array, n: Array) -> Array:
    n = _degrees(n)
    return by_pieces(
        (x, n),
        (n < 0, 0),
        (x == 0, 1),
        (True, partial(_by_recurrence, lambda x: x.dtype.type(1) - x, _laguerre_step)),
    )


def _legendre_p(x: Array, n: Array) -> Array:
    n = _degrees(n)
    return by_pieces(
        (x, n),
        (n < 0, 0),
        (x == 1, 1),
        (x == -1, lambda _, n: _alternating(_one, n)),
        (True, partial(_by_recurrence, lambda x: x, _legendre_step)),
    )


special("hermite_polynomial_h", partial(_hermite, lambda x: x + x, _hermite_h_step), 2)
special("hermite_polynomial_he", partial(_hermite, lambda x: x, _hermite_he_step), 2)
special("laguerre_polynomial_l", _laguerre_l, 2)
special("legendre_polynomial_p", _legendre_p, 2)
