"""Channels of several groups, dealt out in turn.

Mirrors ``aten/src/ATen/native/ChanelShuffle.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import (
    ALL_TYPES,
    COMPLEX_TYPES,
    HABITS,
    HALVES,
    dispatch_over,
)
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, numel
from mindtorch_v2.tensor.tensor import Tensor

_TYPES: Final = ALL_TYPES | COMPLEX_TYPES | HALVES | {BOOL}
_IS_CHECKED: Final = HABITS["native_channel_shuffle looks at its groups"]
_IS_CHECKED_ON_META: Final = HABITS["native_channel_shuffle on meta looks at its groups"]
_CONTIGUOUS_FORMAT: Final = MEMORY_FORMATS["contiguous_format"]

_ALIAS: Final = OperatorHandle("aten::alias")
_CLONE: Final = OperatorHandle("aten::clone")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_NATIVE: Final = OperatorHandle("aten::native_channel_shuffle")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_VIEW: Final = OperatorHandle("aten::view")


def check_groups(self: Tensor, groups: int) -> None:
    """RuntimeError without channels of something, or if the groups are not equally large."""
    if len(self._sizes) <= 2:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self._sizes)}"
        )
    channels = self._sizes[1]
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} "
            "groups."
        )


@kernel("aten::channel_shuffle")
def channel_shuffle(self: Tensor, groups: int) -> Any:
    check_groups(self, groups)
    return _NATIVE(self, groups) if numel(self._sizes) else _ALIAS(self)


@kernel("aten::native_channel_shuffle")
def native_channel_shuffle(self: Tensor, groups: int) -> Any:
    """In the memory format of the input."""
    if _IS_CHECKED:
        check_groups(self, groups)
    if not numel(self._sizes):
        return _ALIAS(self)
    format = suggest_memory_format(self)
    name = "channel_shuffle_cl" if format in CHANNELS_LAST else "channel_shuffle"
    dispatch_over(_TYPES, name, self._dtype)
    return _CLONE(_dealt(self, groups), memory_format=format)


def _dealt(self: Tensor, groups: int) -> Any:
    """The first channel of each group, then the second of each."""
    count, channels = (size_at(self, dim) for dim in (0, 1))
    split = _RESHAPE(self, [count, groups, channels // groups, -1])
    return _RESHAPE(_PERMUTE(split, [0, 2, 1, 3]), list(self._sizes))


@kernel("aten::native_channel_shuffle", key="CompositeImplicitAutograd")
def math_channel_shuffle(self: Tensor, groups: int) -> Any:
    if _IS_CHECKED_ON_META:
        check_groups(self, groups)
    count, channels = (size_at(self, dim) for dim in (0, 1))
    split = _VIEW(self, [count, groups, channels // groups, -1])
    turned = _CONTIGUOUS(_PERMUTE(split, [0, 2, 1, 3]), memory_format=_CONTIGUOUS_FORMAT)
    return _RESHAPE(turned, list(self._sizes))
