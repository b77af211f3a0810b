"""Operators that look at a tensor and refuse it, or say what they see.

Mirrors ``_assert_async`` and its relatives of ``aten/src/ATen/native/TensorCompare.cpp``,
``sym_constrain_range`` of ``Constraints.cpp``, ``_is_all_true`` of
``ReduceOps.cpp``, ``_debug_has_internal_overlap`` of ``Memory.cpp`` and ``_test_check_tensor`` of
``TestOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.kernels.promotion import BOOL, Number
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import ELEMENT_TYPES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import iinfo

_EXPLICIT: Final = "CompositeExplicitAutograd"
_INT64: Final = iinfo(int64)
_ALL: Final = OperatorHandle("aten::all")
_ANY: Final = OperatorHandle("aten::any")
_CLONE: Final = OperatorHandle("aten::clone")
_IS_ALL_TRUE: Final = OperatorHandle("aten::_is_all_true")
_IS_NONZERO: Final = OperatorHandle("aten::is_nonzero")
_ITEM: Final = OperatorHandle("aten::item")

_NO, _YES, _TOO_HARD = range(3)


@kernel("aten::_assert_async", keys=("CPU", "Meta"))
def assert_async(self: Tensor) -> None:
    if not self.is_meta and not _IS_NONZERO(self):
        raise RuntimeError("Expected Tensor with single nonzero value, but got zero")


@kernel("aten::_assert_async.msg", keys=("CPU", "Meta"))
def assert_async_msg(self: Tensor, assert_msg: str) -> None:
    if not self.is_meta and not _IS_NONZERO(self):
        raise RuntimeError(assert_msg or "Assertion is failed")


@kernel("aten::_functional_assert_async.msg", keys=("CPU", "Meta"))
def functional_assert_async(self: Tensor, assert_msg: str, dep_token: Tensor) -> Any:
    if self.is_meta or dep_token.is_meta:
        return dep_token
    assert_async_msg(self, assert_msg)
    return _CLONE(dep_token)


@kernel("aten::_assert_scalar", keys=(_EXPLICIT, "Meta"))
def assert_scalar(self: Number, assert_msg: str) -> None:
    if not self:
        raise RuntimeError(assert_msg or "Assertion is failed")


@kernel("aten::_functional_assert_scalar", keys=(_EXPLICIT, "Meta"))
def functional_assert_scalar(self: Number, assert_msg: str, dep_token: Tensor) -> Any:
    assert_scalar(self, assert_msg)
    return _CLONE(dep_token)


@kernel("aten::sym_constrain_range", key=_EXPLICIT)
def sym_constrain_range(size: Number, min: int | None, max: int | None) -> None:
    lowest = _INT64.min if min is None else min
    highest = _INT64.max if max is None else max
    number = scalar_to(size, int64, ELEMENT_TYPES[int64])
    if highest < lowest:
        raise RuntimeError(
            f"Max must be greater than or equal to min. Got min={lowest} max={highest}"
        )
    if not lowest <= number <= highest:
        raise RuntimeError(f"Invalid value range for {number} between [{lowest}, {highest}].")


@kernel("aten::sym_constrain_range_for_size", key=_EXPLICIT)
def sym_constrain_range_for_size(size: Number, min: int | None, max: int | None) -> None:
    if max is not None and max <= 2:
        raise RuntimeError(
            f"Max value to constrain_range_for_size must be greater than 2. got: {max}"
        )
    sym_constrain_range(size, min or 0, max)


@kernel("aten::_functional_sym_constrain_range", key=_EXPLICIT)
def functional_sym_constrain_range(
    size: Number, min: int | None, max: int | None, dep_token: Tensor
) -> Any:
    sym_constrain_range(size, min, max)
    return _CLONE(dep_token)


@kernel("aten::_functional_sym_constrain_range_for_size", key=_EXPLICIT)
def functional_sym_constrain_range_for_size(
    size: Number, min: int | None, max: int | None, dep_token: Tensor
) -> Any:
    sym_constrain_range_for_size(size, min, max)
    return _CLONE(dep_token)


@kernel("aten::_print", keys=(_EXPLICIT, "Meta"))
def print_text(s: str) -> None:
    print(s)


def _check_is_bool(self: Tensor, function: str) -> None:
    if self._dtype is not BOOL:
        raise RuntimeError(internal_assert("self.scalar_type() == at::kBool", function))


@kernel("aten::_is_all_true", key="CompositeExplicitAutograd")
def is_all_true(self: Tensor) -> Any:
    _check_is_bool(self, "_is_all_true")
    return _ALL(self)


@kernel("aten::_is_any_true", key="CompositeExplicitAutograd")
def is_any_true(self: Tensor) -> Any:
    _check_is_bool(self, "_is_any_true")
    return _ANY(self)


@kernel("aten::_debug_has_internal_overlap", key="CompositeImplicitAutograd")
def debug_has_internal_overlap(self: Tensor) -> int:
    """``MemOverlap`` as C++ counts it."""
    if is_non_overlapping_and_dense(self._sizes, self._strides):
        return _NO
    return _YES if has_internal_overlap(self) else _TOO_HARD


@kernel("aten::_test_check_tensor", key="CompositeImplicitAutograd")
def test_check_tensor(self: Tensor) -> Tensor:
    if not _ITEM(_IS_ALL_TRUE(self)):
        raise RuntimeError("Test message for TORCH_CHECK_TENSOR_ALL")
    return self
