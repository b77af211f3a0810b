"""The reference functions of padding with what is at the border.

Mirrors ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.cpu.images.border_padding import (
    axis_of,
    check_channels,
    check_count,
    check_grad_sizes,
    check_padded,
    made_sizes,
    padded_sizes,
)
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, assertion
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_LOOK_AT_CHANNELS: Final = HABITS["gradients of padding on meta look at channels"]
_META: Final = "torch._meta_registrations."


def _pad(name: str, rank: int) -> None:
    is_mirrored = name == "reflection"
    wants_all = HABITS[f"{name} on meta wants every dimension"]

    def pad(input: Tensor, padding: Sequence[int]) -> Tensor:
        takes_no_bool = not is_mirrored and HABITS["replication on meta takes no bool"]
        if takes_no_bool and input._dtype is BOOL:
            raise RuntimeError(f"\"{name}_pad{rank}d\" not implemented for 'torch.bool'")
        sizes = list(input._sizes)
        padded = padded_sizes(sizes, padding, rank, str(input._sizes), is_mirrored=is_mirrored)
        check_padded(sizes, padded, rank, " ", ")", wants_all=wants_all)
        made = made_sizes(sizes, padded, rank, adds_batch=rank < 3)
        return new_tensor(made, input._dtype, input._device)

    body(f"{_META}meta_{name}_pad{rank}d")(pad)


def _pad_backward(function: str, rank: int, *, is_mirrored: bool = False) -> None:
    def backward(grad_output: Tensor, input: Tensor, padding: Sequence[int]) -> Tensor:
        sizes, shown = tuple(input._sizes), str(input._sizes)
        _check_padding(padding, rank, is_looked_at=rank == 3 or (rank == 1 and not is_mirrored))
        if rank == 3:
            _check_dims(grad_output, len(sizes))
        if rank != 2:  # whose sizes are read of a tuple
            wrap_dim(axis_of(len(sizes), rank, 0), len(sizes), scalar=False)
        padded = padded_sizes(
            sizes, padding, rank, shown, is_mirrored=is_mirrored, may_be_empty=True
        )
        if _LOOK_AT_CHANNELS:
            channel = axis_of(len(sizes), rank, rank)
            check_channels(grad_output, sizes, channel, "grad_output channel")
        check_grad_sizes(grad_output, padded, rank, "grad_output")
        return new_tensor(sizes, input._dtype, input._device)

    body(_META + function)(backward)


def _check_padding(padding: Sequence[int], rank: int, *, is_looked_at: bool) -> None:
    """What is not looked at is unpacked all the same."""
    if is_looked_at:
        check_count(padding, rank)
    if rank == 1:
        _, _ = padding
    elif rank == 2:
        _, _, _, _ = padding


def _check_dims(grad_output: Tensor, rank: int) -> None:
    if rank <= 3:
        raise assertion(f"input.ndim must be > 3, got {rank}")
    if len(grad_output._sizes) != rank:
        got = f"{len(grad_output._sizes)} != {rank}"
        raise assertion(f"grad_output.ndim must equal input.ndim, got {got}")


for _name in ("reflection", "replication"):
    for _rank in (1, 2, 3):
        _pad(_name, _rank)
    _pad_backward(f"meta_{_name}_pad1d_backward", 1, is_mirrored=_name == "reflection")
_pad_backward("meta_pad2d_backward", 2)
_pad_backward("meta_pad3d_backward", 3)
