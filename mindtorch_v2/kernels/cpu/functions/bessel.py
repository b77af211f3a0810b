"""Bessel functions of the first orders and their relatives.

Mirrors ``aten/src/ATen/native/Math.h``: near nought a series of powers or of Chebyshev polynomials,
far from it another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import cos, exp, log, sin
from mindtorch_v2.kernels.cpu.functions.coefficients import series
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.series import by_pieces, chebyshev, polynomial, ratio
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.kernels.elementwise.pointwise import pointwise, rounded
from mindtorch_v2.kernels.elementwise.tensor_iterator import UNARY_FLOAT_OP
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array

_NEAR: Final = 5.0
"""Up to there Bessel functions are quotients of polynomials."""
_TINY: Final = 0.00001
_TWO_OVER_PI: Final = 2 / math.pi
_SQUARED_ZEROS: Final = (
    (5.78318596294678452118, 30.4712623436620863991),
    (14.6819706421238932572, 49.2184563216946036703),
)
"""Of the first two zeros of each order."""


# --- of the first and the second kind --------------------------------------------------------


def _far(order: int, x: Array, *, second_kind: bool) -> Array:
    """Hankel's expansion: a wave, which grows weaker with the root of ``x``."""
    kind = x.dtype.type
    table = partial(series, f"bessel_{order}")
    inverse = kind(_NEAR) / x
    square = inverse * inverse if order else kind(_NEAR * _NEAR) / (x * x)
    even = ratio(square, table("PP"), table("PQ"))
    odd = inverse * ratio(square, table("QP"), table("QQ"))
    phase = x - kind((0.25 + 0.5 * order) * math.pi)
    if second_kind:
        wave = fused(even, sin(phase), odd * cos(phase))
    else:
        wave = fused(even, cos(phase), -(odd * sin(phase)))
    return np.asarray(wave * kind(math.sqrt(_TWO_OVER_PI)) / np.sqrt(x))


def _j0_near(x: Array) -> Array:
    square = x * x
    first, second = (square - x.dtype.type(zero) for zero in _SQUARED_ZEROS[0])
    over, under = (polynomial(square, series("bessel_0", name)) for name in ("RP", "RQ"))
    return np.asarray(first * second * over / under)


def _j1_near(x: Array) -> Array:
    square = x * x
    first, second = (square - x.dtype.type(zero) for zero in _SQUARED_ZEROS[1])
    over, under = (polynomial(square, series("bessel_1", name)) for name in ("RP", "RQ"))
    return np.asarray(over / under * x * first * second)


def _turned(self: Array) -> Array:
    """Not below nought; the sign of nought stays."""
    return np.where(self < 0, -self, self)


def _j0(self: Array) -> Array:
    x, kind = _turned(self), self.dtype.type
    return by_pieces(
        (x,),
        (x < kind(_TINY), lambda x: kind(1) - x * x / kind(4)),
        (x <= kind(_NEAR), _j0_near),
        (True, partial(_far, 0, second_kind=False)),
    )


def _j1(self: Array) -> Array:
    x = _turned(self)
    far = partial(_far, 1, second_kind=False)
    found = by_pieces((x,), (x <= self.dtype.type(_NEAR), _j1_near), (True, far))
    return np.where(self < 0, -found, found)


def _y0_near(x: Array) -> Array:
    square = x * x
    rest = ratio(square, series("bessel_0", "YP"), series("bessel_0", "YQ"))
    return fused(x.dtype.type(_TWO_OVER_PI) * log(x), _j0(x), rest)


def _y1_near(x: Array) -> Array:
    kind, square = x.dtype.type, x * x
    rest = ratio(square, series("bessel_1", "YP"), series("bessel_1", "YQ"))
    pole = kind(_TWO_OVER_PI) * fused(_j1(x), log(x), -(kind(1) / x))
    return fused(x, rest, pole)


def _second_kind(order: int, near: Callable[[Array], Array], self: Array) -> Array:
    return by_pieces(
        (self,),
        (self == 0, -np.inf),
        (self < 0, np.nan),
        (self <= self.dtype.type(_NEAR), near),
        (True, partial(_far, order, second_kind=True)),
    )


# --- modified --------------------------------------------------------------------------------


class _Series(NamedTuple):
    """Names of Chebyshev series of a function, of doubles and of floats."""

    of_doubles: str
    of_floats: str

    def of(self, x: Array) -> str:
        return self.of_floats if x.dtype == np.float32 else self.of_doubles


_I0: Final = _Series("i0", "i0")
_I1: Final = _Series("i1", "i1_float")
_MODIFIED_I1: Final = _Series("i1", "i1")

_GROWING_NEAR: Final = 8
_FALLING_NEAR: Final = 2


