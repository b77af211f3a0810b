"""The mean of every window of an image, and the derivative of that.

Mirrors ``AveragePool2d.cpp``, ``AdaptiveAveragePooling.cpp`` and their CPU kernels in
``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.cpu.pooling import Window, checked, places_of, strides_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_RESIZE_: Final = OperatorHandle("aten::resize_")
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_AVERAGED: Final = FLOATING_TYPES | HALVES | {int64}

_CUTS_OFF: Final = HABITS["avg_pool2d cuts its sizes off"]

Image = tuple[int, int]


def _window(
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    divisor_override: int | None,
    *,
    cuts_off: bool = False,
) -> Window:
    sizes = (kernel_size, stride, padding, (1,))
    window = Window.of(*sizes, ceil_mode, "avg_pool2d", cuts_off=cuts_off)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return window


@structured.structured("aten::avg_pool2d")
def avg_pool2d(
    outputs: Outputs,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> tuple[Tensor, ...]:
    sizes = (kernel_size, stride, padding)
    window = _window(*sizes, ceil_mode, divisor_override, cuts_off=_CUTS_OFF)
    image, channels_last = checked(self, window)
    shape = (*self._sizes[:-2], *image)
    strides = strides_of(shape, channels_last=channels_last)
    output = set_output(outputs[0], shape, self._dtype, self._device, strides)
    if not output.is_meta:
        _dispatch("avg_pool2d", self._dtype, channels_last=channels_last)
        assert_no_internal_overlap(output)
        values = as_array(self, self._dtype)
        counts = _counts(window, values.shape, image, count_include_pad, divisor_override)
        store(output, rounded(_quotients(_sums(values, window, image), counts), self._dtype))
    return (output,)


def _dispatch(name: str, dtype: DType, *, channels_last: bool) -> None:
    dispatch_over(_AVERAGED, name + "_channels_last" * channels_last, dtype)


def _sums(values: Array, window: Window, image: Image) -> Array:
    """Row by row of each window, as it is added up."""
    height, width = values.shape[-2:]
    found = np.zeros((*values.shape[:-2], *image), values.dtype)
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            ys, xs = places_of(window, row, 0, image[0]), places_of(window, column, 1, image[1])
            inside = ((ys >= 0) & (ys < height))[:, None] & ((xs >= 0) & (xs < width))
            where = np.clip(ys, 0, height - 1)[:, None], np.clip(xs, 0, width - 1)
            found += np.where(inside, values[(..., *where)], 0).astype(values.dtype)
    return found


def _counts(
    window: Window, sizes: Sequence[int], image: Image, padded: bool, divisor: int | None
) -> Array:
    """What each sum is divided by."""
    if divisor is not None:
        return np.full(image, divisor)
    reaches = []
    for place, size in enumerate(sizes[-2:]):
        start = places_of(window, 0, place, image[place])
        end = np.minimum(start + window.kernel[place], size + window.padding[place])
        inside = np.minimum(end, size) - np.maximum(start, 0)
        reaches.append(end - start if padded else inside)
    return np.asarray(np.maximum(reaches[0][:, None] * reaches[1], 1))


def _quotients(sums: Array, counts: Array) -> Array:
    """Of integers rounded to zero."""
    if sums.dtype.kind == "f":
        return np.asarray(sums / counts.astype(sums.dtype))
    return np.asarray(np.abs(sums) // np.abs(counts) * np.sign(sums) * np.sign(counts))


@structured.structured("aten::avg_pool2d_backward")
def avg_pool2d_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> tuple[Tensor, ...]:
    window = _window(kernel_size, stride, padding, ceil_mode, divisor_override)
    image, channels_last = checked(self, window)
    rank = len(self._sizes)
    for dim, size in zip((-3, -2, -1), (self._sizes[-3], *image), strict=True):
        check_dim_size(grad_output, rank, rank + dim, size)
    strides = strides_of(self._sizes, channels_last=channels_last)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    if not result.is_meta:
        _check_grad(self, grad_output, "gradOutput")
        _dispatch("avg_pool2d_backward", self._dtype, channels_last=channels_last)
        assert_no_internal_overlap(result)
        grads = as_array(grad_output, self._dtype)
        sizes = tuple(self._sizes)
        counts = _counts(window, sizes, image, count_include_pad, divisor_override)
        parts = rounded(_quotients(grads, counts), self._dtype)
        store(result, _spread(parts, window, sizes, self._dtype))
    return (result,)


def _check_grad(self: Tensor, grad: Tensor, name: str) -> None:
    if self._dtype is not grad._dtype:
        raise RuntimeError(
            f"expected dtype {TYPE_NAMES[self._dtype]} for `{name}` but got dtype "
            f"{TYPE_NAMES[grad._dtype]}"
        )


def _spread(parts: Array, window: Window, sizes: Sequence[int], dtype: DType) -> Array:
    """Each part to all pixels of its window.

    A pixel gets that of an earlier window first, in which it is further from the corner.
    """
    found = np.zeros(sizes, parts.dtype)
    image = parts.shape[-2:]
    for row in reversed(range(window.kernel[0])):
        for column in reversed(range(window.kernel[1])):
            ys, xs = places_of(window, row, 0, image[0]), places_of(window, column, 1, image[1])
            high, wide = (ys >= 0) & (ys < sizes[-2]), (xs >= 0) & (xs < sizes[-1])
            pixels = (..., ys[high][:, None], xs[wide])
            with np.errstate(all="ignore"):
                found[pixels] = rounded(found[pixels] + parts[..., high, :][..., wide], dtype)
    return found


# --- to a size that is asked for --------------------------------------------------------------


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    """``start_index`` and ``end_index`` of each window."""
    return [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]


def _formatted(sizes: Sequence[int], like: Tensor) -> Tensor:
    """``resize_`` of an empty tensor to a memory format."""
    channels_last = len(sizes) == 4 and suggest_memory_format(like) is _CHANNELS_LAST
    strides = strides_of(sizes, channels_last=channels_last)
    return new_tensor(sizes, like._dtype, like._device, strides)


@kernel("aten::_adaptive_avg_pool2d")
def adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    _check_adaptive(self, output_size)
    output = _formatted((*self._sizes[:-2], *output_size), self)
    return _adapt_into(output, self, output_size)


@kernel("aten::adaptive_avg_pool2d.out")
def adaptive_avg_pool2d_out(self: Tensor, output_size: Sequence[int], out: Tensor) -> Tensor:
    _check_adaptive(self, output_size)
    if out._dtype is not self._dtype:
        raise RuntimeError(
            f"expected dtype {TYPE_NAMES[self._dtype]} for `output` but got dtype "
            f"{TYPE_NAMES[out._dtype]}"
        )
    format = suggest_memory_format(self) if len(self._sizes) == 4 else None
    _RESIZE_(out, [*self._sizes[:-2], *output_size], memory_format=format)
    return _adapt_into(out, self, output_size)


def _check_adaptive(self: Tensor, output_size: Sequence[int]) -> None:
    if len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    rank = len(self._sizes)
    if rank not in (3, 4):
        raise RuntimeError(
            f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(self._sizes)}"
        )
    for dim in (rank - 2, rank - 1):
        if not self._sizes[dim]:
            raise RuntimeError(
                "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch "
                f"dimensions, but input has sizes {list(self._sizes)} with dimension {dim} being "
                "empty"
            )


def _adapt_into(output: Tensor, self: Tensor, output_size: Sequence[int]) -> Tensor:
    if numel(output._sizes):
        _dispatch_adaptive("adaptive_avg_pool2d", self)
        store(output, rounded(_adapted(as_array(self, self._dtype), output_size), self._dtype))
    return output


def _dispatch_adaptive(name: str, self: Tensor) -> None:
    channels_last = suggest_memory_format(self) is _CHANNELS_LAST
    dispatch_over(FLOATING_TYPES | HALVES, name + "_channels_last" * channels_last, self._dtype)


def _adapted(values: Array, image: Sequence[int]) -> Array:
    found = np.zeros((*values.shape[:-2], *image), values.dtype)
    for row, (top, bottom) in enumerate(_bounds(values.shape[-2], image[0])):
        for column, (left, right) in enumerate(_bounds(values.shape[-1], image[1])):
            window = values[..., top:bottom, left:right].reshape(*values.shape[:-2], -1)
            total = np.add.accumulate(window, axis=-1)[..., -1]  # one after the other
            kind = values.dtype.type
            found[..., row, column] = total / kind(bottom - top) / kind(right - left)
    return found


@kernel("aten::_adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    counts = HABITS["an adaptive average pool's gradient has as many dimensions"]
    name, sizes = "adaptive_avg_pool2d_backward()", list(grad_output._sizes)
    for dim in range(1, len(sizes)):
        if not sizes[dim]:
            raise RuntimeError(
                f"{name}: Expected grad_output to have non-zero size for non-batch dimensions, "
                f"but grad_output has sizes {sizes} with dimension {dim} being empty"
            )
    if counts:
        name = "adaptive_avg_pool2d_backward_out_cpu_template"
    if counts and len(sizes) != len(self._sizes):
        raise RuntimeError(
            f"{name}: Expected dimensions {len(self._sizes)} for `grad_output` but got dimensions "
            f"{len(sizes)}"
        )
    if len(sizes) not in (3, 4):
        raise RuntimeError(f"{name}: Expected 3D or 4D tensor, but got {list(self._sizes)}")
    _check_grad(self, grad_output, "grad_output")
    result = _formatted(self._sizes, self)
    _dispatch_adaptive("adaptive_avg_pool2d_backward", self)
    grads = as_array(grad_output, self._dtype)
    found = np.zeros(tuple(self._sizes), grads.dtype)
    for row, (top, bottom) in enumerate(_bounds(self._sizes[-2], sizes[-2])):
        for column, (left, right) in enumerate(_bounds(self._sizes[-1], sizes[-1])):
            part = rounded(np.asarray(grads[..., row, column] / (bottom - top)), self._dtype)
            part = rounded(np.asarray(part / (right - left)), self._dtype)[..., None, None]
            pixels = (..., slice(top, bottom), slice(left, right))
            found[pixels] = rounded(found[pixels] + part, self._dtype)
    store(result, found)
    return result
