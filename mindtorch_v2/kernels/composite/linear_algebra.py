"""Operators on matrices that are made of others: what factors, solves and inverts, and says what
went wrong.

Mirrors ``aten/src/ATen/native/BatchLinearAlgebra.cpp`` and ``LinearAlgebra.cpp``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.call_site import length_error
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    CHECK_ERRORS,
    INT32,
    check_castable,
    check_floating_or_complex,
    check_matrices,
    check_same_device,
    check_square,
    copied_to,
)
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import LAYOUTS, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_SPARSE_CSR: Final = LAYOUTS["sparse_csr"]

_ADD: Final = OperatorHandle("aten::add.Tensor")
_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_DET: Final = OperatorHandle("aten::_linalg_det")
_DET_OUT: Final = OperatorHandle("aten::_linalg_det.result")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EYE: Final = OperatorHandle("aten::eye")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_INV: Final = OperatorHandle("aten::linalg_inv")
_INV_EX: Final = OperatorHandle("aten::linalg_inv_ex")
_INV_EX_OUT: Final = OperatorHandle("aten::linalg_inv_ex.inverse")
_INV_OUT: Final = OperatorHandle("aten::linalg_inv.out")
_LDL_EX: Final = OperatorHandle("aten::linalg_ldl_factor_ex")
_LDL_EX_OUT: Final = OperatorHandle("aten::linalg_ldl_factor_ex.out")
_LINALG_DET: Final = OperatorHandle("aten::linalg_det")
_LINALG_SLOGDET: Final = OperatorHandle("aten::linalg_slogdet")
_LINALG_SLOGDET_OUT: Final = OperatorHandle("aten::linalg_slogdet.out")
_LOG: Final = OperatorHandle("aten::log")
_LU_EX: Final = OperatorHandle("aten::linalg_lu_factor_ex")
_LU_EX_OUT: Final = OperatorHandle("aten::linalg_lu_factor_ex.out")
_LU_SOLVE: Final = OperatorHandle("aten::linalg_lu_solve")
_LU_SOLVE_OUT: Final = OperatorHandle("aten::linalg_lu_solve.out")
_MATMUL: Final = OperatorHandle("aten::matmul")
_MATMUL_OUT: Final = OperatorHandle("aten::matmul.out")
_MOVEDIM: Final = OperatorHandle("aten::movedim.intlist")
_NEW_EMPTY: Final = OperatorHandle("aten::new_empty")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SLOGDET: Final = OperatorHandle("aten::_linalg_slogdet")
_SLOGDET_OUT: Final = OperatorHandle("aten::_linalg_slogdet.sign")
_SOLVE: Final = OperatorHandle("aten::linalg_solve")
_SOLVE_EX: Final = OperatorHandle("aten::linalg_solve_ex")
_SOLVE_EX_OUT: Final = OperatorHandle("aten::linalg_solve_ex.out")
_SOLVE_WITH_FACTORS: Final = OperatorHandle("aten::_linalg_solve_ex")
_SOLVE_WITH_FACTORS_OUT: Final = OperatorHandle("aten::_linalg_solve_ex.result")
_SPSOLVE: Final = OperatorHandle("aten::_spsolve")
_WHERE: Final = OperatorHandle("aten::where.ScalarSelf")


def _empty(like: Tensor, dtype: DType | None = None) -> Any:
    """A place for what nobody asked for."""
    options = {"layout": like._layout, "device": like._device}
    return _EMPTY([0], dtype=dtype or like._dtype, **options)


# --- determinants -----------------------------------------------------------------------------


@kernel("aten::linalg_det", key=_IMPLICIT)
def linalg_det(a: Tensor) -> Any:
    return _DET(a)[0]


@kernel("aten::linalg_det.out", key=_IMPLICIT)
def linalg_det_out(a: Tensor, out: Tensor) -> Any:
    _DET_OUT(a, result=out, LU=_empty(a), pivots=_empty(a, INT32))
    return out


@kernel("aten::det", key=_IMPLICIT)
def det(self: Tensor) -> Any:
    return _LINALG_DET(self)


@kernel("aten::linalg_slogdet", key=_IMPLICIT)
def linalg_slogdet(a: Tensor) -> Any:
    return _SLOGDET(a)[:2]


@kernel("aten::linalg_slogdet.out", key=_IMPLICIT)
def linalg_slogdet_out(a: Tensor, sign: Tensor, logabsdet: Tensor) -> Any:
    _SLOGDET_OUT(a, sign=sign, logabsdet=logabsdet, LU=_empty(a), pivots=_empty(a, INT32))
    return sign, logabsdet


@kernel("aten::slogdet", key=_IMPLICIT)
def slogdet(self: Tensor) -> Any:
    return _LINALG_SLOGDET(self)


@kernel("aten::slogdet.out", key=_IMPLICIT)
def slogdet_out(self: Tensor, sign: Tensor, logabsdet: Tensor) -> Any:
    return _LINALG_SLOGDET_OUT(self, sign=sign, logabsdet=logabsdet)


@kernel("aten::logdet", key=_IMPLICIT)
def logdet(self: Tensor) -> Any:
    check_square(self, "logdet")
    check_floating_or_complex(self, "logdet", halves=False)
    sign, logabsdet = _LINALG_SLOGDET(self)
    if self._dtype.is_complex:
        return _ADD(_LOG(sign), logabsdet)
    return _WHERE(_EQ(sign, -1.0), math.nan, logabsdet)


# --- inverses and solutions -------------------------------------------------------------------


@kernel("aten::linalg_inv", key=_IMPLICIT)
def linalg_inv(a: Tensor) -> Any:
    result, info = _INV_EX(a)
    check_matrices(info, "linalg.inv", a)
    return result


@kernel("aten::linalg_inv.out", key=_IMPLICIT)
def linalg_inv_out(a: Tensor, out: Tensor) -> Any:
    info = _empty(a, INT32)
    _INV_EX_OUT(a, inverse=out, info=info)
    check_matrices(info, "linalg.inv", a)
    return out


@kernel("aten::inverse", key=_IMPLICIT)
def inverse(self: Tensor) -> Any:
    return _INV(self)


@kernel("aten::inverse.out", key=_IMPLICIT)
def inverse_out(self: Tensor, out: Tensor) -> Any:
    return _INV_OUT(self, out=out)


@kernel("aten::linalg_solve_ex", key=_IMPLICIT)
def linalg_solve_ex(a: Tensor, b: Tensor, left: bool, check_errors: bool) -> Any:
    result, _, _, info = _SOLVE_WITH_FACTORS(a, b, left=left, check_errors=check_errors)
    return result, info


@kernel("aten::linalg_solve_ex.out", key=_IMPLICIT)
def linalg_solve_ex_out(
    a: Tensor, b: Tensor, left: bool, check_errors: bool, result: Tensor, info: Tensor
) -> Any:
    factors, pivots = _NEW_EMPTY(b, [0]), _NEW_EMPTY(b, [0], dtype=INT32)
    outputs = {"result": result, "LU": factors, "pivots": pivots, "info": info}
    _SOLVE_WITH_FACTORS_OUT(a, b, left=left, check_errors=check_errors, **outputs)
    return result, info


@kernel("aten::linalg_solve", key=_IMPLICIT)
def linalg_solve(a: Tensor, b: Tensor, left: bool) -> Any:
    if a._layout is _SPARSE_CSR:
        return _SPSOLVE(a, b, left=left)
    result, info = _SOLVE_EX(a, b, left=left)
    check_matrices(info, "torch.linalg.solve", a)
    return result


@kernel("aten::linalg_solve.out", key=_IMPLICIT)
def linalg_solve_out(a: Tensor, b: Tensor, left: bool, out: Tensor) -> Any:
    info = _NEW_EMPTY(b, [0], dtype=INT32)
    _SOLVE_EX_OUT(a, b, left=left, result=out, info=info)
    check_matrices(info, "torch.linalg.solve", a)
    return out


# --- factors ----------------------------------------------------------------------------------


@kernel("aten::linalg_lu_factor", key=_IMPLICIT)
def linalg_lu_factor(a: Tensor, pivot: bool) -> Any:
    factors, pivots, info = _LU_EX(a, pivot=pivot)
    check_matrices(info, "torch.linalg.lu_factor", a)
    return factors, pivots


@kernel("aten::linalg_lu_factor.out", key=_IMPLICIT)
def linalg_lu_factor_out(a: Tensor, pivot: bool, lu: Tensor, pivots: Tensor) -> Any:
    info = _empty(a, INT32)
    _LU_EX_OUT(a, pivot=pivot, LU=lu, pivots=pivots, info=info)
    check_matrices(info, "torch.linalg.lu_factor", a)
    return lu, pivots


_NO_LU: Final = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and "
    "will be removed in a future PyTorch release.\n"
    "LU, pivots = torch.lu(A, compute_pivots)\n"
    "should be replaced with\n"
    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\n"
    "and\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
    "should be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)
_NO_LU_SOLVE: Final = (
    "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
    "future PyTorch release.\n"
    "Note that torch.linalg.lu_solve has its arguments reversed.\n"
    "X = torch.lu_solve(B, LU, pivots)\n"
    "should be replaced with\n"
    "X = torch.linalg.lu_solve(LU, pivots, B)"
)


@kernel("aten::_lu_with_info", key=_IMPLICIT)
def lu_with_info(self: Tensor, pivot: bool, check_errors: bool) -> Any:
    warn_once("_lu_with_info", _NO_LU)
    return _LU_EX(self, pivot=pivot, check_errors=False)


@kernel("aten::lu_solve", key=_IMPLICIT)
def lu_solve(self: Tensor, lu_data: Tensor, lu_pivots: Tensor) -> Any:
    warn_once("lu_solve", _NO_LU_SOLVE)
    return _LU_SOLVE(lu_data, lu_pivots, self)


@kernel("aten::lu_solve.out", key=_IMPLICIT)
def lu_solve_out(self: Tensor, lu_data: Tensor, lu_pivots: Tensor, out: Tensor) -> Any:
    warn_once("lu_solve_out", _NO_LU_SOLVE)
    return _LU_SOLVE_OUT(lu_data, lu_pivots, self, out=out)


@kernel("aten::linalg_ldl_factor", key=_IMPLICIT)
def linalg_ldl_factor(self: Tensor, hermitian: bool) -> Any:
    factors, pivots, info = _LDL_EX(self, hermitian=hermitian)
    check_matrices(info, "torch.linalg.ldl_factor", self)
    return factors, pivots


@kernel("aten::linalg_ldl_factor.out", key=_IMPLICIT)
def linalg_ldl_factor_out(self: Tensor, hermitian: bool, ld: Tensor, pivots: Tensor) -> Any:
    info = _empty(self, INT32)
    _LDL_EX_OUT(self, hermitian=hermitian, LD=ld, pivots=pivots, info=info)
    check_matrices(info, "torch.linalg.ldl_factor", self)
    return ld, pivots


# --- tensors as matrices ----------------------------------------------------------------------


@kernel("aten::linalg_tensorinv", key=_IMPLICIT)
def linalg_tensorinv(self: Tensor, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > len(self._sizes):
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {len(self._sizes)}")
    first, last = list(self._sizes[:ind]), list(self._sizes[ind:])
    size = prod(last)
    if size != prod(first):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {size} != {prod(first)}"
        )
    result, info = _INV_EX(_RESHAPE(self, [size, size]), check_errors=False)
    CHECK_ERRORS(info, "inv", is_matrix=True)
    return _RESHAPE(result, [*last, *first])


@kernel("aten::linalg_tensorinv.out", key=_IMPLICIT)
def linalg_tensorinv_out(self: Tensor, ind: int, out: Tensor) -> Any:
    return copied_to("tensorinv", out, self, lambda: linalg_tensorinv(self, ind))


@kernel("aten::linalg_tensorsolve", key=_IMPLICIT)
def linalg_tensorsolve(self: Tensor, other: Tensor, dims: Sequence[int] | None) -> Any:
    rank, moved = len(self._sizes), self
    if dims is not None:
        moved = _MOVEDIM(self, list(dims), list(range(rank - len(dims), rank)))
    if len(other._sizes) > rank:  # a slice of fewer than no sizes
        raise length_error("cannot create std::vector larger than max_size()")
    shape = list(moved._sizes[len(other._sizes) :])
    size, wanted = prod(shape), prod(other._sizes)
    if size != wanted:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {size} != {wanted}"
        )
    matrix = _RESHAPE(moved, [size, size])
    return _RESHAPE(_SOLVE(matrix, _FLATTEN(other)), shape)


@kernel("aten::linalg_tensorsolve.out", key=_IMPLICIT)
def linalg_tensorsolve_out(
    self: Tensor, other: Tensor, dims: Sequence[int] | None, out: Tensor
) -> Any:
    return copied_to("tensorsolve", out, self, lambda: linalg_tensorsolve(self, other, dims))


# --- powers -----------------------------------------------------------------------------------


@kernel("aten::linalg_matrix_power", "aten::matrix_power", key=_IMPLICIT)
def linalg_matrix_power(self: Tensor, n: int) -> Any:
    return _power(self, n, None)


@kernel("aten::linalg_matrix_power.out", "aten::matrix_power.out", key=_IMPLICIT)
def linalg_matrix_power_out(self: Tensor, n: int, out: Tensor) -> Any:
    _power(self, n, out)
    return out


def _power(self: Tensor, n: int, out: Tensor | None) -> Any:
    """``linalg_matrix_power_impl``, by as few products as the binary digits of ``n`` tell."""
    check_square(self, "linalg.matrix_power")
    if out is not None:
        check_same_device("matrix_power", out, self)
        check_castable("matrix_power", out, self._dtype)
        resize_output(out, self._sizes)
    if n == 0:  # of a copy, so that there is a gradient
        target = _CLONE(self, memory_format=_CONTIGUOUS) if out is None else out
        options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
        return _COPY_(target, _EYE(self._sizes[-2], **options))
    if n == 1:
        return _copied(self, out, memory_format=_CONTIGUOUS)
    if n == -1:
        return _INV(self) if out is None else _INV_OUT(self, out=out)
    base = _INV(self) if n < 0 else self
    return _raised(base, abs(n), out)


def _copied(value: Tensor, out: Tensor | None, **options: Any) -> Any:
    return _CLONE(value, **options) if out is None else _COPY_(out, value)


def _product(one: Tensor, two: Tensor, out: Tensor | None) -> Any:
    return _MATMUL(one, two) if out is None else _MATMUL_OUT(one, two, out=out)


def _raised(base: Tensor, n: int, out: Tensor | None) -> Any:
    if n == 2:
        return _product(base, base, out)
    if n == 3:
        return _product(_MATMUL(base, base), base, out)
    square: Any = None
    result: Any = None
    while n > 0:
        n, bit = divmod(n, 2)
        square = base if square is None else _MATMUL(square, square)
        if bit and result is None:
            result = square if n or out is None else _COPY_(out, square)
        elif bit:
            result = _product(result, square, None if n else out)
    return result
