"""Series by which special functions are computed, and functions that have another in each range.

Mirrors ``polevl`` and ``chbevl`` of ``aten/src/ATen/native/Math.h``, with the multiplications and
additions that a compiler fuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_v2.kernels.cpu.functions import (
    cephes,
)
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.tensor.elements import Array

Piece = tuple[Any, Any]
"""Where a piece of a function is, and what it is there: a number, or a function of arrays."""


def by_pieces(arrays: Sequence[Array], *pieces: Piece) -> Array:
    """A function of arrays that broadcast: in each place the first piece that is there.

    Each is computed of its own elements alone.
    """
    arrays = np.broadcast_arrays(*arrays)
    found = np.empty(arrays[0].shape, arrays[0].dtype)
    left = np.ones(found.shape, np.bool_)
    for where, piece in pieces:
        at = left & where
        if at.any():
            found[at] = piece(*(each[at] for each in arrays)) if callable(piece) else piece
        left &= ~at
    return found


def polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """The coefficient of the highest power comes first."""
    if x.dtype == np.float32:
        return cephes.polynomial(x, coefficients)
    found = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        found = fused(found, x, x.dtype.type(coefficient))
    return found


def ratio(x: Array, over: Sequence[float], under: Sequence[float]) -> Array:
    """Of two polynomials."""
    return np.asarray(polynomial(x, over) / polynomial(x, under))


def chebyshev(x: Array, coefficients: Sequence[float]) -> Array:
    """A series of Chebyshev polynomials of ``x / 2``, by Clenshaw's recurrence; the highest one
    comes first."""
    kind = x.dtype.type
    found, before = np.full_like(x, coefficients[0]), np.zeros_like(x)
    for coefficient in coefficients[1:]:
        last, before = before, found
        found = fused(x, before, -last) + kind(coefficient)
    return np.asarray(kind(0.5) * (found - last))
