"""What LAPACK and BLAS compute of matrices, of whole batches at once.

Mirrors the routines ``getrf``, ``getrs``, ``trsm``, ``potrf``, ``potrs`` and ``potri``, as MKL
computes them of small matrices: the order of the operations, and which of them are rounded once.
Arrays have their matrices in the last two dimensions.  What is given stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.fused import fused
from mindtorch_v2.tensor.elements import Array

_AT_ONCE: Final = 32
"""Columns that are treated one after the other; of larger matrices the rest is a product."""
_DIVIDED: Final = 4
"""Square matrices of no more rows have their last multiplier divided, not multiplied."""


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A computation of which NumPy says nothing, whatever the numbers."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return run


def adjoint(matrices: Array) -> Array:
    return np.conj(np.swapaxes(matrices, -1, -2))


def reduced(target: Array, column: Array, row: Array) -> Array:
    """``target`` less the products of a column and a row; real ones are rounded once."""
    if target.dtype.kind == "f":
        return fused(-column, row, target)
    return np.asarray(target - column * row)


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
    rest[:] = reduced(rest, below[:, :, None], lu[:, column, None, column + 1 : end])


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
    if adjoint_of:
        turned = adjoint(lu)
        found = trsm(turned, values, upper=False)
        return permuted(trsm(turned, found, upper=True, unit=True), pivots, back=True)
    found = trsm(lu, permuted(values, pivots), upper=False, unit=True)
    return trsm(lu, found, upper=True)


# --- triangles --------------------------------------------------------------------------------


@quiet
def trsm(matrices: Array, values: Array, *, upper: bool, unit: bool = False) -> Array:
    """The solutions of ``matrices @ x = values``, of which one triangle counts.

    With ``unit`` the diagonal is ones, whatever stands there.  A block of rows is freed of all
    that was found before at once, then within itself one after the other.
    """
    batch = np.broadcast_shapes(matrices.shape[:-2], values.shape[:-2])
    found = np.array(np.broadcast_to(values, (*batch, *values.shape[-2:])))
    is_vector = values.shape[-1] == 1
    for start, stop in _blocks(matrices.shape[-1], is_vector=is_vector, upper=upper):
        rows = found[..., start:stop, :]
        before = slice(stop, None) if upper else slice(0, start)
        rows -= _sum_of_products(matrices[..., start:stop, before], found[..., before, :])
        triangle = matrices[..., start:stop, start:stop]
        _solve_block(triangle, rows, upper=upper, unit=unit, divides=is_vector)
    return found


def _blocks(size: int, *, is_vector: bool, upper: bool) -> list[tuple[int, int]]:
    """From which row on to which, in the order in which they are solved."""
    if is_vector:
        blocks = [(max(stop - 2, 0), stop) for stop in range(size, 0, -2)]
        return blocks if upper else [(size - stop, size - start) for start, stop in blocks]
    blocks, start, width = [], 0, _AT_ONCE
    while start < size:
        while start + width > size:
            width //= 2
        blocks.append((start, start + width))
        start += width
    return blocks[::-1] if upper else blocks


def _sum_of_products(matrices: Array, values: Array) -> Array:
    """A product of matrices, of small ones added up term by term."""
    inner = matrices.shape[-1]
    if inner > _AT_ONCE:
        return np.asarray(matrices @ values)
    found = np.zeros((1, 1), values.dtype)
    is_fused = values.shape[-1] > 1
    for place in range(inner):
        column, row = matrices[..., place, None], values[..., place, None, :]
        found = -reduced(-found, column, row) if is_fused else found + column * row
    return found


def _solve_block(triangle: Array, rows: Array, *, upper: bool, unit: bool, divides: bool) -> None:
    size = triangle.shape[-1]
    for place in reversed(range(size)) if upper else range(size):
        row = rows[..., place, None, :]
        if not unit:
            diagonal = triangle[..., place, place, None, None]
            row[...] = row / diagonal if divides else row * (1 / diagonal)
        left = slice(0, place) if upper else slice(place + 1, None)
        rest = rows[..., left, :]
        rest[...] = reduced(rest, triangle[..., left, place, None], row)


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
        diagonal = found[:, column, column].real
        found[info == 0, column, column] = diagonal[info == 0]
        info[~(diagonal > 0) & (info == 0)] = column + 1
        goes_on = info == 0
        _extend_triangle(found, column, goes_on)
    return found.reshape(matrices.shape), info.reshape(matrices.shape[:-2])


def _extend_triangle(found: Array, column: int, goes_on: Array) -> None:
    """One column more, and the rest less its products, where ``goes_on``."""
    chosen = found[goes_on]
    root = np.sqrt(chosen[:, column, column].real)
    chosen[:, column, column] = root
    below = chosen[:, column + 1 :, column]
    below[:] = below * (1 / root)[:, None]
    rest = chosen[:, column + 1 :, column + 1 :]
    less = reduced(rest, below[:, :, None], np.conj(below[:, None, :]))
    triangle = np.tri(rest.shape[-1], dtype=bool)
    rest[:] = np.where(triangle, less, rest)
    found[goes_on] = chosen


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
    return adjoint(inverse) @ inverse, info
