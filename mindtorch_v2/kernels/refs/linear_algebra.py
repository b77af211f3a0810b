"""The reference functions of factors, solutions, inverses and determinants.

Mirrors functions of ``torch/_meta_registrations.py``, whose checks have words of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    INT32,
    check_sizes_of_system,
    column_major_strides,
    is_column_major,
    is_vector_rhs,
)
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes, set_sizes_and_strides
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import broadcast_shapes, is_integer
from mindtorch_v2.kernels.refs.wrappers import resize_out, written_out
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import as_called

_META: Final = "torch._meta_registrations."
_MT: Final = OperatorHandle("aten::mT")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EXPAND: Final = OperatorHandle("aten::expand")
_CONJ: Final = OperatorHandle("aten::_conj")
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]

_ARE_ASSERTED: Final = HABITS["square matrices on meta are asserted"]
_ARE_COUNTED: Final = HABITS["the dimensions of no matrix are told on meta"]


# --- checks -----------------------------------------------------------------------------------


def check_square(tensor: Tensor, function: str) -> None:
    rank = len(tensor._sizes)
    if rank < 2:
        told = f", got {rank}" if _ARE_COUNTED else "."
        raise AssertionError(f"{function}: The input tensor must have at least 2 dimensions{told}")
    rows, columns = tensor._sizes[-2:]
    if rows != columns:
        error = AssertionError if _ARE_ASSERTED else RuntimeError
        raise error(
            f"{function}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def check_floating(tensor: Tensor, function: str, *, halves: bool = True) -> None:
    dtype = tensor._dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"{function}: Expected a floating point or complex tensor as input. Got {dtype}"
        )
    if not halves and dtype not in COMPUTED:
        raise RuntimeError(f"{function}: Low precision dtypes not supported. Got {dtype}")


def _check_solver(a: Tensor, b: Tensor, function: str, *, left: bool) -> None:
    check_square(a, function)
    if len(b._sizes) < 2:
        raise RuntimeError(f"{function}: The input tensor A must have at least 2 dimensions.")
    place = -2 if left else -1
    if a._sizes[place] != b._sizes[place]:
        (rows, columns), (others, more) = a._sizes[-2:], b._sizes[-2:]
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({rows}x{columns} and {others}x{more})"
        )


def _check_linear_solve(b: Tensor, a: Tensor, function: str) -> None:
    if b._device != a._device:
        raise RuntimeError(
            f"Expected b and A to be on the same device, but found b on {b._device} and A on "
            f"{a._device} instead."
        )
    if b._dtype is not a._dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {b._dtype} and A of "
            f"type {a._dtype} instead."
        )
    check_sizes_of_system(b, a, function)


def _check_rank(tensor: Tensor, function: str) -> tuple[int, int]:
    if len(tensor._sizes) < 2:
        raise RuntimeError(
            f"{function}: Expected tensor with 2 or more dimensions. Got size: {tensor._sizes} "
            "instead"
        )
    rows, columns = tensor._sizes[-2:]
    return rows, columns


def _check_pivots(pivots: Tensor, factors: Tensor, name: str, function: str) -> None:
    if tuple(factors._sizes[:-1]) != tuple(pivots._sizes):
        raise RuntimeError(
            f"{function}: Expected {name}.shape[:-1] and pivots.shape to be the same, but got "
            f"pivots with shape {pivots._sizes} instead"
        )


# --- results ----------------------------------------------------------------------------------


def _new(like: Tensor, sizes: Sequence[int], dtype: DType | None = None) -> Tensor:
    return new_tensor(sizes, dtype or like._dtype, like._device)


def _factors(like: Tensor, sizes: Sequence[int] | None = None) -> Tensor:
    """An empty tensor, its matrices column by column."""
    wanted = like._sizes if sizes is None else sizes
    return new_tensor(wanted, like._dtype, like._device, column_major_strides(wanted))


def _info(like: Tensor) -> Tensor:
    return _new(like, like._sizes[:-2], INT32)


def _clone_column_major(tensor: Tensor) -> Tensor:
    if len(tensor._sizes) < 2:
        with as_called(handed_on=True):  # from Python
            _TRANSPOSE(_MT(tensor), -2, -1)  # one of which refuses it
    *batch, rows, columns = tensor._sizes
    strides = contiguous_strides((*batch, columns, rows))
    turned = (*strides[:-2], strides[-1], strides[-2])
    return new_tensor(tensor._sizes, tensor._dtype, tensor._device, turned)


def _batches(one: Tensor, two: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of both once there are as many matrices."""
    batch = broadcast_shapes(one._sizes[:-2], two._sizes[:-2])
    return (*batch, *one._sizes[-2:]), (*batch, *two._sizes[-2:])


