"""Blocks of an image as columns, and an image of such columns.

Mirrors ``Im2Col.cpp``, ``Col2Im.cpp``, ``im2col.h`` and ``im2col_shape_check.h`` of
``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import (
    COMPLEX_TYPES,
    FLOATING_TYPES,
    HABITS,
    HALVES,
    dispatch_over,
)
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_COPIED: Final = FLOATING_TYPES | COMPLEX_TYPES | HALVES | {BOOL}


@dataclass(frozen=True)
class Blocks:
    """Where blocks are: heights and widths of all that is asked for."""

    kernel: Sequence[int]
    dilation: Sequence[int]
    padding: Sequence[int]
    stride: Sequence[int]

    def counts(self, image: Sequence[int]) -> tuple[int, int]:
        """How many blocks there are, one below and one beside the other."""
        high, wide = (
            (image[at] + 2 * self.padding[at] - self.dilation[at] * (self.kernel[at] - 1) - 1)
            // self.stride[at]
            + 1
            for at in (0, 1)
        )
        return high, wide

    def check_ranks(self) -> None:
        for name in ("kernel", "dilation", "padding", "stride"):
            values = getattr(self, name)
            if len(values) != 2:
                what = "kernel_size" if name == "kernel" else name
                raise RuntimeError(f"It is expected {what} equals to 2, but got size {len(values)}")

    def check(self, *names: str) -> None:
        """RuntimeError for numbers that are too small, in this order."""
        for name in names:
            values = getattr(self, name)
            if min(values) < (0 if name == "padding" else 1):
                what = {"kernel": "kernel size"}.get(name, name)
                least = "non-negative" if name == "padding" else "greater than zero"
                shown = {"padding": "pad"}.get(name, name)
                raise RuntimeError(
                    f"{what} should be {least}, but got {shown}_height: {values[0]} "
                    f"{shown}_width: {values[1]}"
                )

    def places(self, at: int, count: int) -> Array:
        """Along a dimension, of each block by each element of it, in the padded image."""
        starts = np.arange(count) * self.stride[at]
        return np.asarray(np.arange(self.kernel[at])[:, None] * self.dilation[at] + starts)

    def padded(self, image: Sequence[int]) -> tuple[int, int]:
        return image[0] + 2 * self.padding[0], image[1] + 2 * self.padding[1]

    def inside(self, image: Sequence[int]) -> tuple[slice, slice]:
        (top, left), (height, width) = self.padding, image
        return slice(top, top + height), slice(left, left + width)


def _pair(values: Sequence[int]) -> str:
    return f"({values[0]}, {values[1]})"


@structured.structured("aten::im2col", keys=("CPU",))
def im2col(
    outputs: Outputs,
    self: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> tuple[Tensor, ...]:
    blocks = Blocks(kernel_size, dilation, padding, stride)
    blocks.check_ranks()
    blocks.check("kernel", "dilation", "padding", "stride")
    sizes = list(self._sizes)
    is_filled = all(sizes[wrap_dim(dim, len(sizes), scalar=False)] for dim in (1, 2))
    if not is_filled or len(sizes) not in (3, 4) or 0 in sizes[len(sizes) - 3 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {sizes}"
        )
    image = sizes[-2:]
    counts = blocks.counts(image)
    if min(counts) < 1:
        width = image[0] if HABITS["im2col shows its height twice"] else image[1]
        raise RuntimeError(
            f"Given input with spatial size ({image[0]}, {width}), "
            f"kernel_size={_pair(kernel_size)}, dilation={_pair(dilation)}, "
            f"padding={_pair(padding)}, calculated shape of the array of sliding blocks as "
            f"{_pair(counts)}, but its components must be at least one."
        )
    planes = sizes[-3] * kernel_size[0] * kernel_size[1]
    output = _made(outputs[0], self, (*sizes[:-3], planes, counts[0] * counts[1]))
    dispatch_over(_COPIED, "im2col_out_cpu", self._dtype)
    if numel(output._sizes):
        values = as_array(self, self._dtype)
        padded = np.zeros((*sizes[:-2], *blocks.padded(image)), values.dtype)
        padded[(..., *blocks.inside(image))] = values
        found = padded[(..., *_grid(blocks, counts))]
        store(output, found.reshape(tuple(output._sizes)))
    return (output,)


def _grid(blocks: Blocks, counts: tuple[int, int]) -> tuple[Array, Array]:
    """Rows and columns of elements: by their place in a block, then by the block."""
    rows, columns = blocks.places(0, counts[0]), blocks.places(1, counts[1])
    return rows[:, None, :, None], columns[None, :, None, :]


def _made(given: Tensor | None, like: Tensor, sizes: Sequence[int]) -> Tensor:
    """``resize_``, whatever the output was."""
    if given is None:
        return new_tensor(sizes, like._dtype, like._device)
    set_sizes(given, sizes)
    return given


@structured.structured("aten::col2im", keys=("CPU",))
def col2im(
    outputs: Outputs,
    self: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> tuple[Tensor, ...]:
    if len(output_size) != 2:
        raise RuntimeError(
            f"It is expected output_size equals to 2, but got size {len(output_size)}"
        )
    blocks = Blocks(kernel_size, dilation, padding, stride)
    blocks.check_ranks()
    blocks.check("kernel", "stride", "dilation", "padding")
    sizes = list(self._sizes)
    counts = _checked_columns(blocks, sizes, output_size)
    area = kernel_size[0] * kernel_size[1]
    planes = sizes[-2] // area
    output = _made(outputs[0], self, (*sizes[:-2], planes, *output_size))
    dispatch_over(_COPIED, "col2im_out_cpu", self._dtype)
    if numel(output._sizes):
        columns = as_array(self, self._dtype).reshape(*sizes[:-2], planes, *kernel_size, *counts)
        padded = np.zeros((*sizes[:-2], planes, *blocks.padded(output_size)), columns.dtype)
        where: Any = (..., *_grid(blocks, counts))
        np.add.at(padded, where, columns)
        store(output, rounded(padded[(..., *blocks.inside(output_size))], self._dtype))
    return (output,)


def _checked_columns(blocks: Blocks, sizes: Sequence[int], image: Sequence[int]) -> tuple[int, int]:
    """``col2im_shape_check``: how many blocks there are."""
    if len(sizes) not in (2, 3) or 0 in sizes[len(sizes) - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(sizes)}"
        )
    planes, length = sizes[-2:]
    if planes % (blocks.kernel[0] * blocks.kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={planes} and kernel_size={_pair(blocks.kernel)}."
        )
    high, wide = blocks.counts(image)
    given = (
        f"Given output_size={_pair(image)}, kernel_size={_pair(blocks.kernel)}, "
        f"dilation={_pair(blocks.dilation)}, padding={_pair(blocks.padding)}, "
        f"stride={_pair(blocks.stride)}, "
    )
    if length != high * wide:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {high} * {wide} = {high * wide}, but got input.size(2)={length}."
        )
    if high < 1 or wide < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as ({high}, {wide}), which "
            "is too small (non-positive)"
        )
    if min(image) < 1:
        raise RuntimeError(
            f"Expected output spatial size to be positive, but got: output_size={_pair(image)}."
        )
    return high, wide
