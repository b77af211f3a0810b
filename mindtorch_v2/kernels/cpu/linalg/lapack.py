"""What LAPACK and BLAS compute of matrices, of whole batches at once.

Mirrors the routines ``getrf``, ``getrs``, ``trsm``, ``potrf``, ``potrs`` and ``potri``, as MKL
computes them of small matrices on any processor: the order of the operations, what is divided, and
what is multiplied by a reciprocal.  Arrays have their matrices in the last two dimensions.  What is
given stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any, Final, TypeVar, cast

import numpy as np

from mindtorch_v2.tensor.elements import Array

Computation = TypeVar("Computation", bound=Callable[..., Any])

_AT_ONCE: Final = 32
"""Columns that are treated one after the other; of larger matrices the rest is a product."""
_BY_COLUMNS: Final = 8
"""From so many rows on, factors solve for all rows together."""
_DIVIDED: Final = 4
"""Square matrices of no more rows have their last multiplier divided, not multiplied."""


def quiet(function: Computation) -> Computation:
    """A computation of which NumPy says nothing, whatever the numbers."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return cast("Computation", run)


def adjoint(matrices: Array) -> Array:
    return np.conj(np.swapaxes(matrices, -1, -2))


def _as_batch(matrices: Array) -> Array:
    """A copy with one dimension for the batch."""
    *batch, rows, columns = matrices.shape
    return np.array(matrices.reshape(prod(batch), rows, columns), order="C")


def magnitude(values: Array) -> Array:
    """``cabs1``, by which pivots are chosen."""
    if values.dtype.kind == "c":
        return np.asarray(np.abs(values.real) + np.abs(values.imag))
    return np.abs(values)


# --- LU ---------------------------------------------------------------------------------------


@quiet
def getrf(matrices: Array) -> tuple[Array, Array, Array]:
    """Both factors in one, the rows that were exchanged (from one on), and the place of the first
    zero on the diagonal of the upper one."""
    *batch, rows, columns = matrices.shape
    lu, count = _as_batch(matrices), min(rows, columns)
    pivots = np.zeros((len(lu), count), np.int32)
    info = np.zeros(len(lu), np.int32)
    for start in range(0, count, _AT_ONCE):
        stop = min(start + _AT_ONCE, count)
        for column in range(start, stop):
            _eliminate(lu, pivots, info, column, stop if stop < count else columns)
        if stop < count:
            lower, upper = lu[:, start:, start:stop], lu[:, start:stop, stop:]
            upper[:] = trsm(lower[:, : stop - start], upper, upper=False, unit=True)
            lu[:, stop:, stop:] -= lower[:, stop - start :] @ upper
    return (
        lu.reshape(matrices.shape),
        pivots.reshape(*batch, count),
        info.reshape(batch),
    )


def _eliminate(lu: Array, pivots: Array, info: Array, column: int, end: int) -> None:
    """Exchange rows, then free the columns up to ``end`` of what is below the diagonal."""
    everywhere = np.arange(len(lu))
    pivot = column + np.argmax(magnitude(lu[:, column:, column]), axis=1)
    pivots[:, column] = pivot + 1
    moved = lu[everywhere, pivot].copy()
    lu[everywhere, pivot] = lu[:, column]
    lu[:, column] = moved
    diagonal = lu[:, column, column, None]
    info[(diagonal[:, 0] == 0) & (info == 0)] = column + 1
    below = lu[:, column + 1 :, column]
    below[:] = np.where(diagonal == 0, below, _quotients(lu, below, diagonal))
    rest = lu[:, column + 1 :, column + 1 : end]
    rest -= below[:, :, None] * lu[:, column, None, column + 1 : end]


def _quotients(lu: Array, below: Array, diagonal: Array) -> Array:
    """By the reciprocal, unless that is too large."""
    rows, columns = lu.shape[-2:]
    if rows == columns <= _DIVIDED and below.shape[1] == 1:
        return np.asarray(below / diagonal)
    is_small = np.abs(diagonal) < np.finfo(lu.dtype).tiny
    return np.where(is_small, below / diagonal, below * (1 / diagonal))


def permuted(values: Array, pivots: Array, *, back: bool = False) -> Array:
    """``laswp``: rows exchanged as a factorization has exchanged them, or ``back``."""
    *batch, rows, columns = values.shape
    found = _as_batch(values)
    count = pivots.shape[-1]
    swaps = np.broadcast_to(pivots, (*batch, count)).reshape(len(found), count) - 1
    everywhere, steps = np.arange(len(found)), range(swaps.shape[-1])
    for row in reversed(steps) if back else steps:
        other = swaps[:, row]
        moved = found[everywhere, other].copy()
        found[everywhere, other] = found[:, row]
        found[:, row] = moved
    return found.reshape(*batch, rows, columns)


@quiet
def getrs(lu: Array, pivots: Array, values: Array, *, adjoint_of: bool = False) -> Array:
    """The solutions by a factorization, of the matrices or of their adjoints."""
    by_columns = lu.shape[-1] >= _BY_COLUMNS
    if adjoint_of:
        turned = adjoint(lu)
        found = trsm(turned, values, upper=False, by_columns=by_columns)
        found = trsm(turned, found, upper=True, unit=True, by_columns=by_columns)
        return permuted(found, pivots, back=True)
    found = permuted(values, pivots)
    found = trsm(lu, found, upper=False, unit=True, by_columns=by_columns)
    return trsm(lu, found, upper=True, by_columns=by_columns)


