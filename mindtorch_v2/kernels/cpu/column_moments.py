"""Mean and variance of groups of channels that lie side by side, from sums of numbers and squares.

Mirrors ``ColumnwiseMoments`` and ``CalcMeanVar`` of
``aten/src/ATen/native/cpu/group_norm_kernel.cpp``: with channels last a group is a narrow strip of
each pixel, summed up in the lanes of one vector of AVX2 or, of a large image, channel by channel.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array

_BYTES: Final = 32
"""Of a vector."""
_LARGE: Final = 1024
"""``feature_map_threshold``: pixels from which each channel has sums of its own."""


def column_moments(values: Array, dtype: DType) -> tuple[Array, Array]:
    """The mean and the variance of each group, [N, G], of values [N, pixels, G, channels].

    They are what ``dtype`` is computed in; halves fill two vectors at once.
    """
    if values.shape[1] >= _LARGE:
        sums, squares = _of_channels(values)
    else:
        sums, squares = _of_lanes(values, 1 if to_opmath(dtype) is dtype else 2)
    kind = values.dtype.type
    share = kind(1) / kind(values.shape[1] * values.shape[3])
    mean = sums * share
    variance = fused(squares, share, -(mean * mean))
    return mean, np.maximum(variance, kind(0))


def _plus_square(numbers: Array, added: Array) -> Array:
    if HABITS["a group norm rounds its squares"]:
        return numbers * numbers + added
    return fused(numbers, numbers, added)


def _of_lanes(values: Array, parts: int) -> tuple[Array, Array]:
    """Pixel after pixel, vectors of its channels one after the other into the same lanes."""
    count, pixels, groups, channels = values.shape
    lanes = _BYTES // values.itemsize
    width = lanes * parts
    padded = np.zeros((count, pixels, groups, -(-channels // width) * width), values.dtype)
    padded[..., :channels] = values
    vectors = padded.reshape(count, pixels, groups, -1, parts, lanes)
    sums, squares = np.zeros((2, count, groups, lanes), values.dtype)
    for pixel in range(pixels):
        for place in range(vectors.shape[3]):
            vector = vectors[:, pixel, :, place]
            first = vector[..., 0, :]
            has_second = parts == 2 and channels - place * width > lanes
            if has_second:
                second = vector[..., 1, :]
                sums = sums + (first + second)
                squares = squares + _plus_square(first, second * second)
            else:
                sums = sums + first
                squares = _plus_square(first, squares)
    return _reduced(sums), _reduced(squares)


def _reduced(lanes: Array) -> Array:
    """``vec_reduce_all``: halves of a vector are added until one number is left."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def _of_channels(values: Array) -> tuple[Array, Array]:
    """Each channel over all pixels, then those of a group one after the other."""
    sums, squares = np.zeros((2, values.shape[0], *values.shape[2:]), values.dtype)
    for pixel in range(values.shape[1]):
        vector = values[:, pixel]
        sums = sums + vector
        squares = _plus_square(vector, squares)
    kind = values.dtype
    total, of_squares = (np.cumsum(each, -1, dtype=kind)[..., -1] for each in (sums, squares))
    return total, of_squares
