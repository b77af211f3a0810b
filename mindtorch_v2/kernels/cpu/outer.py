"""``addr``: the outer product of two vectors, added to a matrix.

Mirrors ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``cpu/LinearAlgebraKernel.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, check_can_cast
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, prologue
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import promote_types
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_CONFIG: Final = BINARY_OP._replace(is_structured=False)
_ADDR: Final = OperatorHandle("aten::addr")
_ADDR_OUT: Final = OperatorHandle("aten::addr.out")
_COPY_: Final = OperatorHandle("aten::copy_")
_EXPAND: Final = OperatorHandle("aten::expand")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_OUTER: Final = OperatorHandle("aten::outer")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_TO: Final = OperatorHandle("aten::to.dtype")


def check_vector(name: str, argument: str, tensor: Tensor) -> None:
    """``check_1d``."""
    if len(tensor._sizes) != 1:
        raise RuntimeError(
            f"{name}: Expected 1-D argument {argument}, but got {len(tensor._sizes)}-D"
        )


@kernel("aten::addr")
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Tensor:
    return _addr(None, self, vec1, vec2, beta, alpha)


@kernel("aten::addr.out")
def addr_out(
    self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> Tensor:
    return _addr(out, self, vec1, vec2, beta, alpha)


def _addr(
    out: Tensor | None, self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number
) -> Tensor:
    iterator = _prepared((out,), self, vec1, vec2, beta, alpha)
    (output,) = iterator.outputs
    dtype = iterator.common_dtype
    if not output.is_meta and numel(output._sizes):
        with np.errstate(all="ignore"):
            matrix, one, two = (as_array(each, dtype) for each in iterator.inputs)
            store(output, _computed(dtype, matrix, one, two, beta, alpha))
    return output


@prologue("aten::addr")
def _prepared(
    outputs: Outputs, self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number
) -> TensorIterator:
    (out,) = outputs
    check_vector("addr", "vec1", vec1)
    check_vector("addr", "vec2", vec2)
    rows, columns = vec1._sizes[0], vec2._sizes[0]
    added = self if out is self else _EXPAND(self, [rows, columns])
    if len(added._sizes) != 2:
        raise RuntimeError(f"2D tensor expected, got {len(added._sizes)}D tensor for input")
    if tuple(added._sizes) != (rows, columns):
        raise RuntimeError(
            f"size mismatch, input: {list(added._sizes)}, v1: [{rows}], v2: [{columns}]"
        )
    iterator = TensorIterator(_CONFIG, outputs, (added, _RESHAPE(vec1, [rows, 1]), vec2))
    dtype = iterator.common_dtype  # in which outputs of others are computed too
    _check_scalar(dtype, beta, "beta")
    _check_scalar(dtype, alpha, "alpha")
    if not iterator.outputs[0].is_meta:
        check_implemented("aten::addr", dtype)
        for scalar in (beta, alpha) if dtype is not BOOL else ():
            element(scalar, dtype)  # which may be beyond it, of nothing too
    return iterator


def _check_scalar(dtype: DType, scalar: Number, name: str) -> None:
    """``check_addr_scalar``."""
    if isinstance(scalar, bool) and dtype is not BOOL:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if not (dtype.is_floating_point or dtype.is_complex or isinstance(scalar, int)):
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )


def _computed(
    dtype: DType, added: Array, one: Array, two: Array, beta: Number, alpha: Number
) -> Array:
    """Rounded after each operation, as the kernel's arithmetic is that of the elements."""
    if dtype is BOOL:
        product = one & two & bool(alpha)
        return np.asarray((added | product) if beta else product)
    product = rounded(rounded(one * element(alpha, dtype), dtype) * two, dtype)
    if beta == 0:
        return np.asarray(product)
    return np.asarray(rounded(rounded(added * element(beta, dtype), dtype) + product, dtype))


@kernel("aten::addr_", key=_EXPLICIT)
def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Any:
    return _ADDR_OUT(self, vec1, vec2, beta=beta, alpha=alpha, out=self)


@kernel("aten::addr", key=_EXPLICIT)
def math_addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Any:
    """Of other operators, for backends that have no kernel."""
    product = _OUTER(vec1, vec2)
    if alpha != 1:
        product = _MUL(product, alpha)
    if beta != 0:
        product = _ADD(self if beta == 1 else _MUL(self, beta), product)
    dtype = promote_types(promote_types(self._dtype, vec1._dtype), vec2._dtype)
    return _TO(product, dtype)


@kernel("aten::addr.out", key=_EXPLICIT)
def math_addr_out(
    self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> Any:
    result = _ADDR(self, vec1, vec2, beta=beta, alpha=alpha)
    check_can_cast(result._dtype, out._dtype)
    resize_output(out, result._sizes)
    return _COPY_(out, result, False)
