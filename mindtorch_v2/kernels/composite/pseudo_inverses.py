"""Ranks of matrices and pseudo-inverses: what is left where small singular values are nought.

Mirrors ``linalg_pinv`` and ``linalg_matrix_rank`` of ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.linalg.least_squares import epsilon
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    check_castable,
    check_is_matrix,
    check_same_device,
    copied_to,
)
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"
_PINV_NAME: Final = "linalg.pinv"
_RANK_NAME: Final = "torch.linalg.matrix_rank"
_FLOAT64: Final = DTYPES["float64"]
_INT64: Final = DTYPES["int64"]

_ABS: Final = OperatorHandle("aten::abs")
_AMAX: Final = OperatorHandle("aten::amax")
_EIGH: Final = OperatorHandle("aten::linalg_eigh")
_EIGVALSH: Final = OperatorHandle("aten::linalg_eigvalsh")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_FULL: Final = OperatorHandle("aten::full")
_GT: Final = OperatorHandle("aten::gt.Tensor")
_GT_SCALAR: Final = OperatorHandle("aten::gt.Scalar")
_MATMUL: Final = OperatorHandle("aten::matmul")
_MAX: Final = OperatorHandle("aten::max.other")
_MH: Final = OperatorHandle("aten::mH")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")
_PINV: Final = OperatorHandle("aten::linalg_pinv.atol_rtol_tensor")
_PINV_FLOAT: Final = OperatorHandle("aten::linalg_pinv.atol_rtol_float")
_PINV_RCOND: Final = OperatorHandle("aten::linalg_pinv.rcond_tensor")
_PINV_RCOND_OUT: Final = OperatorHandle("aten::linalg_pinv.out_rcond_tensor")
_PLAIN_PINV: Final = OperatorHandle("aten::linalg_pinv")
_RANK_OUT: Final = OperatorHandle("aten::linalg_matrix_rank.atol_rtol_tensor_out")
_RANK_FLOAT_OUT: Final = OperatorHandle("aten::linalg_matrix_rank.atol_rtol_float_out")
_RECIPROCAL: Final = OperatorHandle("aten::reciprocal")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")
_SVD: Final = OperatorHandle("aten::svd")
_SVDVALS: Final = OperatorHandle("aten::linalg_svdvals")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_WHERE: Final = OperatorHandle("aten::where.self")
_ZEROS: Final = OperatorHandle("aten::zeros")


# --- tolerances ---------------------------------------------------------------------------------


def _check_real(tolerance: Tensor, function: str, name: str) -> None:
    """``checkNotComplexTolerance``."""
    if tolerance._dtype.is_complex:
        raise RuntimeError(
            f"{function}: {name} tensor of complex type is not supported. Got "
            f"{CPP_NAMES[tolerance._dtype]}"
        )


def _constant(value: float, like: Tensor) -> Any:
    return _FULL([], value, dtype=_FLOAT64, layout=like._layout, device=like._device)


def _zero(like: Tensor, *, as_it_is: bool = False) -> Any:
    dtype = like._dtype if as_it_is else _FLOAT64
    return _ZEROS([], dtype=dtype, layout=like._layout, device=like._device)


def _default_rtol(input: Tensor) -> float:
    largest = max(size_at(input, -2), size_at(input, -1))
    return epsilon(input._dtype) * largest


def _tolerances(
    input: Tensor, atol: Tensor | None, rtol: Tensor | None, function: str
) -> tuple[Any, Any]:
    """``get_atol_rtol``: the relative one is nought by default where there is an absolute one."""
    absolute = _zero(input) if atol is None else atol
    _check_real(absolute, function, "atol")
    if rtol is not None:
        _check_real(rtol, function, "rtol")
        return absolute, rtol
    default = _constant(_default_rtol(input), input)
    if atol is not None:
        zero = _zero(input)
        default = _WHERE(_GT_SCALAR(atol, 0), zero, default)
    return absolute, default


def _tolerances_of_numbers(
    input: Tensor, atol: float | None, rtol: float | None
) -> tuple[Any, Any]:
    if rtol is None:
        default = _default_rtol(input)
        rtol = 0.0 if atol is not None and atol > 0 else default
    return _constant(atol or 0.0, input), _constant(rtol, input)


def _threshold(atol: Any, rtol: Any, largest: Any) -> Any:
    relative = _MUL(_UNSQUEEZE(rtol, -1), largest)
    return _MAX(_UNSQUEEZE(atol, -1), relative)


# --- pseudo-inverses ----------------------------------------------------------------------------


@kernel(
    "aten::linalg_pinv.atol_rtol_tensor",
    keys=("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"),
)
def linalg_pinv(self: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool) -> Any:
    if self._dtype not in COMPUTED or len(self._sizes) < 2:
        raise RuntimeError(
            f"{_PINV_NAME}({CPP_NAMES[self._dtype]}{{{list(self._sizes)}}}): expected a tensor "
            "with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    absolute, relative = _tolerances(self, atol, rtol, f"torch.{_PINV_NAME}")
    if not numel(self._sizes):
        u, s, v = _SVD(self)
        return _MATMUL(_MUL(v, _UNSQUEEZE(_RECIPROCAL(s), -2)), _MH(u))
    if hermitian:
        s, u = _EIGH(self)
        v, sizes = u, _ABS(s)
        largest = _AMAX(sizes, [-1], True)
    else:
        u, s, v = _SVD(self)
        sizes, largest = s, _NARROW(s, -1, 0, 1)
    is_kept = _GT(sizes, _threshold(absolute, relative, largest))
    inverse = _WHERE(is_kept, _RECIPROCAL(s), _zero(s, as_it_is=True))
    return _MATMUL(_MUL(v, _UNSQUEEZE(_TO(inverse, self._dtype), -2)), _MH(u))


@kernel("aten::linalg_pinv.atol_rtol_tensor_out", key="CompositeExplicitAutograd")
def linalg_pinv_out(
    self: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool, out: Tensor
) -> Any:
    options = {"atol": atol, "rtol": rtol, "hermitian": hermitian}
    return copied_to(_PINV_NAME, out, self, lambda: _PINV(self, **options))


@kernel("aten::linalg_pinv.atol_rtol_float", key=_IMPLICIT)
def linalg_pinv_float(self: Tensor, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    absolute, relative = _tolerances_of_numbers(self, atol, rtol)
    return _PINV(self, atol=absolute, rtol=relative, hermitian=hermitian)


@kernel("aten::linalg_pinv.atol_rtol_float_out", key=_IMPLICIT)
def linalg_pinv_float_out(
    self: Tensor, atol: float | None, rtol: float | None, hermitian: bool, out: Tensor
) -> Any:
    options = {"atol": atol, "rtol": rtol, "hermitian": hermitian}
    return copied_to(_PINV_NAME, out, self, lambda: _PINV_FLOAT(self, **options))


@kernel("aten::linalg_pinv.rcond_tensor", key=_IMPLICIT)
def linalg_pinv_rcond(self: Tensor, rcond: Tensor, hermitian: bool) -> Any:
    _check_real(rcond, f"torch.{_PINV_NAME}", "rcond")
    return _PINV(self, atol=_zero(self), rtol=rcond, hermitian=hermitian)


@kernel("aten::linalg_pinv.out_rcond_tensor", key=_IMPLICIT)
def linalg_pinv_rcond_out(self: Tensor, rcond: Tensor, hermitian: bool, out: Tensor) -> Any:
    return copied_to(_PINV_NAME, out, self, lambda: _PINV_RCOND(self, rcond, hermitian))


@kernel("aten::linalg_pinv", key=_IMPLICIT)
def linalg_pinv_number(self: Tensor, rcond: float, hermitian: bool) -> Any:
    return _PINV_FLOAT(self, atol=0.0, rtol=rcond, hermitian=hermitian)


@kernel("aten::linalg_pinv.out", key=_IMPLICIT)
def linalg_pinv_number_out(self: Tensor, rcond: float, hermitian: bool, out: Tensor) -> Any:
    return _PINV_RCOND_OUT(self, _constant(rcond, self), hermitian, out=out)


@kernel("aten::pinverse", key=_IMPLICIT)
def pinverse(self: Tensor, rcond: float) -> Any:
    return _PLAIN_PINV(self, rcond, False)


# --- ranks --------------------------------------------------------------------------------------


def _rank_result(input: Tensor) -> Any:
    """``get_matrix_rank_result_tensor``."""
    check_is_matrix(input, _RANK_NAME, "input")
    options = {"layout": input._layout, "device": input._device}
    return _EMPTY(list(input._sizes[:-2]), dtype=_INT64, **options)


def _rank(
    input: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool, result: Tensor
) -> Any:
    """``matrix_rank_impl``."""
    absolute, relative = _tolerances(input, atol, rtol, _RANK_NAME)
    for name, each in (("result", result), ("atol", absolute), ("rtol", relative)):
        check_same_device(_RANK_NAME, each, input, name)
    check_castable(_RANK_NAME, result, _INT64)
    for name, each in (("atol", absolute), ("rtol", relative)):
        _check_real(each, _RANK_NAME, name)
    if not numel(input._sizes):
        return _FILL_(result, 0)
    if hermitian:
        sizes = _ABS(_EIGVALSH(input))
        largest = _AMAX(sizes, [-1], True)
    else:
        sizes = _SVDVALS(input)
        largest = _NARROW(sizes, -1, 0, 1)
    is_counted = _GT(sizes, _threshold(absolute, relative, largest))
    if is_tensor_subclass_like(input):
        return _SUM(is_counted, [-1])
    return _SUM_OUT(is_counted, [-1], out=result)


@kernel("aten::linalg_matrix_rank.atol_rtol_tensor", key=_IMPLICIT)
def matrix_rank(input: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool) -> Any:
    return _rank(input, atol, rtol, hermitian, _rank_result(input))


@kernel("aten::linalg_matrix_rank.atol_rtol_tensor_out", key=_IMPLICIT)
def matrix_rank_out(
    input: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool, out: Tensor
) -> Any:
    check_is_matrix(input, _RANK_NAME, "input")
    resize_output(out, input._sizes[:-2])
    return _rank(input, atol, rtol, hermitian, out)


@kernel("aten::linalg_matrix_rank.atol_rtol_float", key=_IMPLICIT)
def matrix_rank_float(self: Tensor, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    result = _rank_result(self)
    return _rank(self, *_tolerances_of_numbers(self, atol, rtol), hermitian, result)


@kernel("aten::linalg_matrix_rank.atol_rtol_float_out", key=_IMPLICIT)
def matrix_rank_float_out(
    self: Tensor, atol: float | None, rtol: float | None, hermitian: bool, out: Tensor
) -> Any:
    return matrix_rank_out(self, *_tolerances_of_numbers(self, atol, rtol), hermitian, out)


@kernel("aten::linalg_matrix_rank.tol_tensor", key=_IMPLICIT)
def matrix_rank_tol_tensor(input: Tensor, tol: Tensor, hermitian: bool) -> Any:
    result = _rank_result(input)
    return _rank(input, tol, _zero(tol, as_it_is=True), hermitian, result)


@kernel("aten::linalg_matrix_rank.out_tol_tensor", key=_IMPLICIT)
def matrix_rank_tol_tensor_out(input: Tensor, tol: Tensor, hermitian: bool, out: Tensor) -> Any:
    options = {"atol": tol, "rtol": _zero(tol, as_it_is=True), "hermitian": hermitian}
    return _RANK_OUT(input, **options, out=out)


@kernel("aten::linalg_matrix_rank", key=_IMPLICIT)
def matrix_rank_tol(self: Tensor, tol: float, hermitian: bool) -> Any:
    return matrix_rank_float(self, tol, 0.0, hermitian)


@kernel("aten::linalg_matrix_rank.out", key=_IMPLICIT)
def matrix_rank_tol_out(self: Tensor, tol: float, hermitian: bool, out: Tensor) -> Any:
    return _RANK_FLOAT_OUT(self, atol=tol, rtol=0.0, hermitian=hermitian, out=out)
