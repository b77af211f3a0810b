"""Operators that interpolate a signal, an image or a volume: their sizes and their strides.

Mirrors the checks of ``aten/src/ATen/native/UpSample.h`` and the meta functions of
``UpSampleNearest1d.cpp`` and its likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides
from mindtorch_v2.tensor.tensor import Tensor

_NAMES: Final = "DHW"
"""Of the dimensions that are interpolated."""


def strides_like(sizes: Sequence[int], tensor: Tensor) -> tuple[int, ...] | None:
    """Strides in the memory format of a tensor; None if it is row-major."""
    order = CHANNELS_LAST.get(suggest_memory_format(tensor))
    return None if order is None else channels_last_strides(sizes, order)


def check_size_counts(input_size: Sequence[int], output_size: Sequence[int], rank: int) -> None:
    """RuntimeError unless there are ``rank`` sizes of the output, of the input two more."""
    for name, sizes, count in (
        ("output_size", output_size, rank),
        ("input_size", input_size, rank + 2),
    ):
        if len(sizes) != count:
            raise RuntimeError(
                f"It is expected {name} equals to {count}, but got size {len(sizes)}"
            )


def full_output_size(
    input_size: Sequence[int], output_size: Sequence[int], rank: int
) -> tuple[int, ...]:
    """``upsample_1d_common_check`` and its likes: batch, channels and the ``rank`` sizes."""
    check_size_counts(input_size, output_size, rank)
    image = input_size[2:]
    if min(*image, *output_size) <= 0:
        joint = " and " if rank == 1 else " "  # where it was forgotten
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"({_shown(image)}){joint}output ({_shown(output_size)})"
        )
    return (*input_size[:2], *output_size)


def _shown(sizes: Sequence[int]) -> str:
    names = _NAMES[-len(sizes) :]
    return ", ".join(f"{name}: {size}" for name, size in zip(names, sizes, strict=True))


def checked(self: Tensor, output_size: Sequence[int], rank: int) -> tuple[int, ...]:
    """The sizes of the output; RuntimeError for an input of nothing but for an empty batch."""
    sizes = full_output_size(self._sizes, output_size, rank)
    if 0 in self._sizes[1:]:
        raise RuntimeError(
            f"Non-empty {rank + 2}D data tensor expected but got a tensor with sizes "
            f"{list(self._sizes)}"
        )
    return sizes


def check_gradient(
    grad_output: Tensor, output_size: Sequence[int], input_size: Sequence[int], rank: int
) -> None:
    """RuntimeError for a gradient that has not the sizes of the output."""
    sizes = full_output_size(input_size, output_size, rank)
    if rank == 1:
        for dim, size in enumerate(sizes):
            check_dim_size(grad_output, 3, dim, size)
        return
    if len(grad_output._sizes) != rank + 2:
        raise RuntimeError(
            f"Expected grad_output to be a tensor of dimension {rank + 2} but got: dimension "
            f"{len(grad_output._sizes)}"
        )
    for dim, (size, given) in enumerate(zip(sizes, grad_output._sizes, strict=True)):
        if size != given:
            raise RuntimeError(
                "Expected grad_output to have the same shape as output; "
                f"output.size({dim}) = {size} but got grad_output.size({dim}) = {given}"
            )
