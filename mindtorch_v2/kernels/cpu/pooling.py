"""The largest value of every window of an image, and the derivative of that.

Mirrors ``aten/src/ATen/native/DilatedMaxPool2d.cpp``, ``Pool.h`` and ``cpu/MaxPoolKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.accumulating import add_in_turn
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides, numel, wrap_dim
from mindtorch_v2.tensor.support import TYPE_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]


def _pair(values: Sequence[int], default: tuple[int, int] | None, message: str) -> tuple[int, int]:
    """A height and a width; RuntimeError if there are neither one nor two numbers."""
    if not values and default is not None:
        return default
    if len(values) not in (1, 2):
        raise RuntimeError(message)
    return values[0], values[-1]


_NARROW: Final = HABITS["avg_pool2d looks at its sizes first"]
_INT_MIN: Final = -(1 << 31)
_INT_MAX: Final = (1 << 31) - 1


def _safe_downcast(values: tuple[int, int], least: int) -> tuple[int, int]:
    """``safe_downcast<int, int64_t>``, or to what else a release holds the numbers in."""
    if min(values) < least or max(values) > _INT_MAX:
        raise worded("a size of a pool beyond an int")
    return values


def _cut_off(values: tuple[int, int]) -> tuple[int, int]:
    """As ints, to which C++ converts what it passes on."""
    height, width = ((value - _INT_MIN) % (1 << 32) + _INT_MIN for value in values)
    return height, width


@dataclass(frozen=True)
class Window:
    """How a window goes over an image: heights and widths of all that is asked for."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    ceil_mode: bool
    cuts_off: bool = False
    """Whether numbers beyond an int are not refused, but lose their upper bits when checked."""

    @classmethod
    def of(
        cls,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        name: str = "max_pool2d",
        *,
        cuts_off: bool = False,
    ) -> Window:
        two = "must either be a single int, or a tuple of two ints"
        is_narrow = _NARROW and name == "avg_pool2d"

        def narrowed(values: tuple[int, int], least: int = _INT_MIN) -> tuple[int, int]:
            return values if cuts_off else _safe_downcast(values, least if is_narrow else _INT_MIN)

        size = narrowed(_pair(kernel, None, f"{name}: kernel_size {two}"), 1)
        optional = "must either be omitted, a single int, or a tuple of two ints"
        step = narrowed(_pair(stride, size, f"{name}: stride {optional}"), 0)
        edge = narrowed(_pair(padding, None, f"{name}: padding {two}"))
        must_be = "must be either a single int, or a tuple of two ints"
        spread = narrowed(_pair(dilation, None, f"{name}: dilation {must_be}"))
        return cls(size, step, edge, spread, ceil_mode, cuts_off)

    def output_size(self, size: int, place: int) -> int:
        """``pooling_output_shape`` of a height (0) or a width (1)."""
        stride, padding = self.stride[place], self.padding[place]
        if stride == 0:
            raise RuntimeError("stride should not be zero")
        if padding < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
        reach = (self.kernel[place] - 1) * self.dilation[place] + 1
        if padding > int(reach / 2):
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got pad="
                f"{padding}, kernel_size={self.kernel[place]} and dilation={self.dilation[place]}"
            )
        room = size + 2 * padding - reach + (stride - 1 if self.ceil_mode else 0)
        found = room // stride + 1
        if self.ceil_mode and (found - 1) * stride >= size + padding:
            found -= 1
        return found

    def check(self, sizes: Sequence[int], output: tuple[int, int], *, channels_last: bool) -> None:
        """``pool2d_shape_check``."""
        if self.cuts_off:
            given = (self.kernel, self.stride, self.padding, self.dilation)
            kernel, stride, padding, dilation = map(_cut_off, given)
            narrow = Window(kernel, stride, padding, dilation, self.ceil_mode)
            narrow.check(sizes, output, channels_last=channels_last)
            return
        for words, (height, width), names in (
            ("kernel size", self.kernel, ("kH", "kW")),
            ("stride", self.stride, ("dH", "dW")),
            ("dilation", self.dilation, ("dilationH", "dilationW")),
        ):
            if min(height, width) <= 0:
                raise RuntimeError(
                    f"{words} should be greater than zero, but got {names[0]}: {height} "
                    f"{names[1]}: {width}"
                )
        has_values = sizes[1] != 0 and sizes[2] != 0
        is_batch = len(sizes) == 4 and has_values and sizes[3] != 0
        if channels_last:
            if not is_batch:
                raise RuntimeError(
                    "Expected 4D (batch mode) tensor expected for input with channels_last layout "
                    f"with optional 0 dim batch size for input, but got: {list(sizes)}"
                )
        elif not is_batch and not (len(sizes) == 3 and sizes[0] != 0 and has_values):
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
                f"but got:{list(sizes)}"
            )
        (tall, wide), (top, left) = self.kernel, self.padding
        if wide // 2 < left or tall // 2 < top:
            raise RuntimeError(
                "pad should be smaller than or equal to half of kernel size, but got "
                f"padW = {left}, padH = {top}, kW = {wide}, kH = {tall}"
            )
        if min(output) < 1:
            planes, height, width = sizes[-3:]
            raise RuntimeError(
                f"Given input size: ({planes}x{height}x{width}). Calculated output size: "
                f"({planes}x{output[0]}x{output[1]}). Output size is too small"
            )


