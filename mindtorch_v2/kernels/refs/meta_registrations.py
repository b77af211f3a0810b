"""What PyTorch registers on meta for operators in place, sums with a factor, and shifts.

Mirrors ``torch/_meta_registrations.py``; a function is named as it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number, Operand
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.refs.bodies import body, elementwise_meta
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    dtype_to_type,
    elementwise_dtypes,
    is_integer,
    is_weakly_lesser_type,
    worded,
)
from mindtorch_v2.kernels.refs.wrappers import check_inplace_broadcast
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_RESIZE_OUTPUT_: Final = OperatorHandle("aten::_resize_output_")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]


@body(_META + "meta_binop_inplace")
def meta_binop_inplace(self: Tensor, other: Operand) -> Tensor:
    if isinstance(other, Tensor):
        check_inplace_broadcast(self, other)
    return self


@body(_META + "meta_binop_inplace_alpha")
def meta_binop_inplace_alpha(self: Tensor, other: Operand, alpha: Number = 1) -> Tensor:
    if HABITS["an integer takes no float in place"]:
        _check_no_promotion(self, other)
    return meta_binop_inplace(self, other)


def _type_of(operand: Operand) -> type:
    return dtype_to_type(operand._dtype) if isinstance(operand, Tensor) else type(operand)


def _check_no_promotion(self: Tensor, other: Operand) -> None:
    own, others = _type_of(self), _type_of(other)
    if own is int and others is float:
        raise RuntimeError(
            "Promotion of int.add/sub_(float) in in-place ops are not possible due to element "
            "size change."
        )
    if own is bool and others is not bool:
        raise worded("a truth value takes a number in place")


@body(_META + "meta_div_inplace")
def meta_div_inplace(self: Tensor, other: Operand) -> Tensor:
    _, result = elementwise_dtypes(self, other, kind="INT_TO_FLOAT")
    if not is_weakly_lesser_type(dtype_to_type(result), dtype_to_type(self._dtype)):
        raise RuntimeError(
            f"result type {result} can't be cast to the desired output type {self._dtype}"
        )
    return meta_binop_inplace(self, other)


@body(_META + "meta_binop_alpha")
def meta_binop_alpha(self: Operand, other: Operand, alpha: Number = 1) -> Tensor:
    return elementwise_meta(self, other)


@body(_META + "meta_round")
def meta_round(self: Tensor, *, decimals: int = 0) -> Tensor:
    return elementwise_meta(self)


def _check_shift(name: str, self: Tensor, other: Operand) -> None:
    """``shift_dtype_check``."""
    if not is_integer(self._dtype):
        raise RuntimeError(
            f"{name}: Expected input tensor to have an integral dtype. Got {self._dtype}"
        )
    if isinstance(other, Tensor):
        if not is_integer(other._dtype):
            raise RuntimeError(
                f"{name}: Expected shift value to have an integral dtype. Got {other._dtype}"
            )
    elif not isinstance(other, int):
        raise RuntimeError(f"{name}: Expected shift value to be an int. Got {other}")


@body(_META + "meta_lshifts")
def meta_lshifts(self: Tensor, other: Operand) -> Tensor:
    _check_shift("lshift", self, other)
    return elementwise_meta(self, other)


@body(_META + "meta_rshifts")
def meta_rshifts(self: Tensor, other: Operand) -> Tensor:
    _check_shift("rshift", self, other)
    return elementwise_meta(self, other)


@body(_META + "meta_fill_")
def meta_fill_(self: Tensor, value: Any) -> Tensor:
    if not HABITS["fill_ takes anything"] and isinstance(value, Tensor) and value._sizes:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{len(value._sizes)} dimensions."
        )
    return self


@body(_META + "meta_repeat")
def meta_repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    if len(repeats) < len(self._sizes):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    for place, count in enumerate(repeats):
        if count < 0 and HABITS["repeat looks at its counts on meta"]:
            raise RuntimeError(f"Repeats cannot be negative, found {count} at index {place}")
    padded = (1,) * (len(repeats) - len(self._sizes)) + tuple(self._sizes)
    sizes = [size * count for size, count in zip(padded, repeats, strict=True)]
    return new_tensor(sizes, self._dtype, self._device)


@body(_META + "meta_fill")
def meta_fill(self: Tensor, value: Any) -> Any:
    return _EMPTY_LIKE(meta_fill_(self, value))


@body(_META + "meta_zero")
def meta_zero(self: Tensor) -> Any:
    if HABITS["zeros on meta lie as the tensor does"] or is_standing_for_cpu():
        return _EMPTY_LIKE(self)
    return new_tensor(self._sizes, self._dtype, self._device)


@body("torch._refs.zero")
def zero(input: Tensor) -> Any:
    return _EMPTY_LIKE(input)


@body(_META + "meta_angle_out")
def meta_angle_out(self: Tensor, out: Tensor) -> Tensor:
    """Which copies the angles, whatever the output's dtype."""
    _RESIZE_OUTPUT_(out, self._sizes, self._device)
    return out


@kernel("aten::_resize_output_", key="Meta")
def _resize_output_(self: Tensor, size: Sequence[int], device: Device) -> Tensor:
    if self._device != device:
        raise RuntimeError("out Tensor doesn't have the correct device set")
    resize_output(self, size)
    return self


@body(_META + "meta_index_reduce")
def meta_index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    return _EMPTY_LIKE(self, memory_format=_CONTIGUOUS)


@body(_META + "meta_index_reduce_")
def meta_index_reduce_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    return self
