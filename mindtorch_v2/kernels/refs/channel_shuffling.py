"""The reference functions of shuffled channels.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_VIEW: Final = OperatorHandle("aten::view")


@body("torch._meta_registrations.meta_channel_shuffle")
def meta_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Nobody looks at the groups; a channel, a height and a width have to be there."""
    rank = len(input._sizes)
    if rank < 3:
        raise ValueError(f"not enough values to unpack (expected at least 3, got {rank})")
    return new_tensor(input._sizes, input._dtype, input._device)


@body("torch._refs.nn.functional.channel_shuffle")
def channel_shuffle(input: Tensor, groups: int) -> Any:
    sizes = list(input._sizes)
    if len(sizes) <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {sizes}"
        )
    count, channels, *rest = sizes
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} "
            "groups."
        )
    if not numel(sizes):
        return _VIEW(input, sizes)
    split = _RESHAPE(input, [count, groups, channels // groups, *rest])
    dealt = _RESHAPE(_TRANSPOSE(split, 1, 2), sizes)
    return _CONTIGUOUS(dealt, memory_format=MEMORY_FORMATS["contiguous_format"])
