"""Factors of matrices, with rows exchanged: a lower triangle times an upper one.

Mirrors ``linalg_lu_factor_ex``, ``linalg_lu``, ``lu_unpack`` and ``linalg_lu_solve`` of
``aten/src/ATen/native/BatchLinearAlgebra.cpp`` and their kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg import (
    lapack,
)
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    INT32,
    broadcast_batch_sizes,
    check_floating_or_complex,
    check_matrices,
    check_solver,
    check_square,
    column_major_strides,
    two_dtypes,
    write,
)
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.support import has_words, refused_as
from mindtorch_v2.tensor.tensor import Tensor

_CONJUGATE: Final = functionality_bit(DispatchKey.Conjugate)
_ASKS: Final = "Did you properly pass the result of lu_factor?"


def _check_rank(tensor: Tensor, function: str) -> None:
    if len(tensor._sizes) < 2:
        raise RuntimeError(
            f"{function}: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(tensor._sizes)} instead"
        )


def set_info(given: Tensor | None, like: Tensor, sizes: Sequence[int]) -> Tensor:
    """What LAPACK informs of: a number for each matrix."""
    return set_output(given, sizes[:-2], INT32, like._device)


def set_factors(given: Tensor | None, like: Tensor, sizes: Sequence[int]) -> Tensor:
    """The place for matrices of these sizes, which LAPACK wants column by column."""
    return set_output(given, sizes, like._dtype, like._device, column_major_strides(sizes))


def set_pivots(given: Tensor | None, like: Tensor, sizes: Sequence[int]) -> Tensor:
    """Which rows are exchanged: a number for each row, or column if these are fewer."""
    return set_output(given, (*sizes[:-2], min(sizes[-2:])), INT32, like._device)


def factored(matrices: Tensor, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    """``lu_factor_stub`` of matrices that have elements."""
    dispatch_over(COMPUTED, "lu_cpu", matrices._dtype)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return lapack.getrf(value_array(matrices))


@structured.structured("aten::linalg_lu_factor_ex", outputs=3)
def linalg_lu_factor_ex(
    outputs: Outputs, a: Tensor, pivot: bool, check_errors: bool
) -> tuple[Tensor, ...]:
    _check_rank(a, "torch.lu_factor")
    sizes = tuple(a._sizes)
    factors = set_factors(outputs[0], a, sizes)
    pivots = set_pivots(outputs[1], a, sizes)
    info = set_info(outputs[2], a, sizes)
    if factors.is_meta:
        return factors, pivots, info
    if not numel(a._sizes):
        copying.zero(info)
        return factors, pivots, info
    for output, found in zip((factors, pivots, info), factored(a, pivot=pivot), strict=True):
        write(output, found)
    if check_errors:
        check_matrices(info, "torch.linalg.lu_factor_ex", a)
    return factors, pivots, info


# --- the factors apart ------------------------------------------------------------------------


def _set_parts(
    outputs: Outputs, like: Tensor, *, has_data: bool = True, has_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The places for the permutation and both triangles, of no elements for what is not asked."""
    *batch, rows, columns = like._sizes
    count = min(rows, columns)
    shapes = (
        (*batch, rows, rows) if has_pivots else (0,),
        (*batch, rows, count) if has_data else (0,),
        (*batch, count, columns) if has_data else (0,),
    )
    one, two, three = (
        set_output(given, shape, like._dtype, like._device)
        for given, shape in zip(outputs, shapes, strict=True)
    )
    return one, two, three


def _store_triangles(lower: Tensor, upper: Tensor, factors: Array) -> None:
    count = min(factors.shape[-2:])
    one = np.tril(factors[..., :count], -1)
    diagonal = np.arange(count)
    one[..., diagonal, diagonal] = 1
    write(lower, one)
    write(upper, np.triu(factors[..., :count, :]))


def _store_permutation(permutation: Tensor, pivots: Array, columns: int) -> None:
    """As a matrix: the rows of the lower triangle go back to where they were.

    Of the pivots a factor has one for each row or column, whichever are fewer; what is behind these
    nobody reads, and where there are fewer torch reads on.
    """
    rows = permutation._sizes[-1]
    count = min(rows, columns)
    pivots = pivots[..., :count]
    if pivots.shape[-1] < count or ((pivots < 1) | (pivots > rows)).any():
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive." + _ASKS
        )
    identity = np.broadcast_to(np.eye(rows), tuple(permutation._sizes))
    write(permutation, lapack.permuted(identity, pivots, back=True))


def _check_pivots(factors_of_a: Tensor, pivots: Tensor) -> None:
    """In releases that look at their shape."""
    *batch, rows, columns = factors_of_a._sizes
    wanted, given = [*batch, min(rows, columns)], list(pivots._sizes)
    if given != wanted and has_words(_OTHER_PIVOTS):
        told = f"Expected LU_pivots to have shape {wanted} but got {given} instead."
        raise refused_as(_OTHER_PIVOTS, told)