# --- Cholesky ---------------------------------------------------------------------------------


@body(_META + "cholesky")
def cholesky(self: Tensor, upper: bool = False) -> Any:
    if not numel(self._sizes):
        return _EMPTY_LIKE(self, memory_format=_CONTIGUOUS)
    check_square(self, "cholesky")
    return _clone_column_major(self)


@body(_META + "cholesky_inverse")
def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    check_square(self, "cholesky_inverse")
    return _clone_column_major(self)


@body(_META + "_cholesky_solve_helper")
def cholesky_solve_helper(self: Tensor, a: Tensor, upper: bool) -> Tensor:
    return _clone_column_major(self)


@body(_META + "cholesky_solve")
def cholesky_solve(self: Tensor, a: Tensor, upper: bool = False) -> Tensor:
    for name, each in (("b", self), ("u", a)):
        if len(each._sizes) < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {len(each._sizes)} dimensions "
                "instead"
            )
    _check_linear_solve(self, a, "cholesky_solve")
    sizes, _ = _batches(self, a)
    return _clone_column_major(_EXPAND(self, list(sizes)))


@body(_META + "linalg_cholesky_ex")
def linalg_cholesky_ex(
    a: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    check_square(a, "linalg.cholesky")
    check_floating(a, "linalg.cholesky")
    return _factors(a), _info(a)


# --- determinants and inverses ----------------------------------------------------------------


@body(_META + "_linalg_det_meta")
def linalg_det_meta(a: Tensor) -> tuple[Tensor, ...]:
    check_square(a, "linalg.det")
    check_floating(a, "linalg.det")
    return _new(a, a._sizes[:-2]), _factors(a), _new(a, a._sizes[:-1], INT32)


@body(_META + "_linalg_slogdet")
def linalg_slogdet(a: Tensor) -> tuple[Tensor, ...]:
    check_square(a, "linalg.slogdet")
    check_floating(a, "linalg.slogdet", halves=False)
    batch = a._sizes[:-2]
    logabsdet = _new(a, batch, REAL_OF_COMPLEX.get(a._dtype, a._dtype))
    return _new(a, batch), logabsdet, _factors(a), _new(a, a._sizes[:-1], INT32)


@body(_META + "linalg_inv_ex_meta")
def linalg_inv_ex_meta(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    check_square(a, "linalg.inv_ex")
    check_floating(a, "linalg.inv_ex", halves=False)
    return _factors(a), _info(a)


# --- factors ----------------------------------------------------------------------------------


@body(_META + "linalg_ldl_factor_ex_meta")
def linalg_ldl_factor_ex_meta(
    self: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Tensor, ...]:
    check_square(self, "torch.linalg.ldl_factor_ex")
    check_floating(self, "torch.linalg.ldl_factor_ex")
    return _factors(self), _new(self, self._sizes[:-1], INT32), _info(self)


@body(_META + "linalg_ldl_solve_meta")
def linalg_ldl_solve_meta(
    ld: Tensor, pivots: Tensor, b: Tensor, *, hermitian: bool = False
) -> Tensor:
    name = "torch.linalg.ldl_solve"
    check_square(ld, name)
    check_floating(ld, name)
    _check_linear_solve(b, ld, name)
    if len(b._sizes) < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {len(b._sizes)} "
            "dimensions instead"
        )
    _check_pivots(pivots, ld, "LD", name)
    if not is_integer(pivots._dtype):
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots._dtype}")
    return _factors(b, _batches(b, ld)[0])


