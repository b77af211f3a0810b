"""What an interpolated pixel is made of, along one dimension.

Mirrors ``aten/src/ATen/native/UpSample.h`` and the helpers of ``cpu/UpSampleKernel.cpp``
(``HelperInterpNearest``, ``HelperInterpLinear``, ``HelperInterpCubic``).  Numbers are rounded as
they are there: which pixel is the nearest may depend on it.  A product that is added to something
is not, as compilers have it: see :mod:`~mindtorch_v2.kernels.cpu.functions.fused`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.tensor.elements import Array

CUBIC: Final = -0.75
"""The parameter of a cubic convolution, as OpenCV has it."""


@dataclass(frozen=True)
class Axis:
    """A dimension that becomes one of another size."""

    size: int
    count: int
    """Of the output."""
    scale: float | None = None
    """By what it grows, if that is not the quotient of the sizes."""
    align_corners: bool = False

    def step(self, kind: Any) -> Any:
        """``area_pixel_compute_scale``: pixels of the input for one of the output, as a number of
        NumPy's type ``kind``."""
        if self.align_corners:
            return kind(self.size - 1) / kind(self.count - 1) if self.count > 1 else kind(0)
        if self.scale is not None and self.scale > 0.0:
            with np.errstate(over="ignore"):
                return kind(np.float64(1.0) / self.scale)
        return kind(self.size) / kind(self.count)

    def sources(self, kind: Any, *, cubic: bool = False) -> Array:
        """``area_pixel_compute_source_index`` of each pixel of the output."""
        outputs = np.arange(self.count).astype(kind)
        if self.align_corners:
            return np.asarray(self.step(kind) * outputs)
        found = fused(self.step(kind), outputs + kind(0.5), kind(-0.5))
        return found if cubic else np.maximum(found, kind(0))


class Taps(NamedTuple):
    """Places in the input, and with what weight each counts: a row for each, a column for each
    pixel of the output."""

    places: Array
    weights: Array


def _floor(sources: Array, limit: int) -> Array:
    """The pixel at each source or before it, among those below ``limit``; ``floorf`` takes
    floats."""
    return np.minimum(np.floor(sources.astype(np.float32)).astype(np.int64), limit - 1)


def _guarded(sources: Array, size: int) -> tuple[Array, Array]:
    """``guard_index_and_lambda``: the pixel before each source and the way from there."""
    places = _floor(sources, size)
    kind = sources.dtype.type
    return places, np.clip(sources - places.astype(kind), kind(0), kind(1))


def weighed(terms: Iterable[tuple[Array, Any]]) -> Array:
    """The sum of at least two numbers, by their weights: the first product is added to the next."""
    (one, weight), (two, second), *rest = terms
    total = fused(one, weight, two * second)
    for each, factor in rest:
        total = fused(each, factor, total)
    return total


# --- the nearest pixel ------------------------------------------------------------------------


def nearest(axis: Axis, kind: Any, *, exact: bool) -> Array:
    """``compute_indices_weights`` of the nearest pixel, by its center if it is to be ``exact``."""
    if exact:
        return _floor(axis.sources(kind) + 0.5, axis.size)
    return _floor(axis.step(kind) * np.arange(axis.count).astype(kind), axis.size)


def nearest_idx(axis: Axis, *, exact: bool) -> Array:
    """``nearest_idx`` and ``nearest_exact_idx``, which compute in floats whatever the dtype is."""
    outputs = np.arange(axis.count)
    if exact:
        return _floor((outputs + 0.5) * axis.step(np.float32), axis.size)
    if axis.count == axis.size:
        return outputs
    if axis.count == 2 * axis.size:
        return outputs >> 1
    return _floor(axis.step(np.float32) * outputs.astype(np.float32), axis.size)


# --- several pixels ---------------------------------------------------------------------------

Rounding = Callable[[Array], Array]
"""What makes numbers values of the dtype in which weights are kept."""


def _as_they_are(weights: Array) -> Array:
    return weights


def linear(axis: Axis, kind: Any, keep: Rounding = _as_they_are) -> Taps:
    """``compute_source_index_and_lambda``: the pixels on both sides."""
    if axis.count == axis.size:
        places = np.arange(axis.count)
        ones = np.ones(axis.count, kind)
        return Taps(np.stack([places, places]), np.stack([ones, ones * 0]))
    first, way = _guarded(axis.sources(kind), axis.size)
    way = keep(way)
    second = first + (first < axis.size - 1)
    return Taps(np.stack([first, second]), np.stack([keep(kind(1) - way), way]))


def cubic(axis: Axis, kind: Any, keep: Rounding = _as_they_are) -> Taps:
    """The four pixels around."""
    first, way = _guarded(axis.sources(kind, cubic=True), axis.size)
    places = np.clip(first + np.arange(-1, 3)[:, None], 0, axis.size - 1)
    return Taps(places, keep(cubic_coefficients(way)))


def cubic_coefficients(way: Array) -> Array:
    """``get_cubic_upsample_coefficients`` of the way from the second pixel to the third."""
    kind = way.dtype.type
    rest = kind(1) - way
    one = kind(1)
    return np.stack(
        [
            cubic_convolution2(way + one, kind(CUBIC)),
            cubic_convolution1(way, kind(CUBIC)),
            cubic_convolution1(rest, kind(CUBIC)),
            cubic_convolution2(rest + one, kind(CUBIC)),
        ]
    )


def cubic_convolution1(x: Any, a: Any) -> Any:
    """Of a pixel that is less than one away."""
    return fused(fused(a + 2, x, -(a + 3)) * x, x, 1)


def cubic_convolution2(x: Any, a: Any) -> Any:
    """Of one that is less than two away."""
    return fused(fused(fused(a, x, -5 * a), x, 8 * a), x, -4 * a)
