"""Operators that look at a tensor and refuse it, or say what they see.

Mirrors ``_assert_async`` and its relatives of ``aten/src/ATen/native/TensorCompare.cpp``,
``_assert_tensor_metadata`` of ``ComparisonUtils.cpp``, ``sym_constrain_range`` of
``Constraints.cpp``, ``_is_all_true`` of
``ReduceOps.cpp``, ``_debug_has_internal_overlap`` of ``Memory.cpp`` and ``_test_check_tensor`` of
``TestOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.values import dtype_of_value, layout_of_value
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.factories.factories import empty
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import METADATA, internal_assert
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, int64
from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, ELEMENT_TYPES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import iinfo

_EXPLICIT: Final = "CompositeExplicitAutograd"
_INT64: Final = iinfo(int64)
_ALL: Final = OperatorHandle("aten::all")
_ANY: Final = OperatorHandle("aten::any")
_CLONE: Final = OperatorHandle("aten::clone")
_IS_ALL_TRUE: Final = OperatorHandle("aten::_is_all_true")
_IS_NONZERO: Final = OperatorHandle("aten::is_nonzero")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_SYM_CONSTRAIN_RANGE: Final = OperatorHandle("aten::sym_constrain_range")
_SYM_CONSTRAIN_RANGE_FOR_SIZE: Final = OperatorHandle("aten::sym_constrain_range_for_size")
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


@kernel("aten::_functional_sym_constrain_range", key="Meta")
def functional_sym_constrain_range_on_meta(
    size: Number, min: int | None, max: int | None, dep_token: Tensor
) -> Any:
    _SYM_CONSTRAIN_RANGE(size, min=min, max=max)
    return dep_token


@kernel("aten::_functional_sym_constrain_range_for_size", key="Meta")
def functional_sym_constrain_range_for_size_on_meta(
    size: Number, min: int | None, max: int | None, dep_token: Tensor
) -> Any:
    _SYM_CONSTRAIN_RANGE_FOR_SIZE(size, min=min, max=max)
    return dep_token


@kernel("aten::_make_dep_token", key="CPU")
def make_dep_token(*options: Any) -> Any:
    """Something that asserts hand on, whose element nobody reads."""
    return empty((), *options)


@kernel("aten::_make_dep_token", key="Meta")
def make_dep_token_on_meta(*options: Any) -> Any:
    return _EMPTY(METADATA["sizes of a token on meta"], device=Device("meta"))


@kernel("aten::_assert_tensor_metadata", key="CompositeImplicitAutograd")
def assert_dense_metadata(
    a: Tensor, size: Sequence[int] | None, stride: Sequence[int] | None, dtype: int | None
) -> None:
    """As it was before devices and layouts could be asserted."""
    assert_metadata(a, size, stride, dtype, None, None)


@kernel("aten::_assert_tensor_metadata", keys=(_EXPLICIT, "Meta"))
def assert_metadata(
    a: Tensor,
    size: Sequence[int] | None,
    stride: Sequence[int] | None,
    dtype: int | None,
    device: Device | None,
    layout: int | None,
) -> None:
    if size is not None and list(size) != list(a._sizes):
        raise _mismatch("sizes", list(size), list(a._sizes))
    if stride is not None and list(stride) != list(a._strides):
        raise _mismatch("strides", list(stride), list(a._strides))
    if dtype is not None and dtype != enum_value(a._dtype):
        raise _mismatch("dtype", CPP_NAMES[dtype_of_value(dtype)], TYPE_NAMES[a._dtype])
    if device is not None and not _is_on(a, device):
        raise _mismatch("device", device, a._device)
    if layout is not None and layout != enum_value(a._layout):
        got = CPP_LAYOUTS[a._layout]
        raise _mismatch("layout", CPP_LAYOUTS[layout_of_value(layout)], got)


def _is_on(tensor: Tensor, device: Device) -> bool:
    """Whether its device is that: there is one CPU, and on meta a tensor may stand for others."""
    if tensor.is_meta and not METADATA["device on meta"]:
        return True
    return tensor._device == device or tensor._device.type == device.type == "cpu"


def _mismatch(name: str, expected: object, got: object) -> RuntimeError:
    return RuntimeError(METADATA["mismatch"].format(name=name, expected=expected, got=got))


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