def _parts(
    like: Tensor, *, has_data: bool = True, has_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    *batch, rows, columns = like._sizes
    count = min(rows, columns)
    return (
        _new(like, (*batch, rows, rows) if has_pivots else (0,)),
        _new(like, (*batch, rows, count) if has_data else (0,)),
        _new(like, (*batch, count, columns) if has_data else (0,)),
    )


@body(_META + "linalg_lu_meta")
def linalg_lu_meta(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, ...]:
    _check_rank(a, "linalg.lu")
    return _parts(a, has_pivots=pivot)


@body(_META + "linalg_lu_factor_ex_meta")
def linalg_lu_factor_ex_meta(
    a: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, ...]:
    count = min(_check_rank(a, "torch.lu_factor"))
    return _factors(a), _new(a, (*a._sizes[:-2], count), INT32), _info(a)


@body(_META + "lu_unpack_meta")
def lu_unpack_meta(
    lu: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, ...]:
    _check_rank(lu, "torch.lu_unpack")
    if unpack_pivots and pivots._dtype is not INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    return _parts(lu, has_data=unpack_data, has_pivots=unpack_pivots)


@body(_META + "linalg_lu_solve_meta")
def linalg_lu_solve_meta(
    lu: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Any:
    name = "linalg.lu_solve"
    check_floating(lu, f"torch.{name}")
    if lu._dtype is not b._dtype:
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {lu._dtype} "
            f"and B of type {b._dtype} instead"
        )
    if pivots._dtype is not INT32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(lu, f"torch.{name}")
    _check_solver(lu, b, name, left=left)
    if lu._sizes[-1] != size_at(pivots, -1):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    _check_pivots(pivots, lu, "LU", name)
    sizes, _ = _batches(b, lu)
    result = _factors(b, sizes) if left else _new(b, sizes)
    is_conjugated = not left and b._dtype.is_complex and numel(sizes)
    return _CONJ(result) if is_conjugated else result


# --- solutions --------------------------------------------------------------------------------


@body(_META + "_linalg_solve_ex")
def linalg_solve_ex(
    a: Tensor,
    b: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    result: Tensor | None = None,
    LU: Tensor | None = None,  # noqa: N803 (an output's name)
    pivots: Tensor | None = None,
    info: Tensor | None = None,
) -> tuple[Tensor, ...]:
    name = "linalg.solve"
    check_floating(a, name)
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {a._dtype} and "
            f"B of type {b._dtype} instead"
        )
    is_vector = is_vector_rhs(a, b)
    values = b
    if is_vector:
        values = b._as_view((*b._sizes, 1), (*b._strides, 1), b._storage_offset)
    _check_solver(a, values, name, left=left)
    sizes, _ = _batches(values, a)
    if is_vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. "
            "In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    sizes = sizes[:-1] if is_vector else sizes
    solution = _factors(b, sizes) if left else _new(b, sizes)
    found = (solution, _factors(a), _new(a, a._sizes[:-1], INT32), _info(a))
    for output, made in zip((result, LU, pivots, info), found, strict=True):
        if output is not None:
            resize_out(output, made)
            set_sizes_and_strides(output, made._sizes, made._strides)
            written_out(output, made)
    return found


@body(_META + "linalg_solve_triangular_meta")
def linalg_solve_triangular_meta(
    a: Tensor,
    b: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    output = _new(a, (0,)) if out is None else out
    _check_solver(a, b, "linalg.solve_triangular", left=left)
    sizes, matrices = _batches(b, a)
    if tuple(output._sizes) == sizes:
        return output
    triangles = _EXPAND(a, list(matrices))
    resize_out(output, _new(a, sizes))
    if not (triangles._is_conj() and is_column_major(triangles)):
        set_sizes(output, sizes, column_major_strides(sizes))
    return output


@body(_META + "triangular_solve_meta")
def triangular_solve_meta(
    self: Tensor,
    a: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    for name, each in (("b", self), ("A", a)):
        if len(each._sizes) < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {len(each._sizes)} dimensions instead"
            )
    _check_linear_solve(self, a, "triangular_solve")
    sizes, matrices = _batches(self, a)
    return _factors(self, sizes), _factors(a, matrices)
