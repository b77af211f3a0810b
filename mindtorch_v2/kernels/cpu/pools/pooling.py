"""The largest value of every window of an image or a volume, and the derivative of that.

Mirrors ``aten/src/ATen/native/DilatedMaxPool2d.cpp``, ``DilatedMaxPool3d.cpp`` and
``cpu/MaxPoolKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS, suggest_memory_format
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.pools.windows import (
    Sizes,
    Window,
    are_inside,
    check_gradient,
    checked_image,
    crossed,
    flat_places,
    nearest,
    resized,
    strides_of,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, int64, memory_format
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel, wrap_dim
from mindtorch_v2.tensor.support import TYPE_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_CHANNELS_LAST_3D: Final = MEMORY_FORMATS["channels_last_3d"]


def _check_rank(input: Tensor) -> None:
    if len(input._sizes) not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")


@structured.structured("aten::max_pool2d_with_indices", outputs=2)
def max_pool2d_with_indices(
    outputs: Outputs,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Tensor, ...]:
    window = Window.of(kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d")
    _check_rank(self)
    image, channels_last = checked_image(self, window)
    shape = (*self._sizes[:-2], *image)
    strides = strides_of(shape, channels_last=channels_last)
    output = set_output(outputs[0], shape, self._dtype, self._device, strides)
    indices = set_output(outputs[1], shape, int64, self._device, strides)
    if not output.is_meta:
        dispatch("max_pool2d", self._dtype, "max_pool2d_channels_last" if channels_last else "")
    if not output.is_meta and numel(shape):
        values, places = pooled(as_array(self, self._dtype), window, image)
        store(output, rounded(values, self._dtype))
        store(indices, places)
    return output, indices


Step = tuple[Array, Array]
"""Of one place in all windows: where it is among the elements of the plane, and whether it is
one of them that counts."""


def pooled(values: Array, window: Window, output: Sizes) -> tuple[Array, Array]:
    """The largest value of each window, and where it is among those of the plane.

    Without a larger value than the lowest it is the first place that is not before the plane.
    """
    sizes = values.shape[-window.dims :]

    def steps() -> Iterator[Step]:
        for offset in window.offsets():
            places = window.places(offset, output)
            yield flat_places(nearest(places, sizes), sizes), are_inside(places, sizes)

    flat = values.reshape(*values.shape[: -window.dims], prod(sizes))
    return largest(flat, steps(), flat_places(_first_places(window, output), sizes))


def largest(flat: Array, steps: Iterable[Step], first: Array) -> tuple[Array, Array]:
    """The largest value of all steps, and where it is: the first of equals, the last of NaNs.

    If nothing is larger than the lowest value there is, that is said to be ``first``.
    """
    shape = (*flat.shape[:-1], *first.shape)
    best: Array = np.full(shape, _lowest(flat), flat.dtype)
    found: Array = np.broadcast_to(first, shape)
    for where, counts in steps:
        here = flat[..., where]
        larger = counts & ((here > best) | (here != here))
        best = np.where(larger, here, best)
        found = np.where(larger, where, found)
    return best, found


def _lowest(values: Array) -> float | int:
    if values.dtype.kind == "f":
        return -np.inf
    return int(np.iinfo(values.dtype).min)


def steps_between(
    starts: Sequence[Array], ends: Sequence[Array], sizes: Sequence[int]
) -> Iterator[Step]:
    """The steps of windows that are told by where they start and end in each dimension."""
    kernel = [int(np.max(end - start, initial=0)) for start, end in zip(starts, ends, strict=True)]
    for offset in product(*map(range, kernel)):
        places = [start + each for start, each in zip(starts, offset, strict=True)]
        counts = np.asarray(True)
        for place, end in zip(crossed(places), crossed(ends), strict=True):
            counts = counts & (place < end)
        yield flat_places(nearest(crossed(places), sizes), sizes), counts


def _first_places(window: Window, output: Sizes) -> list[Array]:
    """Where each window is inside first, in each dimension."""
    starts = []
    for place, count in enumerate(output):
        start, step = window.places_of(0, place, count), window.dilation[place]
        starts.append(start + -(-np.maximum(-start, 0) // step) * step)
    return crossed(starts)


def sent_back(grads: Tensor, indices: Tensor, sizes: Sequence[int], dims: int) -> Array:
    """Each part of a gradient to the place in its plane that it came from, one after the other."""
    values = as_array(grads, grads._dtype)
    planes = prod(grads._sizes[:-dims])
    found = np.zeros((prod(sizes[:-dims]), prod(sizes[-dims:])), values.dtype)
    shape = (planes, prod(grads._sizes[-dims:]))
    places = (np.arange(planes)[:, None], value_array(indices).reshape(shape))
    add_in_turn(found, places, values.reshape(shape), grads._dtype)
    return found.reshape(tuple(sizes))


def check_grad_dtype(self: Tensor, grad: Tensor, name: str = "gradOutput") -> None:
    """RuntimeError if a gradient has not the input's dtype."""
    if self._dtype is not grad._dtype:
        raise RuntimeError(
            f"expected dtype {TYPE_NAMES[self._dtype]} for `{name}` but got dtype "
            f"{TYPE_NAMES[grad._dtype]}"
        )


