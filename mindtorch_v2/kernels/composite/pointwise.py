"""Pointwise operators that are made of others.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp``, ``UnaryOps.cpp``, ``Activation.cpp`` and
``TensorCompare.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand, result_type
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import copy_values
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.low_precision import FLOAT8
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import HABITS, worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ABS: Final = OperatorHandle("aten::abs")
_AND_: Final = OperatorHandle("aten::__iand__.Tensor")
_EQ: Final = OperatorHandle("aten::eq.Tensor")
_EQ_NUMBER: Final = OperatorHandle("aten::eq.Scalar")
_IMAG: Final = OperatorHandle("aten::imag")
_ISFINITE: Final = OperatorHandle("aten::isfinite")
_ISINF: Final = OperatorHandle("aten::isinf")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_OR_: Final = OperatorHandle("aten::__ior__.Tensor")
_REAL: Final = OperatorHandle("aten::real")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_POW_: Final = OperatorHandle("aten::pow_.Scalar")
_POW_OUT: Final = OperatorHandle("aten::pow.Tensor_Scalar_out")
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_CLAMP_MIN_: Final = OperatorHandle("aten::clamp_min_")
_TO: Final = OperatorHandle("aten::to.dtype")
_WHERE: Final = OperatorHandle("aten::where.self")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_MASKED_FILL_TENSOR_: Final = OperatorHandle("aten::masked_fill_.Tensor")


@kernel("aten::rsub.Tensor", keys=("CPU", "Meta"))
@kernel("aten::rsub.Scalar", key="CompositeExplicitAutograd")
def rsub(self: Tensor, other: Operand, alpha: Number) -> Tensor:
    subtracted: Tensor = _SUB(other, self, alpha)
    return subtracted


@kernel("aten::square", key=_IMPLICIT)
def square(self: Tensor) -> Tensor:
    squared: Tensor = _POW(self, 2)
    return squared


@kernel("aten::square_", key=_IMPLICIT)
def square_(self: Tensor) -> Tensor:
    squared: Tensor = _POW_(self, 2)
    return squared


@kernel("aten::square.out", key=_IMPLICIT)
def square_out(self: Tensor, out: Tensor) -> Tensor:
    squared: Tensor = _POW_OUT(self, 2, out=out)
    return squared


def _refuse_bool(self: Tensor) -> None:
    if self._dtype is BOOL:
        raise worded("relu of truth values")


@kernel("aten::relu", keys=("CPU", "Meta"))
def relu(self: Tensor) -> Tensor:
    _refuse_bool(self)
    positive: Tensor = _CLAMP_MIN(self, 0)
    return positive


@kernel("aten::relu_")
def relu_(self: Tensor) -> Tensor:
    _refuse_bool(self)
    positive: Tensor = _CLAMP_MIN_(self, 0)
    return positive


# --- isfinite and isinf ----------------------------------------------------------------------


_POWERS: Final = DTYPES.get("float8_e8m0fnu")
_NEVER_INFINITE: Final = [
    *([_POWERS] if _POWERS else ()),
    *(DTYPES[name] for name, each in FLOAT8.items() if not each.has_infinity),
]
"""What has NaN, but no infinity."""
_ARE_KNOWN: Final = HABITS["where there is no infinity nothing is infinite"]


def _is_always_finite(dtype: DType) -> bool:
    """Whether no value has to be looked at; in releases that hold a NaN of ``float8_e8m0fnu`` for
    finite, such a tensor is answered as one of integers is."""
    return is_integral(dtype) or (dtype is _POWERS and HABITS["a NaN of float8_e8m0fnu is finite"])


@kernel("aten::isfinite", key=_IMPLICIT)
def isfinite(self: Tensor) -> Any:
    """Of a complex number, whether both parts are."""
    if _is_always_finite(self._dtype):
        return _ONES_LIKE(self, dtype=BOOL, memory_format=MEMORY_FORMATS["preserve_format"])
    if self._dtype.is_complex:
        real = _ISFINITE(_REAL(self))
        return _AND_(real, _ISFINITE(_IMAG(self)))
    if self._dtype is _POWERS or (_ARE_KNOWN and self._dtype in _NEVER_INFINITE):
        return _EQ(self, self)
    check_implemented("aten::isfinite", self._dtype)
    is_not_infinite = _NE(_ABS(self), math.inf)
    return _MUL(_EQ(self, self), is_not_infinite)


@kernel("aten::isinf", key="CompositeExplicitAutograd")
def isinf(self: Tensor) -> Any:
    """Of a complex number, whether either part is."""
    if is_integral(self._dtype) or (_ARE_KNOWN and self._dtype in _NEVER_INFINITE):
        return _ZEROS_LIKE(self, dtype=BOOL, memory_format=MEMORY_FORMATS["preserve_format"])
    if self._dtype.is_complex:
        return _OR_(_ISINF(_REAL(self)), _ISINF(_IMAG(self)))
    check_implemented("aten::isinf", self._dtype)
    return _EQ_NUMBER(_ABS(self), math.inf)


# --- where with numbers ----------------------------------------------------------------------


def _scalar_tensor(number: Operand, dtype: DType, like: Tensor) -> Any:
    return _SCALAR_TENSOR(number, dtype=dtype, layout=like._layout, device=like._device)


@kernel("aten::where.ScalarSelf", key=_IMPLICIT)
def where_scalar_self(condition: Tensor, self: Number, other: Tensor) -> Any:
    """The number becomes a tensor of the dtype that comes out."""
    dtype = result_type((other, self))
    made = _scalar_tensor(self, dtype, other)
    return _WHERE(condition, made, _TO(other, dtype))


@kernel("aten::where.ScalarOther", key=_IMPLICIT)
def where_scalar_other(condition: Tensor, self: Tensor, other: Number) -> Any:
    dtype = result_type((self, other))
    made = _scalar_tensor(other, dtype, self)
    return _WHERE(condition, _TO(self, dtype), made)


@kernel("aten::where.Scalar", key=_IMPLICIT)
def where_scalar(condition: Tensor, self: Number, other: Number) -> Any:
    dtype = result_type((self, other))
    made = _scalar_tensor(other, dtype, condition)
    return _WHERE(condition, _scalar_tensor(self, dtype, condition), made)


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
