"""The inverse of a max pool, as far as there is one: values at their places, zeros elsewhere.

Mirrors ``MaxUnpooling.cpp`` and ``cpu/MaxUnpoolKernel.cpp`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS, suggest_memory_format
from mindtorch_v2.context import alert_not_deterministic
from mindtorch_v2.kernels.cpu.pools.windows import resized
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import raw_array, store_bits, value_array
from mindtorch_v2.tensor.dtype import int64, memory_format
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_NOT_NEGATIVE: Final = HABITS["max_unpool takes no sizes below zero"]
_RANK_COMES_FIRST: Final = HABITS["max_unpool counts dimensions before sizes"]
_TELLS_DTYPE: Final = HABITS["unpooling of volumes tells the dtype of places"]
_CLOSES: Final = HABITS["max_unpool closes what it opens"]
_NAMES: Final = {
    2: ("two", "(height, width)", "a 3d or 4d"),
    3: ("three", "(depth, height, width)", "a 4d or 5d"),
}


def check_counts(dims: int, name: str, values: Sequence[int], colon: str = "") -> None:
    """A number for each dimension."""
    count, letters, _ = _NAMES[dims]
    if len(values) != dims:
        raise RuntimeError(
            f"There should be exactly {count} elements {letters} in {name}, but got{colon} "
            f"{len(values)} elements."
        )


def check_rank(dims: int, self: Tensor) -> None:
    if len(self._sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be {_NAMES[dims][2]} Tensor, but got a tensor "
            f"with {len(self._sizes)} dimensions."
        )


def check_same_shape(self: Tensor, indices: Tensor, shapes: Sequence[object]) -> None:
    """``shapes`` are both as they are shown."""
    if tuple(self._sizes) != tuple(indices._sizes):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({shapes[0]}) but "
            f"got indices tensor with shape: {shapes[1]}"
        )


def _check_shapes(self: Tensor, indices: Tensor, name: str) -> None:
    check_same_shape(self, indices, (list(self._sizes), list(indices._sizes)))
    for dim, size in enumerate(self._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got "
                f"{list(self._sizes)} with dimension {dim} being empty."
            )


def _check_not_negative(output_size: Sequence[int]) -> None:
    if _NOT_NEGATIVE and min(output_size) < 0:
        sizes = ", ".join(map(str, output_size))
        raise RuntimeError(
            f"max_unpooling{len(output_size)}d(): output_size must contain non-negative spatial "
            f"dimensions, but got output_size=({sizes})"
        )


def _unpooled(
    out: Tensor | None,
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    format: memory_format,
) -> Tensor:
    """Of one place the last value.  RuntimeError for a place that there is not."""
    dims = len(output_size)
    output = resized(out, (*self._sizes[:-dims], *output_size), self, self._dtype, format)
    foretell(f"aten::max_unpool{dims}d", output)  # which on meta is row-major
    if not numel(output._sizes):
        return output
    channels_last = format is not CONTIGUOUS
    name = f"max_unpool{dims}d"
    dispatch(name, self._dtype, name + "_channels_last" * channels_last)
    check_pointers(self._dtype, output)
    planes, count = prod(self._sizes[:-dims]), prod(output_size)
    places = value_array(indices).reshape(planes, -1)
    wrong = places[(places < 0) | (places >= count)]
    if wrong.size:
        close = ")" if channels_last or _CLOSES else ""
        sizes = "x".join(map(str, output_size))
        raise RuntimeError(
            f"Found an invalid max index: {wrong[-1]} (output volumes are of size {sizes}{close}"
        )
    bits = raw_array(self).reshape(planes, -1)
    found = np.zeros((planes, count), bits.dtype)
    found[np.arange(planes)[:, None], places] = bits
    store_bits(output, found.reshape(tuple(output._sizes)))
    return output


@kernel("aten::max_unpool2d", "aten::max_unpool2d.out")
def max_unpool2d(
    self: Tensor, indices: Tensor, output_size: Sequence[int], out: Tensor | None = None
) -> Tensor:
    alert_not_deterministic("max_unpooling2d_forward_out")
    if indices._dtype is not int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {CPP_NAMES[indices._dtype]}"
        )
    if _RANK_COMES_FIRST:
        check_rank(2, self)
    check_counts(2, "output_size", output_size)
    check_rank(2, self)
    _check_shapes(self, indices, "max_unpooling2d_forward_out_cpu()")
    _check_not_negative(output_size)
    return _unpooled(out, self, indices, output_size, suggest_memory_format(self))


@kernel("aten::max_unpool3d", "aten::max_unpool3d.out")
def max_unpool3d(
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    out: Tensor | None = None,
) -> Tensor:
    alert_not_deterministic("max_unpooling3d_forward_out")
    if out is not None and not is_contiguous(out._sizes, out._strides):
        raise RuntimeError("output must be contiguous")
    check_volumes(self, indices, output_size, stride, padding, tells_dtype=_TELLS_DTYPE)
    _check_shapes(self, indices, "max_unpooling3d_forward_out_cpu()")
    check_stride(stride)
    _check_not_negative(output_size)
    return _unpooled(out, self, indices, output_size, CONTIGUOUS)


def check_volumes(
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    *,
    tells_dtype: bool = False,
) -> None:
    """What ``max_unpooling3d_shape_check`` begins with."""
    if indices._dtype is not int64:
        told = f" but got: {CPP_NAMES[indices._dtype]}" if tells_dtype else ""
        raise RuntimeError(f"elements in indices should be type int64{told}")
    check_rank(3, self)
    check_counts(3, "output_size", output_size)
    check_counts(3, "stride", stride, ":")
    check_counts(3, "padding", padding, ":")


def check_stride(stride: Sequence[int]) -> None:
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