def _i(names: _Series, order: int, self: Array, *, scaled: bool = False) -> Array:
    """Odd of order one, even of order nought; ``scaled`` by an exponential it does not grow."""
    kind, name, x = self.dtype.type, names.of(self), np.abs(self)

    def near(x: Array, growth: Array) -> Array:
        found = chebyshev(x / kind(2) - kind(2), series(name, "A"))
        return growth * x * found if order else growth * found

    def far(x: Array, growth: Array) -> Array:
        return growth * chebyshev(kind(32) / x - kind(2), series(name, "B")) / np.sqrt(x)

    growth = np.ones_like(x) if scaled else exp(x)
    found = by_pieces((x, growth), (x <= _GROWING_NEAR, near), (True, far))
    return np.where(self < 0, -found, found) if order else found


def i0(self: Array) -> Array:
    """``calc_i0``."""
    return _i(_I0, 0, self)


def _i0e_of_halves(x: Array, dtype: DType) -> Array:
    """Where each step is a value of ``dtype``, and so are the coefficients."""

    def half(values: Any) -> Array:
        return rounded(np.asarray(values, np.float32), dtype)

    def near(x: Array) -> Array:
        return _chebyshev_of_halves(half(x / 2 - 2), half(series("i0", "A")), half)

    def far(x: Array) -> Array:
        found = _chebyshev_of_halves(half(half(32 / x) - 2), half(series("i0", "B")), half)
        return np.asarray(found / np.sqrt(x))

    return by_pieces((x,), (x <= _GROWING_NEAR, near), (True, far))


def _chebyshev_of_halves(x: Array, coefficients: Array, half: Callable[[Any], Array]) -> Array:
    found, before = np.full_like(x, coefficients[0]), np.zeros_like(x)
    for coefficient in coefficients[1:]:
        last, before = before, found
        found = half(half(half(x * before) - last) + coefficient)
    return half(half(found - last) / 2)


def _i0e(self: Array, dtype: DType, lanes: Array | None = None) -> Array:
    """Of halves a vector is computed in floats, and what it leaves is not."""
    found = _i(_I0, 0, self, scaled=True)
    if lanes is None:
        return found
    return np.where(lanes, found, _i0e_of_halves(np.abs(self), dtype))


def _k(order: int, self: Array, *, scaled: bool) -> Array:
    kind, name = self.dtype.type, f"k{order}"

    def near(x: Array) -> Array:
        rest = chebyshev(fused(x, x, kind(-2)), series(name, "A"))
        if order:
            found = fused(log(kind(0.5) * x), _i(_MODIFIED_I1, 1, x), rest / x)
        else:
            wide = kind if scaled else np.float64  # the precision of the logarithm
            logarithm = log(wide(0.5) * x.astype(wide))
            found = fused(-logarithm, _i(_I0, 0, x), rest).astype(x.dtype)
        return found * exp(x) if scaled else found

    def far(x: Array) -> Array:
        found = chebyshev(kind(8) / x - kind(2), series(name, "B"))
        return (found if scaled else exp(-x) * found) / np.sqrt(x)

    return by_pieces(
        (self,),
        (self == 0, np.inf),
        (self < 0, np.nan),
        (self <= _FALLING_NEAR, near),
        (True, far),
    )


# --- spherical -------------------------------------------------------------------------------

_SINC: Final = tuple(1 / math.factorial(2 * k + 1) * (-1) ** k for k in range(6, -1, -1))
"""The powers of ``x * x`` in ``sin(x) / x``."""


def _spherical_j0(self: Array) -> Array:
    return by_pieces(
        (self,),
        (np.isinf(self), 0),
        (np.abs(self) < 0.5, lambda x: polynomial(x * x, _SINC)),
        (True, lambda x: sin(x) / x),
    )


pointwise("aten::i0", i0, UNARY_FLOAT_OP, 1)

special(
    "i0e",
    _i0e,
    cases=FLOATING_TYPES | HALVES,
    prepare=lambda dtype: (dtype,),
    by_lanes=lambda dtype: dtype in HALVES,
)
special("i1", partial(_i, _I1, 1), cases=None)
special("i1e", partial(_i, _I1, 1, scaled=True), cases=None)

for _name, _compute in (
    ("bessel_j0", _j0),
    ("bessel_j1", _j1),
    ("bessel_y0", partial(_second_kind, 0, _y0_near)),
    ("bessel_y1", partial(_second_kind, 1, _y1_near)),
    ("modified_bessel_i0", partial(_i, _I0, 0)),
    ("modified_bessel_i1", partial(_i, _MODIFIED_I1, 1)),
    ("modified_bessel_k0", partial(_k, 0, scaled=False)),
    ("modified_bessel_k1", partial(_k, 1, scaled=False)),
    ("scaled_modified_bessel_k0", partial(_k, 0, scaled=True)),
    ("scaled_modified_bessel_k1", partial(_k, 1, scaled=True)),
    ("spherical_bessel_j0", _spherical_j0),
):
    special(_name, _compute)
