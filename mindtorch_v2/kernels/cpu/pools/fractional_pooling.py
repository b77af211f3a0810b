"""The largest value of windows that begin where random numbers say, and the derivative of that.

Mirrors ``FractionalMaxPool2d.cpp``, ``FractionalMaxPool3d.cpp`` and ``FractionalMaxPooling.h`` of
``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS
from mindtorch_v2.kernels.cpu.pools.pooling import (
    largest,
    sent_back,
    steps_between,
)
from mindtorch_v2.kernels.cpu.pools.windows import crossed, flat_places, resized
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_FLOATS: Final = FLOATING_TYPES | HALVES
_ORDER: Final = {2: (1, 0), 3: (0, 1, 2)}
"""Which of a plane's random numbers is that of each dimension."""


def _intervals(sample: Array, size: int, count: int, pool: int, dtype: DType) -> Array:
    """``generate_intervals``: where each of ``count`` windows begins; the last one ends the plane.

    Every step of the computation is a value of ``dtype``.
    """
    starts = np.full(count, size - pool, np.int64)
    if count > 1:
        kind = sample.dtype.type
        step = rounded(np.asarray(kind(size - pool) / kind(count - 1)), dtype)
        places = rounded(np.arange(count - 1).astype(kind) + sample, dtype)
        reached = rounded(places * step, dtype).astype(np.int64)
        starts[:-1] = reached - rounded(sample * step, dtype).astype(np.int64)
    return starts


def _check_samples(self: Tensor, samples: Tensor, dims: int) -> None:
    """``fractional_max_pool_check_shape``."""
    if self._dtype is not samples._dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(samples._sizes) != 3:
        raise RuntimeError(
            f"Expect _random_samples to have 3 dimensions, got {len(samples._sizes)}"
        )
    count, channels, numbers = samples._sizes
    batch, planes = (1, *self._sizes)[-dims - 2 : -dims]
    if count < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if channels != planes:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if numbers != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {numbers}.")


def _largest(
    outputs: Sequence[Tensor],
    self: Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    samples: Tensor,
) -> None:
    """Each plane has windows of its own."""
    dims = len(output_size)
    _check_samples(self, samples, dims)
    if not numel(outputs[0]._sizes):
        return
    dispatch_over(_FLOATS, f"fractional_max_pool{dims}d_out_frame", self._dtype)
    sizes = self._sizes[-dims:]
    planes = as_array(self, self._dtype).reshape(-1, prod(sizes))
    numbers = as_array(samples, self._dtype).reshape(-1, dims)
    best = np.zeros((len(planes), *output_size), planes.dtype)
    places = np.zeros(best.shape, np.int64)
    for plane, values in enumerate(planes):
        starts = [
            _intervals(numbers[plane, at], size, count, pool, self._dtype)
            for at, size, count, pool in zip(
                _ORDER[dims], sizes, output_size, kernel_size, strict=True
            )
        ]
        ends = [start + pool for start, pool in zip(starts, kernel_size, strict=True)]
        first = flat_places(crossed(starts), sizes)
        best[plane], places[plane] = largest(values, steps_between(starts, ends, sizes), first)
    shape = tuple(outputs[0]._sizes)
    store(outputs[0], rounded(best.reshape(shape), self._dtype))
    store(outputs[1], places.reshape(shape))


@dataclass(frozen=True)
class _Kind:
    """How the functions for images and for volumes say what they refuse."""

    name: str
    said: str
    """What most messages begin with."""
    ints: str
    sides: tuple[str, ...]
    order: tuple[int, ...]
    """In which order the dimensions are looked at."""
    spare: int
    """By how much a window must be able to move."""


_IMAGES: Final = _Kind(
    *("fractional_max_pool2d", "fractional_max_pool2d()", "tuple of Ints"),
    *(("height", "width"), (0, 1), 0),
)
_VOLUMES: Final = _Kind(
    *("fractional_max_pool3d", "fractional_max_pool3d_out()", "tuple of three Ints"),
    *(("time", "height", "width"), (0, 2, 1), 1),
)


