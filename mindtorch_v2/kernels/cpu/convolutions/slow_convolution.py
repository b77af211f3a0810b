"""What the kernels of slow convolutions share: how they read weights and write outputs.

Mirrors ``thnn_conv_use_channels_last`` of ``aten/src/ATen/native/ConvUtils.h`` and what the
pointers in ``ConvolutionMM2d.cpp`` and its likes see.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from mindtorch_v2.kernels.convolutions.params import DILATED, ConvParams, by
from mindtorch_v2.kernels.cpu.blas import REAL, gemm
from mindtorch_v2.kernels.cpu.convolutions import convolution as arrays
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, memory_format
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    contiguous_strides,
    suggest_memory_format,
)
from mindtorch_v2.tensor.tensor import Tensor

CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
IMAGES_LAST: Final = MEMORY_FORMATS["channels_last"]


def format_of(input: Tensor, weight: Tensor) -> memory_format:
    """In which memory format two dimensions are gone through: the channels' if either has it."""
    formats = [suggest_memory_format(each._sizes, each._strides) for each in (input, weight)]
    return IMAGES_LAST if IMAGES_LAST in formats else CONTIGUOUS


def check_rank(tensor: Tensor, format: memory_format) -> None:
    """What ``contiguous`` says of a tensor that a format is not for."""
    if format is IMAGES_LAST and len(tensor._sizes) != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")


def strides_of(sizes: Sequence[int], format: memory_format) -> tuple[int, ...]:
    order = CHANNELS_LAST.get(format)
    return contiguous_strides(sizes) if order is None else channels_last_strides(sizes, order)


def weights_of(
    weight: Tensor, dtype: DType, sizes: Sequence[int], format: memory_format = CONTIGUOUS
) -> Array:
    """The elements of a weight as one of other sizes, in the order in which they lie.

    C++ has a pointer to them, and the sizes from elsewhere.
    """
    values = as_array(weight, dtype)
    if values.shape == tuple(sizes):
        return values
    if format is not IMAGES_LAST:
        return np.resize(values.reshape(-1), tuple(sizes))
    flat = np.moveaxis(values, 1, -1).reshape(-1)
    first, inner, *space = sizes
    return np.moveaxis(np.resize(flat, (first, *space, inner)), -1, 1)


def as_it_lies(tensor: Tensor, format: memory_format, *, is_whole: bool = False) -> Tensor:
    """What C++ sees that has a pointer to each element of a batch, and takes it for dense.

    With ``is_whole`` the pointer is to the batch.  Itself where that would read past the end.
    """
    sizes = tuple(tensor._sizes)
    strides = strides_of(sizes, format)
    first = strides[0] if is_whole else tensor._strides[0]
    if not all(sizes) or tensor.is_meta:
        return tensor
    last = tensor._storage_offset + first * (sizes[0] - 1) + prod(sizes[1:])
    if last * tensor._dtype.itemsize > tensor.untyped_storage().nbytes():
        return tensor
    return tensor._as_view(sizes, (first, *strides[1:]), tensor._storage_offset)


def convolved(
    input: Tensor,
    weight: Array,
    bias: Tensor | None,
    parameters: ConvParams,
    sizes: Sequence[int],
    backend: str,
) -> Array:
    """The elements of a convolution that is not transposed, its bias copied there first.

    Channels that are left over where groups do not divide them are not computed.
    """
    dtype = input._dtype
    multiply = np.matmul if dtype not in REAL or backend == DILATED else gemm
    values = as_array(input, dtype)
    with np.errstate(all="ignore"):
        found = np.zeros(tuple(sizes), values.dtype)
        rows = sizes[1] - sizes[1] % parameters.groups
        if values.size and weight.size and found.size and rows:
            shape = (sizes[0], rows, *sizes[2:])
            found[:, :rows] = arrays.gather(values, weight[:rows], parameters, shape, multiply)
        if bias is not None:
            found = found + _along_channels(bias, dtype, len(sizes))
        return rounded(np.asarray(found), dtype)


def rounding_of(dtype: DType) -> arrays.Rounding:
    return lambda array: rounded(array, dtype)


def _along_channels(bias: Tensor, dtype: DType, rank: int) -> Array:
    return as_array(bias, dtype).reshape(1, -1, *(1,) * (rank - 2))


def added(found: Array, bias: Tensor | None, dtype: DType) -> Array:
    """With the bias on it, where there is one."""
    if bias is None:
        return found
    with np.errstate(all="ignore"):
        return np.asarray(found + _along_channels(bias, dtype, found.ndim))


def check_room(space: Sequence[int], padding: Sequence[int], kernel: Sequence[int]) -> None:
    padded = [size + 2 * edge for size, edge in zip(space, padding, strict=True)]
    if any(room < size for room, size in zip(padded, kernel, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({by(padded)}). Kernel size: "
            f"({by(kernel)}). Kernel size can't be greater than actual input size"
        )
