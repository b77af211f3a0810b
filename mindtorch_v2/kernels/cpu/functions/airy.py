"""Airy's function Ai.

Mirrors ``airy_ai_forward`` of ``aten/src/ATen/native/Math.h``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import cos, exp, sin
from mindtorch_v2.kernels.cpu.functions.coefficients import series
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.series import by_pieces, polynomial, ratio
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.tensor.elements import Array

_ROOT: Final = 1 / math.sqrt(math.pi)
_FAR: Final = 2.09
"""From there on, in both directions, quotients of polynomials."""
_NOTHING: Final = 103.892
_AT_NOUGHT: Final = (0.355028053887817239260, 0.258819403792806798405)
"""The function's value and its falling slope."""

_table: Final = partial(series, "airy_ai")


def _waves(x: Array) -> Array:
    kind = x.dtype.type
    zeta = kind(-2) * x * np.sqrt(-x) / kind(3)
    z = kind(1) / zeta
    square = z * z
    afn, afd, agn, agd = (polynomial(square, _table(name)) for name in ("AFN", "AFD", "AGN", "AGD"))
    even = kind(1) + square * afn / afd
    odd = z * agn / agd
    phase = zeta + kind(0.25 * math.pi)
    wave = fused(sin(phase), even, -(cos(phase) * odd))
    return np.asarray(kind(_ROOT) / np.sqrt(np.sqrt(-x)) * wave)


def _falls(x: Array) -> Array:
    kind = x.dtype.type
    zeta = kind(2) * x * np.sqrt(x) / kind(3)
    found = kind(_ROOT) * ratio(kind(1) / zeta, _table("AN"), _table("AD"))
    return np.asarray(found / (kind(2) * np.sqrt(np.sqrt(x)) * exp(zeta)))


def _near(x: Array) -> Array:
    """Both solutions' power series, for as long as a term of the first one counts."""
    kind = x.dtype.type
    cube = x * x * x
    f, g = np.ones_like(x), x.copy()
    term, other = f.copy(), x.copy()
    at = np.arange(x.size)
    k = 1
    while at.size:
        z = cube[at]
        term = term * z / kind(k + 1)
        other = other * z / kind(k + 2)
        term, other = term / kind(k + 2), other / kind(k + 3)
        f[at] += term
        g[at] += other
        k += 3
        goes_on = np.abs(term / f[at]) > np.finfo(kind).eps
        at, term, other = at[goes_on], term[goes_on], other[goes_on]
    value, slope = map(kind, _AT_NOUGHT)
    return fused(value, f, -(slope * g))


def _airy_ai(self: Array) -> Array:
    kind = self.dtype.type
    return by_pieces(
        (self,),
        (np.isinf(self), np.nan),
        (self > kind(_NOTHING), 0),
        (self < kind(-_FAR), _waves),
        (self >= kind(_FAR), _falls),
        (True, _near),
    )


special("airy_ai", _airy_ai)