def checked(input: Tensor, window: Window) -> tuple[tuple[int, int], bool]:
    """Height and width of the output, and whether channels lie innermost."""
    sizes = input._sizes
    channels_last = suggest_memory_format(input) is _CHANNELS_LAST
    wrap_dim(-3, len(sizes), scalar=False)
    output = window.output_size(sizes[-2], 0), window.output_size(sizes[-1], 1)
    window.check(sizes, output, channels_last=channels_last)
    return output, channels_last


def _check_rank(input: Tensor) -> None:
    if len(input._sizes) not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")


def strides_of(sizes: Sequence[int], *, channels_last: bool) -> tuple[int, ...] | None:
    return channels_last_strides(sizes, CHANNELS_LAST[_CHANNELS_LAST]) if channels_last else None


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
    window = Window.of(kernel_size, stride, padding, dilation, ceil_mode)
    _check_rank(self)
    image, channels_last = checked(self, window)
    shape = (*self._sizes[:-2], *image)
    strides = strides_of(shape, channels_last=channels_last)
    output = set_output(outputs[0], shape, self._dtype, self._device, strides)
    indices = set_output(outputs[1], shape, int64, self._device, strides)
    if not output.is_meta:
        dispatch("max_pool2d", self._dtype, "max_pool2d_channels_last" if channels_last else "")
    if not output.is_meta and numel(shape):
        values, places = _pooled(as_array(self, self._dtype), window, image)
        store(output, rounded(values, self._dtype))
        store(indices, places)
    return output, indices


def _pooled(values: Array, window: Window, image: tuple[int, int]) -> tuple[Array, Array]:
    """The largest value of each window, and where it is among those of the plane; the first of
    equals, the last of NaNs."""
    height, width = values.shape[-2:]
    best: Array | None = None
    found = np.zeros((*values.shape[:-2], *image), np.int64)
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            ys = places_of(window, row, 0, image[0])
            xs = places_of(window, column, 1, image[1])
            inside = ((ys >= 0) & (ys < height))[:, None] & ((xs >= 0) & (xs < width))
            where = np.clip(ys, 0, height - 1)[:, None] * width + np.clip(xs, 0, width - 1)
            here = values.reshape(*values.shape[:-2], -1)[..., where]
            if best is None:
                lowest = _lowest(values)
                best = np.full(found.shape, lowest, values.dtype)
                # without a larger value, the first place inside
                found[...] = _first_places(window, image, (height, width))
            larger = inside & ((here > best) | (here != here))
            best = np.where(larger, here, best)
            found = np.where(larger, where, found)
    assert best is not None
    return best, found


def _first_places(window: Window, image: tuple[int, int], size: tuple[int, int]) -> Array:
    starts = []
    for place in (0, 1):
        start = np.arange(image[place]) * window.stride[place] - window.padding[place]
        behind = np.ceil(np.maximum(-start, 0) / window.dilation[place]).astype(np.int64)
        starts.append(start + behind * window.dilation[place])
    return np.asarray(starts[0][:, None] * size[1] + starts[1])


def places_of(window: Window, offset: int, place: int, count: int) -> Array:
    start = offset * window.dilation[place] - window.padding[place]
    return np.asarray(np.arange(count) * window.stride[place] + start)


def _lowest(values: Array) -> float | int:
    if values.dtype.kind == "f":
        return -np.inf
    return int(np.iinfo(values.dtype).min)


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
    window = Window.of(kernel_size, stride, padding, dilation, ceil_mode)
    if self._dtype is not grad_output._dtype:
        raise RuntimeError(
            f"expected dtype {TYPE_NAMES[self._dtype]} for `gradOutput` but got dtype "
            f"{TYPE_NAMES[grad_output._dtype]}"
        )
    _check_rank(self)
    image, channels_last = checked(self, window)
    rank = len(self._sizes)
    for tensor in (grad_output, indices):
        for dim, size in zip((-3, -2, -1), (self._sizes[-3], *image), strict=True):
            check_dim_size(tensor, rank, rank + dim, size)
    strides = strides_of(self._sizes, channels_last=channels_last)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    if not result.is_meta and numel(result._sizes):
        name = "max_pool2d_backward"
        dispatch(name, self._dtype, f"{name}_channels_last" if channels_last else "")
        grads = as_array(grad_output, self._dtype)
        pixels = self._sizes[-2] * self._sizes[-1]
        planes = grads.size // max(image[0] * image[1], 1)
        found = np.zeros((planes, pixels), grads.dtype)
        rows = np.arange(planes)[:, None]
        places = (rows, value_array(indices).reshape(planes, -1))
        add_in_turn(found, places, grads.reshape(planes, -1), self._dtype)
        store(result, found.reshape(tuple(self._sizes)))
    return (result,)