def _check(
    kind: _Kind, self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int]
) -> None:
    dims, rank, said = len(kind.sides), len(self._sizes), kind.said
    for argument, values in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(values) != dims:
            raise RuntimeError(
                f"{kind.name}: {argument} must either be a single Int or {kind.ints}"
            )
    if rank not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{said}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(self._sizes)}"
        )
    for dim, size in enumerate(self._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"{said}: Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(self._sizes)} with dimension {dim} being empty."
            )
    for dim in kind.order:
        side, pool, size = kind.sides[dim], kernel_size[dim], self._sizes[dim - dims]
        if output_size[dim] + pool - 1 > size - kind.spare:
            raise RuntimeError(
                f"{said}: pool {side} {pool} too large relative to input {side} {size}"
            )


def _fractional_max_pool(
    kind: _Kind,
    outputs: Outputs,
    self: Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    random_samples: Tensor,
) -> tuple[Tensor, ...]:
    _check(kind, self, kernel_size, output_size)
    shape = (*self._sizes[: -len(output_size)], *output_size)
    output = set_output(outputs[0], shape, self._dtype, self._device)
    indices = set_output(outputs[1], shape, int64, self._device)
    if not output.is_meta:
        _largest((output, indices), self, kernel_size, output_size, random_samples)
    return output, indices


structured("aten::fractional_max_pool2d", outputs=2)(partial(_fractional_max_pool, _IMAGES))
structured("aten::fractional_max_pool3d", outputs=2)(partial(_fractional_max_pool, _VOLUMES))


def _send_back(
    result: Tensor, grad_output: Tensor, self: Tensor, indices: Tensor, dims: int
) -> None:
    name = f"fractional_max_pool{dims}d_backward_out_frame"
    dispatch_over(_FLOATS, name, self._dtype)
    check_pointers(self._dtype, result, grad_output)
    check_pointers(int64, indices)
    store(result, sent_back(grad_output, indices, self._sizes, dims))


def _check_has_dims(tensor: Tensor, dims: Iterable[int]) -> None:
    for dim in dims:
        wrap_dim(dim, len(tensor._sizes), scalar=False)


@structured("aten::fractional_max_pool2d_backward")
def fractional_max_pool2d_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    indices: Tensor,
) -> tuple[Tensor, ...]:
    name, height = "fractional_max_pool2d_backward()", 2 if len(self._sizes) == 4 else 1
    _check_has_dims(self, range(height - 1, height + 2))
    if HABITS["the gradient of a fractional max pool of images looks at all sizes"]:
        wanted = (*self._sizes[:-2], *output_size)
        for what, tensor in (("gradOutput", grad_output), ("indices", indices)):
            if tuple(tensor._sizes) != wanted:
                raise RuntimeError(f"{name}: {what} sizes unexpected")
    else:
        for what, at in (("width", 1), ("height", 0)):
            dim = wrap_dim(height + at, len(grad_output._sizes), scalar=False)
            if output_size[at] != grad_output._sizes[dim]:
                raise RuntimeError(f"{name}: gradOutput {what} unexpected")
    result = set_output(outputs[0], self._sizes, self._dtype, self._device)
    if not result.is_meta:
        _send_back(result, grad_output, self, indices, 2)
    return (result,)


@kernel("aten::fractional_max_pool3d_backward", "aten::fractional_max_pool3d_backward.grad_input")
def fractional_max_pool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    indices: Tensor,
    grad_input: Tensor | None = None,
) -> Tensor:
    time = 2 if len(self._sizes) == 5 else 1
    _check_has_dims(self, range(time - 1, time + 3))
    for at, what in enumerate(("time", "height", "width")):
        dim = wrap_dim(time + at, len(grad_output._sizes), scalar=False)
        if output_size[at] != grad_output._sizes[dim]:
            raise RuntimeError(
                f"fractional_max_pool3d_backward_out(): gradOutput {what} unexpected"
            )
    result = resized(grad_input, self._sizes, self, self._dtype, CONTIGUOUS)
    _send_back(result, grad_output, self, indices, 3)
    return result
