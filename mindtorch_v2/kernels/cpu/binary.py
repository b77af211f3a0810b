"""Pointwise operators of two tensors.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp`` and ``cpu/BinaryOpsKernel.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointwise import pointwise
from mindtorch_v2.kernels.promotion import BOOL, Number
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.tensor_iterator import BINARY_FLOAT_OP, BINARY_OP, TensorIterator
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")


def _scaled(other: Array, alpha: Number) -> Array:
    return other if alpha == 1 else other * other.dtype.type(alpha)


def _add(self: Array, other: Array, alpha: Number) -> Array:
    return self + _scaled(other, alpha)


def _check_alpha(iterator: TensorIterator, alpha: Number) -> None:
    """``alpha_check``."""
    dtype = iterator.common_dtype
    if isinstance(alpha, bool) and dtype is not BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if is_integral(dtype) and not isinstance(alpha, int):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


pointwise("aten::add.Tensor", _add, BINARY_OP, 2, check=_check_alpha)
pointwise("aten::mul.Tensor", np.multiply, BINARY_OP, 2)
pointwise("aten::div.Tensor", np.true_divide, BINARY_FLOAT_OP, 2)


@kernel("aten::add.Scalar", key="CompositeExplicitAutograd")
def add_scalar(self: Tensor, other: Number, alpha: Number) -> Tensor:
    added: Tensor = _ADD(self, other, alpha=alpha)
    return added
