"""Images of another size in which every pixel of the input has its share, and images of bytes.

Mirrors the separable kernels of ``aten/src/ATen/native/cpu/UpSampleKernel.cpp``, which follow
Pillow: one dimension after the other, by weights of a filter; of bytes in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.images.taps import CUBIC as OPENCV
from mindtorch_v2.kernels.cpu.images.taps import Axis, cubic_convolution1, cubic_convolution2
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch_over
from mindtorch_v2.kernels.upsampling import check_gradient, checked, strides_like
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_UINT8: Final = DTYPES["uint8"]
_KEYS: Final = -0.5
"""The parameter of a cubic convolution, as Keys proposed it and Pillow has it."""
_LOBES: Final = 3
"""Of a sine, on both sides of a pixel."""
_MOST_BITS: Final = 22
_INT16: Final = 1 << 15


@dataclass(frozen=True)
class Filter:
    """Weights by the distance of a pixel: ``shared`` ones if every pixel has its share, ``plain``
    ones for as many pixels as are near."""

    reach: int
    """How many pixels one of an output of the same size is made of."""
    shared: Callable[[float], float]
    plain: Callable[[float], float]


def _triangle(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def _bicubic(a: float, x: float) -> float:
    x = abs(x)
    if x < 1.0:
        return float(cubic_convolution1(x, a))
    return float(cubic_convolution2(x, a)) if x < 2.0 else 0.0


def _lanczos(x: float) -> float:
    """A sine over its angle, in a window that is the middle of another."""
    return float(np.sinc(x) * np.sinc(x / _LOBES)) if abs(x) < _LOBES else 0.0


LINEAR: Final = Filter(2, _triangle, _triangle)
CUBIC: Final = Filter(4, partial(_bicubic, _KEYS), partial(_bicubic, OPENCV))
LANCZOS: Final = Filter(2 * _LOBES, _lanczos, _lanczos)


class _Ranges(NamedTuple):
    """The pixels of the input that one of the output is made of: the first, and their weights."""

    starts: list[int]
    weights: list[Array]


def _ranges(axis: Axis, kind: Any, filter: Filter) -> _Ranges:
    """``_compute_indices_min_size_weights_aa`` of each pixel of the output."""
    scale = axis.step(kind)
    half = filter.reach * 0.5
    support = kind(half * float(scale)) if scale >= 1.0 else kind(half)
    most = math.ceil(support) * 2 + 1
    inverse = kind(1.0 / float(scale)) if scale >= 1.0 else kind(1)
    found = _Ranges([], [])
    for output in range(axis.count):
        center = kind(float(scale) * (output + 0.5))
        start = max(int(float(center - support) + 0.5), 0)
        size = min(int(float(center + support) + 0.5), axis.size) - start
        size = min(max(size, 0), most)
        places = (np.arange(size) + start).astype(kind) - center
        distances = ((places.astype(np.float64) + 0.5) * float(inverse)).astype(kind)
        weights = np.array([filter.shared(float(each)) for each in distances], kind)
        total = np.add.accumulate(weights)[-1:].sum()
        found.starts.append(start)
        found.weights.append(weights / total if total != 0 else weights)
    return found


def _near_ranges(axis: Axis, filter: Filter) -> _Ranges:
    """``_compute_indices_min_size_weights``: the weights of pixels beyond a border are those of
    the pixel at it."""
    sources = axis.sources(np.float64, cubic=filter.reach > 2)
    support = filter.reach // 2
    found = _Ranges([], [])
    for source in sources.tolist():
        place = min(int(np.floor(np.float32(source))), axis.size - 1)
        way = min(max(source - place, 0.0), 1.0)
        first, end = place - support + 1, place + support + 1
        start = max(first, 0)
        size = min(max(min(end, axis.size) - start, 0), filter.reach)
        weights = np.zeros(filter.reach)
        at = 0
        for step in range(filter.reach):
            if first + step <= 0:
                at = 0
            elif first + step >= axis.size - 1:
                at = size - 1
            weights[at] += filter.plain(step + 1 - support - way)
            at += 1
        found.starts.append(start)
        found.weights.append(weights[:size])
    return found


# --- one dimension after the other ------------------------------------------------------------


def _separated(
    values: Array, axes: Sequence[Axis], resample: Callable[[Array, Axis], Array]
) -> Array:
    """The last dimension first, and none that keeps its size."""
    for dim, axis in reversed([*enumerate(axes, 2)]):
        if axis.size != axis.count:
            moved = np.moveaxis(values, dim, 0)
            values = np.moveaxis(resample(moved, axis), 0, dim)
    return values


def _weighed(filter: Filter, values: Array, axis: Axis) -> Array:
    """Along the first dimension, pixel by pixel."""
    kind = values.dtype.type
    ranges = _ranges(axis, kind, filter)
    found = np.zeros((axis.count, *values.shape[1:]), values.dtype)
    for output, (start, weights) in enumerate(zip(*ranges, strict=True)):
        for place, weight in enumerate(weights, start):
            found[output] += values[place] * weight
    return found


def bytes_of(input: Tensor, axes: Sequence[Axis], filter: Filter, *, antialias: bool) -> Array:
    """An image of bytes: weights are integers of so many bits as 16 have room for."""

    def resample(values: Array, axis: Axis) -> Array:
        ranges = _ranges(axis, np.float64, filter) if antialias else _near_ranges(axis, filter)
        bits = _bits(max(0.0, *(each for row in ranges.weights for each in row.tolist())))
        found = np.empty((axis.count, *values.shape[1:]), np.uint8)
        for output, (start, weights) in enumerate(zip(*ranges, strict=True)):
            scaled = weights * (1 << bits)
            whole = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64)
            near = values[start : start + len(whole)].astype(np.int64)
            total = np.tensordot(whole, near, 1) + (1 << (bits - 1))
            found[output] = np.clip(total >> bits, 0, 255)
        return found

    return _separated(value_array(input), axes, resample)


def _bits(largest: float) -> int:
    """How many bits a weight may be shifted by."""
    for bits in range(_MOST_BITS):
        if int(0.5 + largest * (1 << (bits + 1))) >= _INT16:
            return bits
    return _MOST_BITS


# --- operators --------------------------------------------------------------------------------


def _axes(
    input_size: Sequence[int], output_size: Sequence[int], scales: Sequence[Any], aligned: bool
) -> list[Axis]:
    sizes = zip(input_size[2:], output_size, scales, strict=True)
    return [Axis(size, count, scale, aligned) for size, count, scale in sizes]


def _add(name: str, filter: Filter, *, keeps_format: bool) -> None:
    """``keeps_format``: the gradient lies as the output's does."""

    def upsample(
        outputs: Outputs, self: Tensor, output_size: Sequence[int], aligned: bool, *scales: Any
    ) -> tuple[Tensor, ...]:
        sizes = checked(self, output_size, 2)
        dtype = self._dtype
        output = set_output(outputs[0], sizes, dtype, self._device, strides_like(sizes, self))
        if output.is_meta:
            return (output,)
        axes = _axes(self._sizes, output_size, scales, aligned)
        if dtype is _UINT8:
            store(output, bytes_of(self, axes, filter, antialias=True))
        elif tuple(self._sizes) == sizes:
            store(output, value_array(self))
        else:
            dispatch_over(FLOATING_TYPES, "compute_index_ranges_weights", dtype)
            assert_no_internal_overlap(output)
            store(output, _separated(as_array(self, dtype), axes, partial(_weighed, filter)))
        return (output,)

    def backward(
        outputs: Outputs,
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        aligned: bool,
        *scales: Any,
    ) -> tuple[Tensor, ...]:
        check_gradient(grad_output, output_size, input_size, 2)
        dtype = grad_output._dtype
        strides = strides_like(input_size, grad_output) if keeps_format else None
        result = set_output(outputs[0], input_size, dtype, grad_output._device, strides)
        if not result.is_meta:
            dispatch_over(FLOATING_TYPES, f"{name.lstrip('_')}_backward_cpu", dtype)
            axes = _axes(input_size, output_size, scales, aligned)
            grads = as_array(grad_output, dtype)
            store(result, _shared_out(grads, input_size, axes, filter))
        return (result,)

    structured.add(f"aten::{name}", upsample)
    structured.add(f"aten::{name}_backward", backward)


def _shared_out(
    grads: Array, input_size: Sequence[int], axes: Sequence[Axis], filter: Filter
) -> Array:
    """Every pixel of the output's gradient to those that it is made of."""
    found = np.zeros(tuple(input_size), grads.dtype)
    down, along = (_ranges(axis, grads.dtype.type, filter) for axis in axes)
    for row, (top, heights) in enumerate(zip(*down, strict=True)):
        for column, (left, widths) in enumerate(zip(*along, strict=True)):
            shares = heights[:, None] * widths
            part = shares * grads[..., row, column, None, None]
            found[..., top : top + len(heights), left : left + len(widths)] += part
    return found


_add("_upsample_bilinear2d_aa", LINEAR, keeps_format=True)
_add("_upsample_bicubic2d_aa", CUBIC, keeps_format=False)
_add("_upsample_lanczos2d_aa", LANCZOS, keeps_format=False)
