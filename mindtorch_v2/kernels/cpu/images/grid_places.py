"""Where in an image the places of a grid are, and how far from the pixels around.

Mirrors ``aten/src/ATen/native/GridSampler.h``, which computes one number after the other, and
``ComputeLocation`` of ``cpu/GridSamplerKernel.cpp``, which computes vectors.  Each step of a half
is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.switches import HALVES
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array


class Interpolation(IntEnum):
    """``GridSamplerInterpolation``."""

    BILINEAR = 0
    NEAREST = 1
    BICUBIC = 2


class Padding(IntEnum):
    """``GridSamplerPadding``: what there is beyond an image."""

    ZEROS = 0
    BORDER = 1
    REFLECTION = 2


@dataclass(frozen=True)
class Numbers:
    """Numbers of a dtype, as its kernels compute with them."""

    dtype: DType
    fuses: bool
    """Whether products of floats are added unrounded: what is compiled for any processor has no
    operation for that."""

    def keep(self, values: Array) -> Array:
        return rounded(np.asarray(values), self.dtype)

    def times(self, one: Any, two: Any) -> Array:
        return self.keep(one * two)

    def plus(self, one: Any, two: Any) -> Array:
        return self.keep(one + two)

    def minus(self, one: Any, two: Any) -> Array:
        return self.keep(one - two)

    def times_plus(self, one: Any, two: Any, three: Any) -> Array:
        """A product that is added to something: of floats it is not rounded."""
        if self.dtype in HALVES or not self.fuses:
            return self.plus(self.times(one, two), three)
        return fused(one, two, three)


@dataclass(frozen=True)
class Places:
    """Of one coordinate, along a dimension of ``size`` pixels.

    ``as_vectors``: as the kernel for images computes it, that for volumes does it otherwise.
    """

    numbers: Numbers
    size: int
    padding: Padding
    align_corners: bool
    as_vectors: bool

    def unnormalize(self, coordinate: Array) -> Array:
        """From the pixels' extent, which is between -1 and 1, to pixels."""
        numbers, kind = self.numbers, coordinate.dtype.type
        shifted = numbers.plus(coordinate, kind(1))
        if self.as_vectors:
            scale = kind(self.scale)
            if self.align_corners:
                return numbers.times(shifted, scale)
            return numbers.times_plus(shifted, scale, kind(-0.5))
        if self.align_corners:
            return numbers.times(numbers.keep(shifted / kind(2)), kind(self.size - 1))
        reach = numbers.times_plus(shifted, kind(self.size), kind(-1))
        return numbers.keep(reach / kind(2))

    @property
    def scale(self) -> float:
        """How many pixels the coordinate's unit has."""
        return (self.size - self.align_corners) / 2

    def bounded(self, place: Array) -> Array:
        """``compute_coordinates``: within the image, unless there are zeros around it."""
        if self.padding is Padding.ZEROS:
            return place
        if self.padding is Padding.REFLECTION:
            place, _ = self._reflected(place)
        return self._clipped(place)

    def _clipped(self, place: Array) -> Array:
        """``clip_coordinates``: what is no number is at an end."""
        kind = place.dtype.type
        within = np.fmin(np.fmax(place, kind(0)), kind(self.size - 1))
        last = np.isnan(place) & (not self.as_vectors)
        return np.asarray(np.where(last, kind(self.size - 1), within))

    def _reflected(self, place: Array) -> tuple[Array, Array]:
        """``reflect_coordinates``, and whether that is the other way round."""
        numbers, kind = self.numbers, place.dtype.type
        low, span = (0, self.size - 1) if self.align_corners else (-0.5, self.size)
        if span <= 0:
            return np.zeros_like(place), np.zeros(place.shape, kind)
        shifted = numbers.minus(place, kind(low))
        is_negative, distance = shifted < 0, np.abs(shifted)
        if self.as_vectors:
            twice = kind(2 * span)
            flips = np.trunc(numbers.keep(distance / twice))
            extra = numbers.times_plus(-flips, twice, distance)
            rest = numbers.minus(twice, extra)
            is_flipped = extra > rest
        else:
            extra = numbers.keep(np.fmod(distance, kind(span)))
            is_flipped = np.floor(numbers.keep(distance / kind(span))) % 2 == 1
            rest = numbers.minus(kind(span), extra)
        found = numbers.plus(np.where(is_flipped, rest, extra), kind(low))
        return found, np.where(is_flipped != is_negative, kind(-1), kind(1))

    def located(self, coordinate: Array) -> tuple[Array, Array]:
        """``grid_sampler_compute_source_index_set_grad``: the place in the image, and by how much
        it moves with the coordinate."""
        place = self.unnormalize(coordinate)
        kind = place.dtype.type
        slope = np.full(place.shape, kind(self.scale))
        if self.padding is Padding.ZEROS:
            return place, slope
        if self.padding is Padding.REFLECTION:
            place, direction = self._reflected(place)
            slope = slope * direction
        is_inside = ~((place <= 0) | (place >= self.size - 1))
        if not self.as_vectors:  # a product with zero has a sign
            return self._clipped(place), slope * is_inside.astype(slope.dtype)
        return self._clipped(place), np.where(is_inside, slope, kind(0))


def pixel(place: Array) -> Array:
    """The number of a pixel; what is none is one that no image has."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(place), place, np.float32(-(2**62))).astype(np.int64)