# --- triangles --------------------------------------------------------------------------------


@quiet
def trsm(
    matrices: Array,
    values: Array,
    *,
    upper: bool,
    unit: bool = False,
    by_columns: bool | None = None,
) -> Array:
    """The solutions of ``matrices @ x = values``, of which one triangle counts.

    With ``unit`` the diagonal is ones, whatever stands there.  A row is freed at once of all that
    was found before, or, ``by_columns``, all rows of what was just found: as vectors are.
    """
    if upper:  # from the last row on, as the other triangle from the first
        turned, found = matrices[..., ::-1, ::-1], values[..., ::-1, :]
        return trsm(turned, found, upper=False, unit=unit, by_columns=by_columns)[..., ::-1, :]
    batch = np.broadcast_shapes(matrices.shape[:-2], values.shape[:-2])
    found = np.array(np.broadcast_to(values, (*batch, *values.shape[-2:])))
    by_columns = values.shape[-1] == 1 if by_columns is None else by_columns
    solve = _solve_by_columns if by_columns else _solve_by_rows
    size = matrices.shape[-1]
    for start in range(0, size, _AT_ONCE):
        stop = min(start + _AT_ONCE, size)
        rows = found[..., start:stop, :]
        solve(matrices[..., start:stop, start:stop], rows, unit=unit)
        if stop < size:
            found[..., stop:, :] -= matrices[..., stop:, start:stop] @ rows
    return found


def _solve_by_columns(triangle: Array, values: Array, *, unit: bool) -> None:
    for place in range(triangle.shape[-1]):
        row = values[..., place, None, :]
        if not unit:
            row /= triangle[..., place, place, None, None]
        values[..., place + 1 :, :] -= triangle[..., place + 1 :, place, None] * row


def _solve_by_rows(triangle: Array, values: Array, *, unit: bool) -> None:
    for place in range(triangle.shape[-1]):
        row = values[..., place, :]
        if place:
            terms = triangle[..., place, :place, None] * values[..., :place, :]
            row -= np.add.accumulate(terms, axis=-2)[..., -1, :]
        if not unit:
            row *= 1 / triangle[..., place, place, None]


# --- Cholesky ---------------------------------------------------------------------------------


@quiet
def potrf(matrices: Array, *, upper: bool) -> tuple[Array, Array]:
    """The triangle whose product with its adjoint are the matrices, and the order of the first
    leading minor that is not positive; the other triangle stays as it is."""
    if upper:
        found, info = potrf(adjoint(matrices), upper=False)
        return adjoint(found), info
    found = _as_batch(matrices)
    info = np.zeros(len(found), np.int32)
    for column in range(found.shape[-1]):
        goes_on = np.flatnonzero(info == 0)
        chosen = found[goes_on]
        is_last = _extend_triangle(chosen, column)
        found[goes_on] = chosen
        info[goes_on[is_last]] = column + 1
    return found.reshape(matrices.shape), info.reshape(matrices.shape[:-2])


def _extend_triangle(found: Array, column: int) -> Array:
    """One column more, of each matrix of a batch; for which of them it is no more than what would
    be the square on the diagonal, and not positive."""
    rest = found[:, column:, column].copy()
    for before in range(column):
        rest -= found[:, column:, before] * np.conj(found[:, column, before])[:, None]
    square = rest[:, 0].real
    is_positive = square > 0
    root = np.sqrt(square)
    found[:, column, column] = np.where(is_positive, root, square)
    below = rest[:, 1:] * (1 / root)[:, None]
    found[is_positive, column + 1 :, column] = below[is_positive]
    return np.asarray(~is_positive)


@quiet
def potrs(factors: Array, values: Array, *, upper: bool) -> Array:
    """The solutions by a Cholesky factorization."""
    lower = adjoint(factors) if upper else factors
    return trsm(adjoint(lower), trsm(lower, values, upper=False), upper=True)


@quiet
def potri(factors: Array, *, upper: bool) -> tuple[Array, Array]:
    """The inverses by a Cholesky factorization, and the place of the first zero on a diagonal,
    where there is none."""
    info = np.zeros(factors.shape[:-2], np.int32)
    for place in range(factors.shape[-1]):
        info[(factors[..., place, place] == 0) & (info == 0)] = place + 1
    lower = adjoint(factors) if upper else factors
    inverse = trsm(lower, np.eye(factors.shape[-1], dtype=factors.dtype), upper=False)
    places = np.arange(factors.shape[-1])
    end = places[-1:]  # none of a matrix of nothing
    last = inverse[..., end, end]
    inverse[..., places, places] = inverse[..., places, places].real  # as a factor's are
    found = adjoint(inverse) @ inverse
    found[..., places, places] = found[..., places, places].real
    found[..., end, end] = (np.conj(last) if upper else last) * last.real  # which LAPACK leaves out
    return found, info
