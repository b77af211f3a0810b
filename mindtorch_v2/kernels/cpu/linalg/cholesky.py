"""Cholesky's factors of positive-definite matrices, and what is solved and inverted by them.

Mirrors ``cholesky``, ``linalg_cholesky_ex``, ``cholesky_solve`` and ``cholesky_inverse`` of
``aten/src/ATen/native/BatchLinearAlgebra.cpp``, and their kernels.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg import (
    lapack,
)
from mindtorch_v2.kernels.cpu.linalg.lu import set_factors, set_info
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    CHECK_ERRORS,
    COMPUTED,
    INT32,
    broadcast_batches,
    check_castable,
    check_floating_or_complex,
    check_linear_solve,
    check_matrices,
    check_same_device,
    check_square,
    clone_column_major,
    column_major_strides,
    copied_to,
    is_column_major,
    write,
)
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_sizes
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = ("CompositeExplicitAutograd", "Meta")
_CHOLESKY_EX: Final = OperatorHandle("aten::linalg_cholesky_ex")
_CHOLESKY_EX_OUT: Final = OperatorHandle("aten::linalg_cholesky_ex.L")
_CHOLESKY: Final = OperatorHandle("aten::cholesky")
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_INVERSE_OUT: Final = OperatorHandle("aten::cholesky_inverse.out")
_SOLVE: Final = OperatorHandle("aten::cholesky_solve")
_SOLVE_HELPER: Final = OperatorHandle("aten::_cholesky_solve_helper")

_DEPRECATED: Final = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
    "future PyTorch release.\n"
    "L = torch.cholesky(A)\n"
    "should be replaced with\n"
    "L = torch.linalg.cholesky(A)\n"
    "and\n"
    "U = torch.cholesky(A, upper=True)\n"
    "should be replaced with\n"
    "U = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) "
    "inputs."
)


def _empty(like: Tensor, dtype: DType) -> Any:
    return _EMPTY([0], dtype=dtype, layout=like._layout, device=like._device)


def _factored(matrices: Tensor, *, upper: bool) -> tuple[Array, Array]:
    """The triangles, of whose matrices the other one is zero."""
    dispatch_over(COMPUTED, "cholesky_cpu", matrices._dtype)
    found, info = lapack.potrf(value_array(matrices), upper=upper)
    return (np.triu if upper else np.tril)(found), info


# --- factors ----------------------------------------------------------------------------------


@structured.structured("aten::linalg_cholesky_ex", outputs=2)
def linalg_cholesky_ex(
    outputs: Outputs, a: Tensor, upper: bool, check_errors: bool
) -> tuple[Tensor, ...]:
    check_square(a, "linalg.cholesky")
    check_floating_or_complex(a, "linalg.cholesky")
    sizes = tuple(a._sizes)
    factor, info = set_factors(outputs[0], a, sizes), set_info(outputs[1], a, sizes)
    if factor.is_meta:
        return factor, info
    if not numel(a._sizes):
        copying.zero(info)
        return factor, info
    for output, found in zip((factor, info), _factored(a, upper=upper), strict=True):
        write(output, found)
    if check_errors:
        check_matrices(info, "linalg.cholesky_ex", a)
    return factor, info


@kernel("aten::linalg_cholesky", key=_IMPLICIT)
def linalg_cholesky(self: Tensor, upper: bool) -> Any:
    factor, info = _CHOLESKY_EX(self, upper=upper, check_errors=False)
    check_matrices(info, "linalg.cholesky", self)
    return factor


@kernel("aten::linalg_cholesky.out", key=_IMPLICIT)
def linalg_cholesky_out(self: Tensor, upper: bool, out: Tensor) -> Any:
    info = _empty(self, INT32)
    _CHOLESKY_EX_OUT(self, upper=upper, check_errors=False, L=out, info=info)
    check_matrices(info, "linalg.cholesky", self)
    return out


@kernel("aten::cholesky")
def cholesky(self: Tensor, upper: bool) -> Any:
    warn_once("cholesky", _DEPRECATED)
    if not numel(self._sizes):
        return _EMPTY_LIKE(self, memory_format=MEMORY_FORMATS["contiguous_format"])
    check_square(self, "cholesky")
    found, codes = _factored(self, upper=upper)
    result = clone_column_major(self)
    info = new_tensor(self._sizes[:-2], INT32, self._device)
    write(info, codes)
    check_matrices(info, "cholesky", self)
    write(result, found)
    return result


@kernel("aten::cholesky.out")
def cholesky_out(self: Tensor, upper: bool, out: Tensor) -> Any:
    warn_once("cholesky_out", _DEPRECATED)
    return copied_to("cholesky", out, self, lambda: _CHOLESKY(self, upper))


# --- solutions --------------------------------------------------------------------------------


@kernel("aten::_cholesky_solve_helper")
def cholesky_solve_helper(self: Tensor, a: Tensor, upper: bool) -> Tensor:
    result, factors = clone_column_major(self), clone_column_major(a)
    dispatch_over(COMPUTED, "cholesky_solve_cpu", self._dtype)
    if a._dtype is not self._dtype:
        raise RuntimeError(
            f"expected scalar type {CPP_NAMES[self._dtype]} but found {CPP_NAMES[a._dtype]}"
        )
    *batch, rows, columns = a._sizes
    if columns < rows or [*self._sizes[:-1]] != [*batch, rows]:  # torch reads outside of its memory
        raise RuntimeError(
            f"cholesky_solve: factors of shape {[*a._sizes]} don't fit {[*self._sizes]}"
        )
    read = value_array(factors)[..., :rows]  # LAPACK reads no more of it
    write(result, lapack.potrs(read, value_array(self), upper=upper))
    return result


@kernel("aten::cholesky_solve", keys=_EXPLICIT)
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool) -> Any:
    for name, each in (("b", self), ("u", input2)):
        if len(each._sizes) < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {len(each._sizes)} dimensions "
                "instead"
            )
    check_linear_solve(self, input2, "cholesky_solve")
    return _SOLVE_HELPER(*broadcast_batches(self, input2), upper)


@kernel("aten::cholesky_solve.out", keys=_EXPLICIT)
def cholesky_solve_out(self: Tensor, input2: Tensor, upper: bool, out: Tensor) -> Any:
    return copied_to("cholesky_solve", out, self, lambda: _SOLVE(self, input2, upper))


# --- inverses ---------------------------------------------------------------------------------


@kernel("aten::cholesky_inverse")
def cholesky_inverse(self: Tensor, upper: bool) -> Any:
    return _INVERSE_OUT(self, upper, out=_empty(self, self._dtype))


@kernel("aten::cholesky_inverse.out")
def cholesky_inverse_out(self: Tensor, upper: bool, out: Tensor) -> Tensor:
    name = "cholesky_inverse"
    check_square(self, name)
    check_same_device(name, out, self)
    check_castable(name, out, self._dtype)
    arrays, target = value_array(self), out
    is_fitting = tuple(out._sizes) == tuple(self._sizes) and is_column_major(out)
    if out._dtype is not self._dtype or (numel(out._sizes) and not is_fitting):
        target = _empty(self, self._dtype)
    if not numel(target._sizes):
        set_sizes(target, self._sizes, column_major_strides(self._sizes))
    dispatch_over(COMPUTED, "cholesky_inverse_out_cpu", self._dtype)
    found, codes = lapack.potri(arrays, upper=upper)
    write(target, found)
    if target is not out:
        resize_output(out, target._sizes)
        _COPY_(out, target)
    info = new_tensor(codes.shape or (1,), INT32, out._device)
    write(info, codes)
    CHECK_ERRORS(info, name, is_matrix=len(out._sizes) == 2)
    return out
