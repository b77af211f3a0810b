"""Products of matrices and vectors.

Mirrors ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``Blas.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""On meta a function of Python is asked."""

_ADDMV_: Final = OperatorHandle("aten::addmv_")
_EXPAND: Final = OperatorHandle("aten::expand")


def _check_shapes(mat1: Sequence[int], mat2: Sequence[int]) -> None:
    if mat1[1] != mat2[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({mat1[0]}x{mat1[1]} and "
            f"{mat2[0]}x{mat2[1]})"
        )


@structured.structured("aten::mm", keys=_KEYS)
def mm(outputs: Outputs, self: Tensor, mat2: Tensor) -> tuple[Tensor, ...]:
    if len(self._sizes) != 2:
        raise RuntimeError("self must be a matrix")
    if len(mat2._sizes) != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_shapes(self._sizes, mat2._sizes)
    shape = (self._sizes[0], mat2._sizes[1])
    output = set_output(outputs[0], shape, self._dtype, self._device)
    _multiply(output, self, mat2)
    return (output,)


@structured.structured("aten::addmm", keys=_KEYS)
def addmm(
    outputs: Outputs, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number
) -> tuple[Tensor, ...]:
    for name, one in (("self", self), ("mat1", mat1)):
        if one._dtype is not mat2._dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {CPP_NAMES[one._dtype]} and "
                f"{CPP_NAMES[mat2._dtype]}"
            )
    for name, one in (("mat1", mat1), ("mat2", mat2)):
        if len(one._sizes) != 2:
            raise RuntimeError(f"{name} must be a matrix, got {len(one._sizes)}-D tensor")
    _check_shapes(mat1._sizes, mat2._sizes)
    shape = (mat1._sizes[0], mat2._sizes[1])
    given = outputs[0] if outputs[0] is not self else None
    if outputs[0] is self:
        output = set_output(self, shape, mat1._dtype, mat1._device, self=self)
    else:
        output = set_output(given, shape, mat1._dtype, mat1._device)
    _multiply(output, mat1, mat2, _EXPAND(self, list(shape)), beta, alpha)
    return (output,)


def _multiply(
    result: Tensor,
    m1: Tensor,
    m2: Tensor,
    added: Tensor | None = None,
    beta: Number = 0,
    alpha: Number = 1,
) -> None:
    """``addmm_impl_cpu_``: ``beta * added + alpha * (m1 @ m2)``."""
    if m1._dtype is not m2._dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{TYPE_NAMES[m1._dtype]} != {TYPE_NAMES[m2._dtype]}"
        )
    if result.is_meta or not numel(result._sizes):
        return
    dtype = m1._dtype
    if not m1._sizes[1] and added is None:
        copying.zero(result)
        return
    if m1._sizes[1]:
        check_implemented("aten::mm", dtype)
    with np.errstate(all="ignore"):
        found = np.matmul(as_array(m1, dtype), as_array(m2, dtype))
        if added is not None:
            found = found * element(alpha, dtype)
            if beta != 0:
                found = found + as_array(added, dtype) * element(beta, dtype)
        copying.store(result, rounded(np.asarray(found), dtype))


def _check_pointer(tensor: Tensor, dtype: DType) -> None:
    """``data_ptr<scalar_t>()``."""
    if tensor._dtype is not dtype:
        raise RuntimeError(
            f"expected scalar type {CPP_NAMES[dtype]} but found {CPP_NAMES[tensor._dtype]}"
        )


# --- batches ----------------------------------------------------------------------------------


@structured.structured("aten::bmm", keys=_KEYS)
def bmm(outputs: Outputs, self: Tensor, mat2: Tensor) -> tuple[Tensor, ...]:
    for name, one in (("batch1", self), ("batch2", mat2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    count, rows, inner = self._sizes
    if tuple(mat2._sizes[:2]) != (count, inner):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {inner}] but got: [{mat2._sizes[0]}, {mat2._sizes[1]}]."
        )
    shape = (count, rows, mat2._sizes[2])
    output = set_output(outputs[0], shape, mat2._dtype, mat2._device)
    if not numel(shape):
        return (output,)
    if not inner:
        copying.zero(output)
        return (output,)
    dtype = self._dtype
    check_implemented("aten::bmm", dtype)
    _check_pointer(mat2, dtype)
    with np.errstate(all="ignore"):
        found = np.matmul(as_array(self, dtype), as_array(mat2, dtype))
        copying.store(output, rounded(np.asarray(found), dtype))
    return (output,)


# --- vectors ----------------------------------------------------------------------------------


@structured.structured("aten::addmv", keys=_KEYS)
def addmv(
    outputs: Outputs, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number
) -> tuple[Tensor, ...]:
    ranks = (len(self._sizes), len(mat._sizes), len(vec._sizes))
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        shown = ", ".join(map(str, ranks))
        raise RuntimeError(f"vector + matrix @ vector expected, got {shown}")
    rows, columns = mat._sizes
    if columns != vec._sizes[0] or numel(self._sizes) not in (rows, 1):
        raise RuntimeError(
            f"size mismatch, got input ({self._sizes[0]}), mat ({rows}x{columns}), vec "
            f"({vec._sizes[0]})"
        )
    dtypes = [each._dtype for each in (self, mat, vec)]
    if not HABITS["addmv takes two dtypes"] and len(set(dtypes)) > 1:
        one, two, three = (CPP_NAMES[dtype] for dtype in dtypes)
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {one}, {two}, and {three}"
        )
    output = set_output(
        outputs[0], (rows,), vec._dtype, vec._device, self=self if outputs[0] is self else None
    )
    if not rows:
        return (output,)
    dtype = mat._dtype
    check_implemented("aten::mv", dtype)
    _check_pointer(vec, dtype)
    with np.errstate(all="ignore"):
        found = np.matmul(as_array(mat, dtype), as_array(vec, dtype)) * element(alpha, dtype)
        if beta != 0:
            found = found + as_array(self, dtype) * element(beta, dtype)
        copying.store(output, rounded(np.asarray(found), dtype))
    return (output,)


@kernel("aten::mv", key="CompositeExplicitAutograd")
def mv(self: Tensor, vec: Tensor) -> Any:
    if not self._sizes:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    result = new_tensor((self._sizes[0],), vec._dtype, vec._device)
    return _ADDMV_(result, self, vec, beta=0, alpha=1)


@kernel("aten::dot", key="CPU")
def dot(self: Tensor, tensor: Tensor) -> Tensor:
    if len(self._sizes) != 1 or len(tensor._sizes) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(self._sizes)}D and {len(tensor._sizes)}D tensors"
        )
    dtype = self._dtype
    if tensor._dtype is not dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{CPP_NAMES[dtype]} and {CPP_NAMES[tensor._dtype]}"
        )
    one, two = self._sizes[0], tensor._sizes[0]
    if one != two:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{one}] and src [{two}] to have the same "
            f"number of elements, but got {one} and {two} elements respectively"
        )
    check_implemented("aten::dot", dtype)
    result = new_tensor((), dtype, self._device)
    with np.errstate(all="ignore"):
        found = np.matmul(as_array(self, dtype), as_array(tensor, dtype))
        copying.store(result, rounded(np.asarray(found), dtype))
    return result
