"""The mean of every window of an image or a volume, and the derivative of that.

Mirrors ``AveragePool2d.cpp``, ``AveragePool3d.cpp`` and ``cpu/AvgPoolKernel.cpp`` in
``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.pools.pooling import check_grad_dtype
from mindtorch_v2.kernels.cpu.pools.windows import (
    Sizes,
    Window,
    are_inside,
    check_gradient,
    checked_image,
    nearest,
    strides_of,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_AVERAGED: Final = FLOATING_TYPES | HALVES | {int64}
_AVERAGED_VOLUMES: Final = FLOATING_TYPES | {int64}

_CUTS_OFF: Final = HABITS["avg_pool2d cuts its sizes off"]


def _check_divisor(divisor_override: int | None) -> None:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")


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
    _check_divisor(divisor_override)
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
    image, channels_last = checked_image(self, window)
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


def _sums(values: Array, window: Window, output: Sizes) -> Array:
    """Row by row of each window, as it is added up."""
    sizes = values.shape[-window.dims :]
    found = np.zeros((*values.shape[: -window.dims], *output), values.dtype)
    for offset in window.offsets():
        places = window.places(offset, output)
        elements: tuple[Any, ...] = (..., *nearest(places, sizes))
        here = values[elements]
        found += np.where(are_inside(places, sizes), here, 0).astype(values.dtype)
    return found


def _counts(
    window: Window, sizes: Sequence[int], output: Sizes, padded: bool, divisor: int | None
) -> Array:
    """What each sum is divided by."""
    if divisor is not None:
        return np.full(output, divisor)
    reaches = []
    for place, size in enumerate(sizes[-window.dims :]):
        start = window.places_of(0, place, output[place])
        end = np.minimum(start + window.kernel[place], size + window.padding[place])
        inside = np.minimum(end, size) - np.maximum(start, 0)
        reaches.append(end - start if padded else inside)
    return np.asarray(np.maximum(reduce(np.multiply.outer, reaches), 1))


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
    image, channels_last = checked_image(self, window)
    check_gradient(grad_output, self, image)
    strides = strides_of(self._sizes, channels_last=channels_last)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    if not result.is_meta:
        check_grad_dtype(self, grad_output)
        _dispatch("avg_pool2d_backward", self._dtype, channels_last=channels_last)
        assert_no_internal_overlap(result)
        grads = as_array(grad_output, self._dtype)
        sizes = tuple(self._sizes)
        counts = _counts(window, sizes, image, count_include_pad, divisor_override)
        parts = rounded(_quotients(grads, counts), self._dtype)
        store(result, _spread(parts, window, sizes, self._dtype))
    return (result,)


def _spread(parts: Array, window: Window, sizes: Sequence[int], dtype: DType) -> Array:
    """Each part to all elements of its window.

    An element gets that of an earlier window first, in which it is further from the corner.
    """
    found = np.zeros(tuple(sizes), parts.dtype)
    output = parts.shape[-window.dims :]
    for offset in reversed(list(window.offsets())):
        target, source = [], []
        for place, each in enumerate(offset):
            reached = window.places_of(each, place, output[place])
            inside = (reached >= 0) & (reached < sizes[place - window.dims])
            target.append(reached[inside])
            source.append(np.flatnonzero(inside))
        elements: tuple[Any, ...] = (..., *np.ix_(*target))
        given: tuple[Any, ...] = (..., *np.ix_(*source))
        with np.errstate(all="ignore"):
            found[elements] = rounded(found[elements] + parts[given], dtype)
    return found


# --- volumes ----------------------------------------------------------------------------------


def _window_of_volume(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    divisor_override: int | None,
) -> Window:
    sizes = (kernel_size, stride, padding, (1,))
    window = Window.of(*sizes, ceil_mode, "avg_pool3d", dims=3)
    if len(self._sizes) not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    _check_divisor(divisor_override)
    return window


def _checked_volume(self: Tensor, window: Window, name: str) -> Sizes:
    volume = window.output_sizes(self._sizes)
    window.check_volume(list(self._sizes), volume, name, covers_kernel=True)
    return volume


@structured.structured("aten::avg_pool3d")
def avg_pool3d(
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
    window = _window_of_volume(self, *sizes, ceil_mode, divisor_override)
    volume = _checked_volume(self, window, "avg_pool3d()")
    shape = (*self._sizes[:-3], *volume)
    output = set_output(outputs[0], shape, self._dtype, self._device)
    if not output.is_meta:
        dispatch_over(_AVERAGED_VOLUMES, "avg_pool3d_out_frame", self._dtype)
        values = as_array(self, self._dtype)
        counts = _counts(window, values.shape, volume, count_include_pad, divisor_override)
        store(output, _quotients(_sums(values, window, volume), counts))
    return (output,)


@structured.structured("aten::avg_pool3d_backward")
def avg_pool3d_backward(
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
    sizes = (kernel_size, stride, padding)
    window = _window_of_volume(self, *sizes, ceil_mode, divisor_override)
    volume = _checked_volume(self, window, "avg_pool3d_backward()")
    check_gradient(grad_output, self, volume)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device)
    if not result.is_meta:
        dispatch_over(_AVERAGED_VOLUMES, "avg_pool3d_backward_out_frame", self._dtype)
        check_pointers(self._dtype, grad_output)
        grads = as_array(grad_output, self._dtype)
        counts = _counts(window, self._sizes, volume, count_include_pad, divisor_override)
        store(result, _spread(_quotients(grads, counts), window, self._sizes, self._dtype))
    return (result,)
