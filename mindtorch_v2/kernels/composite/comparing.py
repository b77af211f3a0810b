"""Whether tensors are the same, or nearly.

Mirrors ``isclose`` and its relatives in ``aten/src/ATen/native/TensorCompare.cpp``, and
``cpu_equal`` in ``ReduceOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.promotion import BOOL, result_type
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.experimental import warn_of_copy
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, streamed, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"

_ABS: Final = OperatorHandle("aten::abs")
_ADD: Final = OperatorHandle("aten::add.Scalar")
_ALL: Final = OperatorHandle("aten::all")
_EQ: Final = OperatorHandle("aten::eq.Tensor")
_EQ_SCALAR: Final = OperatorHandle("aten::eq.Scalar")
_IMAG: Final = OperatorHandle("aten::imag")
_ISCLOSE: Final = OperatorHandle("aten::isclose")
_ISFINITE: Final = OperatorHandle("aten::isfinite")
_ISNAN: Final = OperatorHandle("aten::isnan")
_ITEM: Final = OperatorHandle("aten::item")
_LE: Final = OperatorHandle("aten::le.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_NONZERO: Final = OperatorHandle("aten::nonzero")
_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_OR_: Final = OperatorHandle("aten::__ior__.Tensor")
_AND: Final = OperatorHandle("aten::bitwise_and.Tensor")
_AND_: Final = OperatorHandle("aten::__iand__.Tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_TO: Final = OperatorHandle("aten::to.dtype")


@kernel("aten::isclose", key=_IMPLICIT)
def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    """``|self - other| <= atol + rtol * |other|``, where that is finite; or equal."""
    if self._dtype is not other._dtype:
        raise RuntimeError(f"{CPP_NAMES[self._dtype]} did not match {CPP_NAMES[other._dtype]}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(
                f"{name} must be greater than or equal to zero, but got {streamed(value)}"
            )
    close = _EQ(self, other)
    if equal_nan and (self._dtype.is_floating_point or self._dtype.is_complex):
        is_broadcast = HABITS["isclose broadcasts what is no number"] or (
            is_tensor_subclass_like(other)  # into which nothing can be written
        )
        _OR_(close, (_AND if is_broadcast else _AND_)(_ISNAN(self), _ISNAN(other)))
    if rtol == 0 and atol == 0:
        return close
    one: Any = _TO(self, get_default_dtype()) if self._dtype is BOOL else self
    two: Any = _TO(other, get_default_dtype()) if is_integral(self._dtype) else other
    allowed = _ADD(_ABS(_MUL(two, rtol)), atol)
    error = _ABS(_SUB(one, two))
    _OR_(close, _AND_(_ISFINITE(error), _LE(error, allowed)))
    return close


@kernel("aten::allclose", key="CompositeExplicitAutograd")
def allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    return bool(_ITEM(_ALL(_ISCLOSE(self, other, rtol, atol, equal_nan))))


@kernel("aten::is_same_size", keys=("Meta", "CompositeExplicitAutograd"))
def is_same_size(self: Tensor, other: Tensor) -> bool:
    return tuple(self._sizes) == tuple(other._sizes)


@kernel("aten::isreal", key=_IMPLICIT)
def isreal(self: Tensor) -> Any:
    if self._dtype.is_complex:
        return _EQ_SCALAR(_IMAG(self), 0)
    return _ONES_LIKE(self, dtype=BOOL, memory_format=MEMORY_FORMATS["preserve_format"])


@kernel("aten::positive", key=_IMPLICIT)
def positive(self: Tensor) -> Tensor:
    if self._dtype is BOOL:
        raise worded("a plus sign before a truth value")
    return self


@kernel("aten::argwhere", key=_IMPLICIT)
def argwhere(self: Tensor) -> Any:
    return _NONZERO(self)


@kernel("aten::equal")
def equal(self: Tensor, other: Tensor) -> bool:
    if self._device != other._device:
        raise RuntimeError(
            "Cannot compare two tensors on different devices. Got: "
            f"{self._device} and {other._device}"
        )
    if tuple(self._sizes) != tuple(other._sizes):
        return False
    dtype = result_type((self, other))
    warn_of_copy(self._dtype, dtype)
    warn_of_copy(other._dtype, dtype)
    dispatch("equal_notnan_cpu" if _is_same_memory(self, other) else "equal_cpu", dtype)
    return bool(np.all(as_array(self, dtype) == as_array(other, dtype)))


def _is_same_memory(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one shape are the same elements, of which one may be NaN at most."""
    return (
        self._storage is other._storage
        and self._dtype is other._dtype
        and self._storage_offset == other._storage_offset
        and self._strides == other._strides
    )
