"""Sums of which what is negative is cut off, and what is infinite.

Mirrors ``add_relu_impl`` of ``aten/src/ATen/native/BinaryOps.cpp`` and ``add_clamp_kernel`` of
``cpu/BinaryOpsKernel.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, element
from mindtorch_v2.kernels.elementwise.promotion import Number, Operand
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, TensorIterator
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import ALL_TYPES, dispatch_over
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_LARGEST: Final[dict[DType, int | float]] = {
    DTYPES[name]: int(np.iinfo(name).max) for name in ("int8", "int16", "int32", "int64")
} | {DTYPES[name]: float(np.finfo(name).max) for name in ("float32", "float64")}


def _add_relu(output: Tensor | None, self: Tensor, other: Operand, alpha: Number) -> Tensor:
    """In vectors NaN stays, and a product is added without being rounded."""
    iterator = TensorIterator(BINARY_OP, (output,), (self, other))
    if self._dtype not in _LARGEST:
        asserted = internal_assert("false", "add_relu_impl")
        raise RuntimeError(f"{asserted}Unsupported datatype for add_relu:{TYPE_NAMES[self._dtype]}")
    (result,) = iterator.outputs
    dtype = iterator.common_dtype
    dispatch_over(ALL_TYPES, "add_clamp_cpu", dtype)
    factor = element(alpha, dtype)
    least, most = element(0, dtype), element(_LARGEST[self._dtype], dtype)
    one, two = as_array(self, dtype), as_array(other, dtype)
    with np.errstate(all="ignore"):
        if dtype is DTYPES["float32"]:
            found = (one + two.astype(np.float64) * np.float64(factor)).astype(np.float32)
        else:
            found = np.asarray(one + two * factor, dtype=one.dtype)
        kept = np.minimum(np.maximum(found, least), most)
        if dtype.is_floating_point:
            alone = ~in_vectors(iterator)
            kept = np.where(alone & np.isnan(found), least, kept)
    store(result, kept)
    if result._dtype is dtype:
        return result
    computed: Tensor = _EMPTY_LIKE(result, dtype=dtype)  # which takes the reference's place
    store(computed, kept)
    return computed


@kernel("aten::_add_relu.Tensor", "aten::_add_relu.Scalar")
def add_relu(self: Tensor, other: Operand, alpha: Number) -> Tensor:
    return _add_relu(None, self, other, alpha)


@kernel("aten::_add_relu.out")
def add_relu_out(self: Tensor, other: Tensor, alpha: Number, out: Tensor) -> Tensor:
    return _add_relu(out, self, other, alpha)


@kernel("aten::_add_relu_.Tensor", "aten::_add_relu_.Scalar")
def add_relu_(self: Tensor, other: Operand, alpha: Number) -> Any:
    return _add_relu(self, self, other, alpha)
