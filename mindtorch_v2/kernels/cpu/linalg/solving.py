"""Solutions of systems of linear equations, inverses and determinants.

Mirrors ``_linalg_solve_ex``, ``linalg_inv_ex``, ``linalg_solve_triangular`` and
``triangular_solve`` of ``aten/src/ATen/native/BatchLinearAlgebra.cpp``, and ``_linalg_det`` and
``_linalg_slogdet`` of ``LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg import (
    lapack,
)
from mindtorch_v2.kernels.cpu.linalg.lu import (
    linalg_lu_factor_ex,
    linalg_lu_solve,
    set_factors,
    set_info,
    set_pivots,
    set_solution,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    INT32,
    broadcast_batch_sizes,
    broadcast_batches,
    check_floating_or_complex,
    check_linear_solve,
    check_matrices,
    check_solver,
    check_square,
    column_major_strides,
    factors_transposes,
    is_column_major,
    is_vector_rhs,
    solves_transposes,
    transposed,
    two_dtypes,
    write,
)
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_output
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import REAL_OF_COMPLEX
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_ABS: Final = OperatorHandle("aten::abs")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_LOG_: Final = OperatorHandle("aten::log_")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_PROD: Final = OperatorHandle("aten::prod.dim_int")
_SGN: Final = OperatorHandle("aten::sgn")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")


@structured.structured("aten::_linalg_solve_ex", outputs=4)
def linalg_solve_ex(
    outputs: Outputs, a: Tensor, b: Tensor, left: bool, check_errors: bool
) -> tuple[Tensor, ...]:
    name = "linalg.solve"
    check_floating_or_complex(a, name)
    if a._dtype is not b._dtype:
        raise two_dtypes(name, ("A", a), ("B", b))
    is_vector = is_vector_rhs(a, b)
    values = _columns(b) if is_vector else b
    check_solver(a, values, name, left=left)
    shape, _ = broadcast_batch_sizes(values, a)
    if is_vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. "
            "In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    result = set_solution(outputs[0], shape[:-1] if is_vector else shape, b, left=left)
    sizes = tuple(a._sizes)
    factors = set_factors(outputs[1], a, sizes)
    pivots = set_pivots(outputs[2], a, sizes)
    info = set_info(outputs[3], a, sizes)
    if not result.is_meta:
        is_turned = solves_transposes(a)
        _factor(factors, pivots, info, a, is_turned=is_turned)
        if check_errors:
            check_matrices(info, "torch.linalg.solve_ex", a)
        target, values = (_columns(result), _columns(b)) if is_vector else (result, b)
        linalg_lu_solve((target,), factors, pivots, values, left, is_turned)
    return result, factors, pivots, info


def _factor(
    factors: Tensor,
    pivots: Tensor,
    info: Tensor,
    matrices: Tensor,
    *,
    is_turned: bool,
    name: str = "mT",
) -> None:
    """Factors of matrices, or of their transposes."""
    turned = transposed(matrices, name) if is_turned else matrices
    linalg_lu_factor_ex((factors, pivots, info), turned, pivot=True, check_errors=False)


def _columns(vectors: Tensor) -> Tensor:
    """A view of each vector as a matrix of one column."""
    sizes, strides = (*vectors._sizes, 1), (*vectors._strides, 1)
    return vectors._as_view(sizes, strides, vectors._storage_offset)


@structured.structured("aten::linalg_inv_ex", outputs=2)
def linalg_inv_ex(outputs: Outputs, a: Tensor, check_errors: bool) -> tuple[Tensor, ...]:
    check_square(a, "linalg.inv")
    check_floating_or_complex(a, "linalg.inv", halves=False)
    sizes = tuple(a._sizes)
    result, info = set_factors(outputs[0], a, sizes), set_info(outputs[1], a, sizes)
    if not result.is_meta:
        factors, pivots = (new_tensor((0,), dtype, a._device) for dtype in (a._dtype, INT32))
        is_turned = solves_transposes(a)
        _factor(factors, pivots, info, a, is_turned=is_turned)
        identity = np.eye(a._sizes[-1], dtype=elements_of(a._dtype).computed)
        write(result, np.broadcast_to(identity, tuple(result._sizes)))
        linalg_lu_solve((result,), factors, pivots, result, True, is_turned)
        if check_errors:
            check_matrices(info, "linalg.inv_ex", a)
    return result, info


# --- determinants -----------------------------------------------------------------------------


@structured.structured("aten::_linalg_det", outputs=3)
def linalg_det(outputs: Outputs, a: Tensor) -> tuple[Tensor, ...]:
    check_square(a, "linalg.det")
    check_floating_or_complex(a, "linalg.det")
    sizes = tuple(a._sizes)
    result = set_output(outputs[0], sizes[:-2], a._dtype, a._device)
    factors = set_factors(outputs[1], a, sizes)
    pivots = set_pivots(outputs[2], a, sizes)
    if not result.is_meta:
        info = new_tensor((0,), INT32, a._device)
        _factor(factors, pivots, info, a, is_turned=factors_transposes(a), name="mH")
        product = _PROD(_DIAGONAL(factors, 0, -2, -1), -1)
        _MUL_OUT(_sign_of_permutation(pivots, product), product, out=result)
    return result, factors, pivots


@structured.structured("aten::_linalg_slogdet", outputs=4)
def linalg_slogdet(outputs: Outputs, a: Tensor) -> tuple[Tensor, ...]:
    check_square(a, "linalg.slogdet")
    check_floating_or_complex(a, "linalg.slogdet", halves=False)
    sizes, dtype = tuple(a._sizes), a._dtype
    sign = set_output(outputs[0], sizes[:-2], dtype, a._device)
    logabsdet = set_output(outputs[1], sizes[:-2], REAL_OF_COMPLEX.get(dtype, dtype), a._device)
    factors = set_factors(outputs[2], a, sizes)
    pivots = set_pivots(outputs[3], a, sizes)
    if not sign.is_meta:
        info = new_tensor((0,), INT32, a._device)
        _factor(factors, pivots, info, a, is_turned=factors_transposes(a), name="mH")
        diagonal = _DIAGONAL(factors, 0, -2, -1)
        product = _PROD(_SGN(diagonal), -1)
        _MUL_OUT(product, _sign_of_permutation(pivots, product), out=sign)
        _SUM_OUT(_LOG_(_ABS(diagonal)), [-1], out=logabsdet)
    return sign, logabsdet, factors, pivots


def _sign_of_permutation(pivots: Tensor, like: Tensor) -> Tensor:
    """``lu_det_P``: minus one for an odd number of exchanges."""
    places = value_array(pivots)
    exchanged = (places != np.arange(1, places.shape[-1] + 1)).sum(-1)
    made = new_tensor(like._sizes, like._dtype, like._device)
    write(made, np.asarray(1 - 2 * (exchanged % 2)))
    return made


# --- triangles --------------------------------------------------------------------------------


@kernel("aten::linalg_solve_triangular", keys=("CPU", "Meta"))
def linalg_solve_triangular(
    a: Tensor, b: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    out = new_tensor((0,), a._dtype, a._device)
    return linalg_solve_triangular_out(a, b, upper, left, unitriangular, out)


@kernel("aten::linalg_solve_triangular.out", keys=("CPU", "Meta"))
def linalg_solve_triangular_out(
    a: Tensor, b: Tensor, upper: bool, left: bool, unitriangular: bool, out: Tensor
) -> Tensor:
    check_solver(a, b, "linalg.solve_triangular", left=left)
    values, matrices = broadcast_batches(b, a)
    strides = None if _lies_conjugated(matrices) else column_major_strides(values._sizes)
    arrays = None if a.is_meta else (value_array(matrices), value_array(values))
    resize_output(out, values._sizes, strides)
    if arrays is not None:
        _COPY_(out, values)
        dispatch_over(COMPUTED, "triangular_solve_cpu", a._dtype)
        check_pointers(a._dtype, out)
        write(out, _solved(*arrays, upper=upper, left=left, unit=unitriangular))
    return out


def _lies_conjugated(matrices: Tensor) -> bool:
    """Whether BLAS reads the adjoints as they lie, and solves for the transposes."""
    return matrices._is_conj() and is_column_major(matrices)


def _solved(matrices: Array, values: Array, *, upper: bool, left: bool, unit: bool) -> Array:
    values = values.astype(matrices.dtype, copy=False)
    if left:
        return np.asarray(lapack.trsm(matrices, values, upper=upper, unit=unit))
    turned, others = np.swapaxes(matrices, -1, -2), np.swapaxes(values, -1, -2)
    return np.swapaxes(lapack.trsm(turned, others, upper=not upper, unit=unit), -1, -2)


_DEPRECATED: Final = (
    "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be "
    "removed in a future PyTorch release.\n"
    "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one "
    "of the inputs.\n"
    "X = torch.triangular_solve(B, A).solution\n"
    "should be replaced with\n"
    "X = torch.linalg.solve_triangular(A, B)."
)


@structured.structured("aten::triangular_solve", outputs=2)
def triangular_solve(
    outputs: Outputs, self: Tensor, a: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, ...]:
    name = "triangular_solve"
    for which, each in (("b", self), ("A", a)):
        if len(each._sizes) < 2:
            raise RuntimeError(
                f"torch.{name}: Expected {which} to have at least 2 dimensions, but it has "
                f"{len(each._sizes)} dimensions instead"
            )
    check_linear_solve(self, a, name)
    shape, matrices = broadcast_batch_sizes(self, a)
    arrays = None if self.is_meta else (value_array(a), value_array(self))
    solution, copied = (
        set_output(given, sizes, self._dtype, self._device, column_major_strides(sizes))
        for given, sizes in zip(outputs, (shape, matrices), strict=True)
    )
    if arrays is not None:
        warn_once("triangular_solve_out_impl", _DEPRECATED)
        write(copied, arrays[0])
        dispatch_over(COMPUTED, "triangular_solve_cpu", a._dtype)
        triangle = np.swapaxes(arrays[0], -1, -2) if transpose else arrays[0]
        is_upper = upper is not transpose
        write(solution, lapack.trsm(triangle, arrays[1], upper=is_upper, unit=unitriangular))
    return solution, copied