_OTHER_PIVOTS: Final = "lu_unpack of other pivots"


@structured.structured("aten::lu_unpack", outputs=3)
def lu_unpack(
    outputs: Outputs, factors_of_a: Tensor, pivots: Tensor, unpack_data: bool, unpack_pivots: bool
) -> tuple[Tensor, ...]:
    _check_rank(factors_of_a, "torch.lu_unpack")
    if unpack_pivots and pivots._dtype is not INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    factors = value_array(factors_of_a).copy() if unpack_data and not factors_of_a.is_meta else None
    parts = _set_parts(outputs, factors_of_a, has_data=unpack_data, has_pivots=unpack_pivots)
    if not factors_of_a.is_meta:
        if factors is not None:
            _store_triangles(*parts[1:], factors)
        if unpack_pivots:
            _check_pivots(factors_of_a, pivots)
            _store_permutation(parts[0], value_array(pivots), factors_of_a._sizes[-1])
    return parts


@structured.structured("aten::linalg_lu", outputs=3)
def linalg_lu(outputs: Outputs, a: Tensor, pivot: bool) -> tuple[Tensor, ...]:
    _check_rank(a, "linalg.lu")
    parts = _set_parts(outputs, a, has_pivots=pivot)
    if not a.is_meta:
        factors, pivots = value_array(a), np.zeros((*a._sizes[:-2], min(a._sizes[-2:])), np.int32)
        if numel(a._sizes):
            factors, pivots, _ = factored(a, pivot=pivot)
        _store_triangles(*parts[1:], factors)
        if pivot:
            _store_permutation(parts[0], pivots, a._sizes[-1])
    return parts


# --- solutions by the factors -----------------------------------------------------------------


def set_solution(
    given: Tensor | None, shape: tuple[int, ...], like: Tensor, *, left: bool
) -> Tensor:
    """The place for solutions, of which LAPACK has the adjoints where ``left`` is false."""
    strides = column_major_strides(shape) if left else contiguous_strides(shape)
    return set_output(given, shape, like._dtype, like._device, strides)


def solve_into(
    result: Tensor, factors: Array, pivots: Array, values: Array, *, left: bool, adjoint: bool
) -> None:
    """``linalg_lu_solve_out``: of what is multiplied from the left, or else from the right.

    From the right LAPACK finds the adjoint, which is not conjugated but marked as such.
    """
    if not numel(result._sizes):
        return
    if left:
        write(result, lapack.getrs(factors, pivots, values, adjoint_of=adjoint))
        return
    found = lapack.getrs(factors, pivots, lapack.adjoint(values), adjoint_of=not adjoint)
    is_own = result._strides == contiguous_strides(result._sizes)  # and no copy is made of it
    if is_own and result._dtype.is_complex:
        write(result, np.swapaxes(found, -1, -2))
        forget(result)._keys ^= _CONJUGATE
    else:
        write(result, lapack.adjoint(found))


@structured.structured("aten::linalg_lu_solve")
def linalg_lu_solve(
    outputs: Outputs, factors_of_a: Tensor, pivots: Tensor, b: Tensor, left: bool, adjoint: bool
) -> tuple[Tensor, ...]:
    _check_lu_solve(factors_of_a, pivots, b, left=left)
    shape, _ = broadcast_batch_sizes(b, factors_of_a)
    result = set_solution(outputs[0], shape, b, left=left)
    if not result.is_meta and numel(shape):
        places = value_array(pivots)
        if not (places > 0).all():
            raise RuntimeError(
                f"Pivots given to lu_solve must all be greater or equal to 1. {_ASKS}"
            )
        if not (places <= factors_of_a._sizes[-2]).all():
            raise RuntimeError(
                f"Pivots given to lu_solve must all be smaller or equal to LU.size(-2). {_ASKS}"
            )
        dispatch_over(COMPUTED, "linalg.lu_solve_cpu", factors_of_a._dtype)
        arrays = (value_array(factors_of_a), places, value_array(b))
        solve_into(result, *arrays, left=left, adjoint=adjoint)
    return (result,)


def _check_lu_solve(factors_of_a: Tensor, pivots: Tensor, b: Tensor, *, left: bool) -> None:
    name = "linalg.lu_solve"
    check_floating_or_complex(factors_of_a, f"torch.{name}")
    if factors_of_a._dtype is not b._dtype:
        raise two_dtypes(name, ("LU", factors_of_a), ("B", b))
    if pivots._dtype is not INT32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(factors_of_a, f"torch.{name}")
    check_solver(factors_of_a, b, name, left=left)
    if factors_of_a._sizes[-1] != size_at(pivots, -1):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if tuple(factors_of_a._sizes[:-1]) != tuple(pivots._sizes):
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots._sizes)} instead"
        )