@structured.structured("aten::max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> tuple[Tensor, ...]:
    window = Window.of(kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d")
    check_grad_dtype(self, grad_output)
    _check_rank(self)
    image, channels_last = checked_image(self, window)
    for tensor in (grad_output, indices):
        check_gradient(tensor, self, image)
    strides = strides_of(self._sizes, channels_last=channels_last)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    if not result.is_meta and numel(result._sizes):
        name = "max_pool2d_backward"
        dispatch(name, self._dtype, f"{name}_channels_last" if channels_last else "")
        store(result, sent_back(grad_output, indices, self._sizes, 2))
    return (result,)


# --- volumes ----------------------------------------------------------------------------------


def _format_of(volume: Tensor) -> memory_format:
    """The memory format that a volume has; RuntimeError if it is none for volumes."""
    format, rank = suggest_memory_format(volume), len(volume._sizes)
    if format is CONTIGUOUS:
        if rank not in (4, 5):
            raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    elif format is not _CHANNELS_LAST_3D:
        raise worded("a pool of volumes in a format of images")
    return format


def _lies_as_its_batch(volume: Tensor) -> bool:
    """Whether a volume alone has its channels innermost, which only a batch is seen to have."""
    sizes, strides = volume._sizes, volume._strides
    batch = (1, *sizes), (sizes[0] * strides[0], *strides)
    return (
        len(sizes) == 4 and not is_contiguous(*batch) and is_contiguous(*batch, _CHANNELS_LAST_3D)
    )


def _resized_volume(
    output: Tensor | None, sizes: Sequence[int], like: Tensor, dtype: DType, *, lies_alone: bool
) -> Tensor:
    """An output in the format of the input, which may be that of a batch of one."""
    if not lies_alone:
        return resized(output, sizes, like, dtype, _format_of(like))
    batch = resized(output, (1, *sizes), like, dtype, _CHANNELS_LAST_3D)
    if output is None:
        return new_tensor(sizes, dtype, like._device, batch._strides[1:])
    _SQUEEZE_(output, 0)
    return output


def _max_pool3d(
    outputs: Outputs,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    sizes = (kernel_size, stride, padding, dilation)
    window = Window.of(*sizes, ceil_mode, "max_pool3d", dims=3)
    _format_of(self)
    volume = window.output_sizes(self._sizes)
    name = "max_pool3d_with_indices_out_cpu_template()"
    window.check_volume(list(self._sizes), volume, name)
    shape = (*self._sizes[:-3], *volume)
    alone = _lies_as_its_batch(self)
    output = _resized_volume(outputs[0], shape, self, self._dtype, lies_alone=alone)
    indices = _resized_volume(outputs[1], shape, self, int64, lies_alone=alone)
    channels_last = alone or _format_of(self) is _CHANNELS_LAST_3D
    dispatch("max_pool2d", self._dtype, "max_pool3d" + "_channels_last" * channels_last)
    check_pointers(self._dtype, output)
    check_pointers(int64, indices)
    if numel(shape):
        values, places = pooled(as_array(self, self._dtype), window, volume)
        store(output, rounded(values, self._dtype))
        store(indices, places)
    return output, indices


@kernel("aten::max_pool3d_with_indices")
def max_pool3d_with_indices(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    return _max_pool3d((None, None), self, kernel_size, stride, padding, dilation, ceil_mode)


@kernel("aten::max_pool3d_with_indices.out")
def max_pool3d_with_indices_out(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    out: Tensor,
    indices: Tensor,
) -> tuple[Tensor, Tensor]:
    return _max_pool3d((out, indices), self, kernel_size, stride, padding, dilation, ceil_mode)


@kernel("aten::max_pool3d_with_indices_backward")
def max_pool3d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
    grad_input: Tensor | None = None,
) -> Tensor:
    sizes = (kernel_size, stride, padding, dilation)
    window = Window.of(*sizes, ceil_mode, "max_pool3d", dims=3)
    check_grad_dtype(self, grad_output)
    format = _format_of(self)
    result = resized(grad_input, self._sizes, self, self._dtype, format)
    rank = len(grad_output._sizes)
    volume = tuple(grad_output._sizes[wrap_dim(dim, rank, scalar=False)] for dim in (-3, -2, -1))
    name = "max_pool3d_with_indices_backward_out_cpu_template()"
    window.check_volume(list(self._sizes), volume, name)
    for tensor in (grad_output, indices):
        check_gradient(tensor, self, volume)
    alone = _lies_as_its_batch(grad_output)
    channels_last = alone or suggest_memory_format(grad_output) is _CHANNELS_LAST_3D
    said = "max_pool3d_backward" + "_channels_last" * channels_last
    dispatch("max_pool2d_backward", self._dtype, said)
    if alone:
        result = _resized_volume(grad_input, self._sizes, self, self._dtype, lies_alone=True)
    check_pointers(self._dtype, result)
    check_pointers(int64, indices)
    if numel(result._sizes):
        store(result, sent_back(grad_output, indices, self._sizes, 3))
    return result


@kernel("aten::max_pool3d_with_indices_backward.grad_input")
def max_pool3d_with_indices_backward_out(*stack: Any) -> Tensor:
    return max_pool3d_with_indices_backward(*stack)
