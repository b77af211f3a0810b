"""Operators that look at a tensor and refuse it, or say what they see.

Mirrors ``_assert_async`` of ``aten/src/ATen/native/TensorCompare.cpp``, ``_is_all_true`` of
``ReduceOps.cpp``, ``_debug_has_internal_overlap`` of ``Memory.cpp`` and ``_test_check_tensor`` of
``TestOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense
from mindtorch_v2.tensor.tensor import Tensor

_ALL: Final = OperatorHandle("aten::all")
_ANY: Final = OperatorHandle("aten::any")
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
