"""Pointwise operators of three tensors.

Mirrors ``aten/src/ATen/native/TensorCompare.cpp`` (where), ``PointwiseOps.cpp`` (addcmul,
addcdiv), ``Lerp.cpp``, and ``masked_fill_`` of ``TensorAdvancedIndexing.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.dtypes import check_implemented, check_supported
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import (
    Pointwise,
    as_array,
    opmath_element,
    pointwise,
)
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand, result_type
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_OP,
    TERNARY_OP,
    Config,
    TensorIterator,
    dtype_of,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.overlap import assert_no_partial_overlap, has_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.copying import raw_array, store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, ELEMENT_TYPES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn, warn_once

_BYTE: Final = DTYPES["uint8"]
_TO: Final = OperatorHandle("aten::to.dtype")

# --- where -----------------------------------------------------------------------------------

_WHERE: Final = Config(check_all_same_dtype=False)


def _cast(operand: Any, dtype: DType) -> Any:
    """A tensor in another dtype, for which the strides of the result are those of the copy."""
    is_cast = isinstance(operand, Tensor) and operand._dtype is not dtype
    return _TO(operand, dtype) if is_cast else operand


@structured.structured("aten::where.self")
def where(outputs: Outputs, condition: Tensor, self: Operand, other: Operand) -> tuple[Tensor, ...]:
    (output,) = outputs
    dtype = result_type((self, other))
    if output is not None and output._dtype is not dtype:
        raise RuntimeError(
            f"Expected out type to be {CPP_NAMES[dtype]} but got {CPP_NAMES[output._dtype]}"
        )
    if condition._dtype is _BYTE:
        warn_once(
            "where",
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead.",
        )
    elif condition._dtype is not BOOL:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{CPP_NAMES[condition._dtype]}"
        )
    if not condition.is_meta:
        condition, self, other = _cast(condition, BOOL), _cast(self, dtype), _cast(other, dtype)
    config = (
        _WHERE if output is not None else Config(check_all_same_dtype=False, static_dtype=dtype)
    )
    iterator = TensorIterator(config, outputs, (condition, self, other))
    (output,) = iterator.outputs
    if not output.is_meta:
        check_implemented("aten::where.self", dtype)
        one, two = as_array(self, dtype), as_array(other, dtype)
        store(output, np.where(value_array(condition) != 0, one, two))
    return (output,)


# --- addcmul, addcdiv, lerp ------------------------------------------------------------------


def _factor(dtype: DType, value: Number) -> tuple[Any, ...]:
    return (opmath_element(value, dtype),)


def _check_addcdiv(self: Operand, tensor1: Operand, tensor2: Operand, value: Number) -> None:
    if is_integral(dtype_of(tensor1)) and is_integral(dtype_of(tensor2)):
        check_supported("aten::addcdiv", dtype_of(tensor1))


def _addcmul(self: Array, one: Array, two: Array, value: Any) -> Array:
    return _added(value * one, two, self)


def _added(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c``, of floats rounded once."""
    return fused(a, b, c) if c.dtype.kind == "f" else np.asarray(a * b + c)


pointwise(
    "aten::addcmul",
    _addcmul,
    TERNARY_OP,
    3,
    prepare=_factor,
)
pointwise(
    "aten::addcdiv",
    lambda self, one, two, value: self + value * one / two,
    TERNARY_OP,
    3,
    before=_check_addcdiv,
    prepare=_factor,
)


def _same_dtype(self: Tensor, **others: Operand) -> None:
    for name, other in others.items():
        if dtype_of(other) is not self._dtype:
            raise RuntimeError(
                f"expected dtype {TYPE_NAMES[self._dtype]} for `{name}` but got dtype "
                f"{TYPE_NAMES[dtype_of(other)]}"
            )


def _lerp(self: Array, end: Array, weight: Any) -> Array:
    """``lerp``: from whichever end is nearer."""
    distance = end - self
    near = np.asarray(np.abs(weight) < 0.5)
    return _added(np.where(near, weight, weight - 1), distance, np.where(near, self, end))


def _check_lerp_scalar(self: Tensor, end: Operand, weight: Number) -> None:
    _same_dtype(self, end=end)


def _check_lerp_tensor(self: Tensor, end: Operand, weight: Operand) -> None:
    _same_dtype(self, end=end, weight=weight)


pointwise("aten::lerp.Scalar", _lerp, BINARY_OP, 2, before=_check_lerp_scalar, prepare=_factor)

_OF_ONE_DTYPE: Final = Config(allow_cpu_scalars=True)
_LERP: Final = Pointwise("aten::lerp.Tensor", _lerp, _OF_ONE_DTYPE, 3, before=_check_lerp_tensor)
_PROMOTED_LERP: Final = Pointwise(
    "aten::lerp.Tensor", _lerp, BINARY_OP, 3, before=_check_lerp_scalar
)


@structured.structured("aten::lerp.Tensor")
def lerp_tensor(outputs: Outputs, self: Tensor, end: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    is_promoted = not weight._sizes and HABITS["lerp promotes a weight without dimensions"]
    return (_PROMOTED_LERP if is_promoted else _LERP)(outputs, self, end, weight)


# --- masked_fill_ ----------------------------------------------------------------------------

_IN_PLACE: Final = Config(check_mem_overlap=False, check_all_same_dtype=False, resize_outputs=False)


@structured.prologue("aten::masked_fill.Scalar")
@structured.prologue("aten::masked_fill.Tensor")
def _prepare_masked_fill(
    outputs: Sequence[Tensor], self: Tensor, mask: Tensor, value: Operand
) -> None:
    """In place a mask has to fit; another output gets the shape of both."""
    if structured.changed_in_place(outputs) is None:
        resize_output(outputs[0], infer_size(self._sizes, mask._sizes))
    else:
        _check_value(value)
        _check_mask(self, mask)


def _check_mask(self: Tensor, mask: Tensor) -> None:
    if mask._dtype is not BOOL:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{TYPE_NAMES[mask._dtype]}"
        )
    if has_internal_overlap(self):
        warn(
            "masked_fill_",
            "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[mask] = scalar",
        )
    assert_no_partial_overlap(self, mask)
    TensorIterator(_IN_PLACE, (self,), (mask,))


def _check_value(value: Operand) -> None:
    if isinstance(value, Tensor) and value._sizes:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
            f"with {len(value._sizes)} dimension(s)."
        )


@kernel("aten::masked_fill_.Scalar")
def masked_fill_(self: Tensor, mask: Tensor, value: Number) -> Tensor:
    _check_mask(self, mask)
    check_implemented("aten::masked_fill.Scalar", self._dtype)
    filling = np.asarray(scalar_to(value, self._dtype, ELEMENT_TYPES[self._dtype]))
    bits = elements_of(self._dtype).encode(filling)
    np.copyto(raw_array(self), bits, where=value_array(mask))  # elements may share their memory
    return self


@kernel("aten::masked_fill_.Tensor")
def masked_fill_tensor_(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
    if not isinstance(value, Tensor):
        return masked_fill_(self, mask, value)
    _check_value(value)
    return masked_fill_(self, mask, value_array(value).item())
