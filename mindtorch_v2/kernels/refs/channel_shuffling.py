"""The reference functions of shuffled channels.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.channel_shuffling import check_groups
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
    """One group, and groups of one channel, leave everything as it is: there CUDA, which meta
    counts as, makes a view."""
    check_groups(input, groups)
    count, channels, *rest = sizes = list(input._sizes)
    if groups in (1, channels) or not numel(sizes):
        return _VIEW(input, sizes)
    split = _RESHAPE(input, [count, groups, channels // groups, *rest])
    dealt = _RESHAPE(_TRANSPOSE(split, 1, 2), sizes)
    return _CONTIGUOUS(dealt, memory_format=MEMORY_FORMATS["contiguous_format"])
