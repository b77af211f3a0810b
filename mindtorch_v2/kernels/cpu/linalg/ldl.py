"""Factors of symmetric and Hermitian matrices: a lower triangle, a diagonal of blocks, the first
one's transpose.

Mirrors ``linalg_ldl_factor_ex`` and ``linalg_ldl_solve`` of
``aten/src/ATen/native/BatchLinearAlgebra.cpp``, and LAPACK's ``sytrf``, ``hetrf``, ``sytrs`` and
``hetrs`` by the method of Bunch and Kaufman.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg.lapack import magnitude, quiet
from mindtorch_v2.kernels.cpu.linalg.lu import set_factors, set_info, set_pivots
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    broadcast_batch_sizes,
    check_floating_or_complex,
    check_linear_solve,
    check_matrices,
    check_square,
    column_major_strides,
    write,
)
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch_over
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_COPY_: Final = OperatorHandle("aten::copy_")
_LOOKS_AT_PIVOTS: Final = HABITS["ldl_solve looks at its pivots"]
_ALPHA: Final = (1 + math.sqrt(17)) / 8
"""A diagonal element is large enough if it is such a part of what is below it."""


@structured.structured("aten::linalg_ldl_factor_ex", outputs=3)
def linalg_ldl_factor_ex(
    outputs: Outputs, self: Tensor, hermitian: bool, check_errors: bool
) -> tuple[Tensor, ...]:
    name = "torch.linalg.ldl_factor_ex"
    check_square(self, name)
    check_floating_or_complex(self, name)
    sizes = tuple(self._sizes)
    factors = set_factors(outputs[0], self, sizes)
    pivots = set_pivots(outputs[1], self, sizes)
    info = set_info(outputs[2], self, sizes)
    if factors.is_meta:
        return factors, pivots, info
    if not numel(self._sizes):
        copying.zero(info)
        return factors, pivots, info
    dispatch_over(COMPUTED, "ldl_factor_kernel_cpu", self._dtype)
    found = _factored(value_array(self), hermitian=hermitian and self._dtype.is_complex)
    for output, part in zip((factors, pivots, info), found, strict=True):
        write(output, part)
    if check_errors:
        check_matrices(info, name, self)
    return factors, pivots, info


@quiet
def _factored(matrices: Array, *, hermitian: bool) -> tuple[Array, Array, Array]:
    """Of each matrix the factors in one, which rows were exchanged, the first zero pivot.

    Two rows that make one block have the negative number of a row, both of them.
    """
    size = matrices.shape[-1]
    factors = np.tril(matrices).reshape(-1, size, size)
    pivots = np.zeros((len(factors), size), np.int32)
    info = np.zeros(len(factors), np.int32)
    for place, (matrix, places) in enumerate(zip(factors, pivots, strict=True)):
        info[place] = _factor(matrix, places, hermitian=hermitian)
    batch = matrices.shape[:-2]
    return factors.reshape(matrices.shape), pivots.reshape(*batch, size), info.reshape(batch)


def _factor(matrix: Array, pivots: Array, *, hermitian: bool) -> int:
    size, start, info = len(matrix), 0, 0
    while start < size:
        width, other = _pivot(matrix, start, hermitian=hermitian)
        if not width:  # nothing is left in the column
            info = info or start + 1
            width, other = 1, start
            if hermitian:
                matrix[start, start] = matrix[start, start].real
        else:
            _exchange(matrix, start, start + width - 1, other, hermitian=hermitian)
            (_reduce if width == 1 else _reduce_by_two)(matrix, start, hermitian=hermitian)
        pivots[start : start + width] = other + 1 if width == 1 else -(other + 1)
        start += width
    return info


def _pivot(matrix: Array, start: int, *, hermitian: bool) -> tuple[int, int]:
    """How many rows make the next block, zero if none can, and the row that comes to its end."""
    diagonal = magnitude(matrix[start, start].real if hermitian else matrix[start, start])
    below = magnitude(matrix[start + 1 :, start])
    largest = below.max(initial=0)
    if max(diagonal, largest) == 0 or np.isnan(diagonal):
        return 0, start
    if diagonal >= _ALPHA * largest:
        return 1, start
    row = start + 1 + int(below.argmax())
    beside = magnitude(matrix[row, start:row]).max(initial=0)
    others = max(beside, magnitude(matrix[row + 1 :, row]).max(initial=0))
    if diagonal >= _ALPHA * largest * (largest / others):
        return 1, start
    own = matrix[row, row].real if hermitian else matrix[row, row]
    return (1, row) if magnitude(own) >= _ALPHA * others else (2, row)


def _exchange(matrix: Array, start: int, one: int, two: int, *, hermitian: bool) -> None:
    """Rows and columns, of which there is but the lower triangle, from ``start`` on."""
    if hermitian:
        for place in {start, one, two}:
            matrix[place, place] = matrix[place, place].real
    if one == two:
        return
    flip = np.conj if hermitian else np.asarray
    matrix[[one, two], start:one] = matrix[[two, one], start:one]
    matrix[two + 1 :, [one, two]] = matrix[two + 1 :, [two, one]]
    column, row = matrix[one + 1 : two, one].copy(), matrix[two, one + 1 : two].copy()
    matrix[one + 1 : two, one], matrix[two, one + 1 : two] = flip(row), flip(column)
    matrix[one, one], matrix[two, two] = matrix[two, two], matrix[one, one]
    matrix[two, one] = flip(matrix[two, one])


def _reduce(matrix: Array, start: int, *, hermitian: bool) -> None:
    """The rest, less what a block of one row accounts for."""
    flip = np.conj if hermitian else np.asarray
    column = matrix[start + 1 :, start]
    diagonal = matrix[start, start].real if hermitian else matrix[start, start]
    inverse = 1 / diagonal
    rest = matrix[start + 1 :, start + 1 :]
    rest -= np.tril(inverse * np.outer(column, flip(column)))
    _make_real(rest, hermitian=hermitian)
    column *= inverse


def _reduce_by_two(matrix: Array, start: int, *, hermitian: bool) -> None:
    """The same for a block of two rows."""
    flip = np.conj if hermitian else np.asarray
    first, second = matrix[start + 2 :, start].copy(), matrix[start + 2 :, start + 1].copy()
    if not len(first):
        return
    beside = matrix[start + 1, start]
    scale = np.abs(beside) if hermitian else beside
    upper, lower = matrix[start + 1, start + 1] / scale, matrix[start, start] / scale
    if hermitian:
        upper, lower = upper.real, lower.real
        turn = beside / scale
        factor = 1 / (upper * lower - 1) / scale
        one = factor * (upper * first - turn * second)
        two = factor * (lower * second - np.conj(turn) * first)
    else:
        factor = 1 / (upper * lower - 1) / scale
        one = factor * (upper * first - second)
        two = factor * (lower * second - first)
    rest = matrix[start + 2 :, start + 2 :]
    rest -= np.tril(np.outer(first, flip(one)) + np.outer(second, flip(two)))
    _make_real(rest, hermitian=hermitian)
    matrix[start + 2 :, start], matrix[start + 2 :, start + 1] = one, two


def _make_real(matrix: Array, *, hermitian: bool) -> None:
    """The diagonal, which has no imaginary part."""
    if hermitian:
        places = np.arange(len(matrix))
        matrix[places, places] = matrix[places, places].real


# --- solutions --------------------------------------------------------------------------------


@structured.structured("aten::linalg_ldl_solve")
def linalg_ldl_solve(
    outputs: Outputs, ld: Tensor, pivots: Tensor, b: Tensor, hermitian: bool
) -> tuple[Tensor, ...]:
    _check_solve(ld, pivots, b)
    shape, _ = broadcast_batch_sizes(b, ld)
    result = set_output(outputs[0], shape, b._dtype, b._device, column_major_strides(shape))
    if not result.is_meta and numel(ld._sizes) and numel(pivots._sizes):
        arrays = (value_array(ld), value_array(pivots), value_array(b))
        if _LOOKS_AT_PIVOTS:
            _check_pivots(arrays[1], ld._sizes[-2])
        dispatch_over(COMPUTED, "ldl_solve_kernel_cpu", ld._dtype)
        if result._strides == column_major_strides(shape):  # or else it is copied to at the end
            _COPY_(result, b)
        is_hermitian = hermitian and ld._dtype.is_complex
        write(result, _solved(*arrays, hermitian=is_hermitian))
    return (result,)


def _check_pivots(pivots: Array, size: int) -> None:
    for is_right, bound in (
        (np.abs(pivots) >= 1, ">= 1"),
        (np.abs(pivots) <= size, "<= LD.size(-2)"),
    ):
        if not is_right.all():
            raise RuntimeError(
                f"Pivots given to ldl_solve must all satisfy |pivot| {bound}. Did you properly "
                "pass the result of ldl_factor?"
            )


def _check_solve(ld: Tensor, pivots: Tensor, b: Tensor) -> None:
    name = "torch.linalg.ldl_solve"
    check_square(ld, name)
    check_floating_or_complex(ld, name)
    check_linear_solve(b, ld, name)
    if len(b._sizes) < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {len(b._sizes)} "
            "dimensions instead"
        )
    if tuple(ld._sizes[:-1]) != tuple(pivots._sizes):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots._sizes)} instead"
        )
    if not is_integral(pivots._dtype) or pivots._dtype is DTYPES["bool"]:
        raise RuntimeError(
            f"{name}: Expected pivots to be integers. Got {CPP_NAMES[pivots._dtype]}"
        )


@quiet
def _solved(factors: Array, pivots: Array, values: Array, *, hermitian: bool) -> Array:
    size = factors.shape[-1]
    batch = np.broadcast_shapes(factors.shape[:-2], values.shape[:-2])
    matrices = np.broadcast_to(factors, (*batch, size, size)).reshape(-1, size, size)
    places = np.broadcast_to(pivots, (*batch, size)).reshape(-1, size)
    found = np.array(np.broadcast_to(values, (*batch, *values.shape[-2:])))
    for matrix, rows, columns in zip(
        matrices, places, found.reshape(-1, *values.shape[-2:]), strict=True
    ):
        _solve(matrix, rows, columns, hermitian=hermitian)
    return found


def _solve(matrix: Array, pivots: Array, values: Array, *, hermitian: bool) -> None:
    blocks = []
    start = 0
    while start < len(matrix):
        width = 1 if pivots[start] > 0 else 2
        blocks.append((start, start + width))
        _go_down(matrix, pivots, values, start, start + width, hermitian=hermitian)
        start += width
    flip = np.conj if hermitian else np.asarray
    for start, stop in reversed(blocks):
        below = flip(matrix[stop:, start:stop])
        values[start:stop] -= below.T @ values[stop:]
        _swap(values, stop - 1, pivots)


def _swap(values: Array, row: int, pivots: Array) -> None:
    other = abs(int(pivots[row])) - 1
    values[[row, other]] = values[[other, row]]


def _go_down(
    matrix: Array, pivots: Array, values: Array, start: int, stop: int, *, hermitian: bool
) -> None:
    """What is below a block is freed of it, then the block is divided by."""
    _swap(values, stop - 1, pivots)
    values[stop:] -= matrix[stop:, start:stop] @ values[start:stop]
    if stop - start == 1:
        diagonal = matrix[start, start].real if hermitian else matrix[start, start]
        values[start] *= 1 / diagonal
        return
    beside = matrix[start + 1, start]
    other = np.conj(beside) if hermitian else beside
    upper, lower = matrix[start, start] / other, matrix[start + 1, start + 1] / beside
    determinant = upper * lower - 1
    one, two = values[start] / other, values[start + 1] / beside
    values[start] = (lower * one - two) / determinant
    values[start + 1] = (upper * two - one) / determinant
