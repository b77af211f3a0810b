"""Pointwise operators that are made of others.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp``, ``UnaryOps.cpp``, ``Activation.cpp`` and
``TensorCompare.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.promotion import BOOL, Number, Operand, result_type
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import copy_values, store
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import SCALAR_TENSOR_TYPES, check_dtype
from mindtorch_v2.tensor.tensor import Tensor

_SUB: Final = OperatorHandle("aten::sub.Tensor")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_POW_: Final = OperatorHandle("aten::pow_.Scalar")
_POW_OUT: Final = OperatorHandle("aten::pow.Tensor_Scalar_out")
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_CLAMP_MIN_: Final = OperatorHandle("aten::clamp_min_")
_WHERE: Final = OperatorHandle("aten::where.self")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_MASKED_FILL_TENSOR_: Final = OperatorHandle("aten::masked_fill_.Tensor")


@kernel("aten::rsub.Tensor")
@kernel("aten::rsub.Scalar", key="CompositeExplicitAutograd")
def rsub(self: Tensor, other: Operand, alpha: Number) -> Tensor:
    subtracted: Tensor = _SUB(other, self, alpha)
    return subtracted


@kernel("aten::square", key="CompositeImplicitAutograd")
def square(self: Tensor) -> Tensor:
    squared: Tensor = _POW(self, 2)
    return squared


@kernel("aten::square_", key="CompositeImplicitAutograd")
def square_(self: Tensor) -> Tensor:
    squared: Tensor = _POW_(self, 2)
    return squared


@kernel("aten::square.out", key="CompositeImplicitAutograd")
def square_out(self: Tensor, out: Tensor) -> Tensor:
    squared: Tensor = _POW_OUT(self, 2, out=out)
    return squared


def _refuse_bool(self: Tensor) -> None:
    if self._dtype is BOOL:
        raise RuntimeError("Boolean inputs not supported for relu")


@kernel("aten::relu")
def relu(self: Tensor) -> Tensor:
    _refuse_bool(self)
    positive: Tensor = _CLAMP_MIN(self, 0)
    return positive


@kernel("aten::relu_")
def relu_(self: Tensor) -> Tensor:
    _refuse_bool(self)
    positive: Tensor = _CLAMP_MIN_(self, 0)
    return positive


# --- where with numbers ----------------------------------------------------------------------


def _scalar_tensor(number: Number, dtype: DType, device: Device) -> Tensor:
    """``scalar_tensor``; RuntimeError if the number is out of the range that it looks at."""
    made = new_tensor((), dtype, device)
    if not made.is_meta:
        check_dtype("scalar_tensor", dtype)
        checked = SCALAR_TENSOR_TYPES[dtype]
        store(made, np.asarray(scalar_to(number, dtype, checked) if checked else number))
    return made


def _as_tensor(operand: Operand, dtype: DType, device: Device) -> Tensor:
    if isinstance(operand, Tensor):
        return operand._converted(operand._device, dtype)
    return _scalar_tensor(operand, dtype, device)


@kernel(
    "aten::where.ScalarSelf",
    "aten::where.ScalarOther",
    "aten::where.Scalar",
    key="CompositeImplicitAutograd",
)
def where_scalar(condition: Tensor, self: Operand, other: Operand) -> Tensor:
    """Numbers become tensors of the dtype that comes out."""
    dtype = result_type((self, other))
    like = next((each for each in (self, other) if isinstance(each, Tensor)), condition)
    chosen: Tensor = _WHERE(
        condition, _as_tensor(self, dtype, like._device), _as_tensor(other, dtype, like._device)
    )
    return chosen


# --- masked_fill -----------------------------------------------------------------------------


def _expanded_copy(self: Tensor, mask: Tensor) -> Tensor:
    """A contiguous copy in the shape to which both broadcast."""
    sizes = tuple(self._sizes)
    if tuple(mask._sizes) != sizes:
        sizes = infer_size(mask._sizes, self._sizes)
    copy = new_tensor(sizes, self._dtype, self._device)
    missing = len(sizes) - len(self._sizes)
    strides = (0,) * missing + tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, wanted, stride in zip(self._sizes, sizes[missing:], self._strides, strict=True)
    )
    copy_values(copy, self._as_view(sizes, strides, self._storage_offset))
    return copy


@kernel("aten::masked_fill.Scalar", key="CompositeExplicitAutograd")
def masked_fill(self: Tensor, mask: Tensor, value: Number) -> Tensor:
    filled: Tensor = _MASKED_FILL_(_expanded_copy(self, mask), mask, value)
    return filled


@kernel("aten::masked_fill.Tensor", key="CompositeExplicitAutograd")
def masked_fill_tensor(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
    filled: Tensor = _MASKED_FILL_TENSOR_(_expanded_copy(self, mask), mask, value)
    return filled
