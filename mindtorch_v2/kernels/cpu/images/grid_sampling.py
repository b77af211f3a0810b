"""What an image or a volume has at the places of a grid, and the derivatives of that.

Mirrors ``aten/src/ATen/native/GridSampler.cpp`` and ``cpu/GridSamplerKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from mindtorch_v2.kernels.cpu.images.grid_places import (
    Interpolation,
    Numbers,
    Padding,
    Places,
    pixel,
)
from mindtorch_v2.kernels.cpu.images.taps import CUBIC
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_accessor, check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import fill, store
from mindtorch_v2.tensor.dtype import DTYPES, DType, strided
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_SAMPLER_2D: Final = OperatorHandle("aten::grid_sampler_2d")
_SAMPLER_3D: Final = OperatorHandle("aten::grid_sampler_3d")
_FLOAT: Final = DTYPES["float32"]
_COMPOSITE: Final = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
"""Where releases have a gradient."""
_SAMPLED: Final = FLOATING_TYPES | (HALVES if HABITS["a grid samples halves"] else frozenset())
_NAMES_SWITCH: Final = HABITS["a grid names its switch"]
_CUBES_OF_VOLUMES: Final = HABITS["volumes are sampled by cubes"]
_LOOKS_AT_GRADIENTS: Final = HABITS["a gradient of a grid is like what was sampled"]

Mode: TypeAlias = tuple[int, int, bool]
"""The interpolation, the padding, and whether corners are aligned."""
Pair: TypeAlias = tuple[Tensor | None, Tensor]


# --- checks -----------------------------------------------------------------------------------


def check_common(
    input: Tensor,
    grid: Tensor,
    shown: Callable[[Tensor], object],
    size: Callable[[Tensor, int], int] | None = None,
) -> None:
    """``check_grid_sampler_common``; a size is read, and sizes are ``shown``, in C++'s manner or in
    Python's."""
    said = "grid_sampler(): expected"
    size = size or _size
    if input._device != grid._device:
        raise RuntimeError(
            f"{said} input and grid to be on same device, but input is on {input._device} and "
            f"grid is on {grid._device}"
        )
    if input._layout is not strided or grid._layout is not strided:
        raise RuntimeError(
            f"{said} input and grid to have torch.strided layout, but input has {input._layout} "
            f"and grid has {grid._layout}"
        )
    sizes, rank = input._sizes, len(input._sizes)
    if size(input, 0) != size(grid, 0):
        raise RuntimeError(
            f"{said} grid and input to have same batch size, but got input with sizes "
            f"{shown(input)} and grid with sizes {shown(grid)}"
        )
    if size(grid, -1) != rank - 2:
        raise RuntimeError(
            f"{said} grid to have size {rank - 2} in last dimension, but got grid with sizes "
            f"{shown(grid)}"
        )
    for dim in range(2, rank):
        if sizes[dim] <= 0:
            raise RuntimeError(
                f"{said} input to have non-empty spatial dimensions, but input has sizes "
                f"{shown(input)} with dimension {dim} being empty"
            )


def _size(tensor: Tensor, dim: int) -> int:
    return tensor._sizes[wrap_dim(dim, len(tensor._sizes), scalar=False)]


def check_rank(
    input: Tensor, grid: Tensor, rank: int, mode: int, shown: Callable[[Tensor], object]
) -> None:
    """``check_grid_sampler_2d`` and ``check_grid_sampler_3d``."""
    if len(input._sizes) != rank + 2 or len(grid._sizes) != rank + 2:
        raise RuntimeError(
            f"grid_sampler(): expected {rank + 2}D input and grid with same number of dimensions, "
            f"but got input with sizes {shown(input)} and grid with sizes {shown(grid)}"
        )
    if rank == 3 and mode == Interpolation.BICUBIC and not _CUBES_OF_VOLUMES:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _shown(tensor: Tensor) -> object:
    return list(tensor._sizes)


def _sampled_sizes(input: Tensor, grid: Tensor) -> tuple[int, ...]:
    return (*input._sizes[:2], *grid._sizes[1:-1])


def _checked(input: Tensor, grid: Tensor, rank: int, mode: int) -> None:
    check_common(input, grid, _shown)
    check_rank(input, grid, rank, mode, _shown)


def _dispatch(name: str, dtype: DType) -> None:
    """The switch of the kernels for images, which once had no name, and was before all else."""
    if _NAMES_SWITCH:
        dispatch_over(_SAMPLED, f"{name}_kernel_impl", dtype)
    elif dtype not in _SAMPLED:
        raise RuntimeError(f"{name} not implemented for {CPP_NAMES[dtype]}")


# --- pixels around places ---------------------------------------------------------------------


@dataclass(frozen=True)
class Corner:
    """A pixel near each place: its numbers by dimension, whether the image has it, and its
    weights by dimension with the derivatives of these."""

    pixels: tuple[Array, ...]
    inside: Array
    weights: tuple[Array, ...]
    slopes: tuple[Any, ...]


@dataclass(frozen=True)
class Sampling:
    """All that a kernel is called with.  Dimensions are those of the image; the grid's last one
    tells their coordinates from behind.

    ``in_vectors``: as the kernel for images computes, which is compiled for vectors.  That for
    volumes, and the one that images fall back to, compute one number after the other.
    """

    dtype: DType
    """Of what is read and written; cubes of halves are computed in floats."""
    values: Array
    coordinates: tuple[Array, ...]
    axes: tuple[Places, ...]
    interpolation: Interpolation
    in_vectors: bool

    @classmethod
    def of(cls, input: Tensor, grid: Tensor, mode: Mode, in_vectors: bool) -> Sampling:
        interpolation, padding, align_corners = mode
        dtype, image = input._dtype, input._sizes[2:]
        cubes = len(image) == 3 and interpolation == Interpolation.BICUBIC
        numbers = Numbers(to_opmath(dtype) if cubes else dtype, fuses=in_vectors)
        padded = Padding(padding)
        axes = tuple(Places(numbers, size, padded, align_corners, in_vectors) for size in image)
        places = as_array(grid, dtype)
        coordinates = tuple(places[..., dim] for dim in reversed(range(len(image))))
        values = as_array(input, dtype)
        return cls(dtype, values, coordinates, axes, Interpolation(interpolation), in_vectors)

    @property
    def numbers(self) -> Numbers:
        return self.axes[0].numbers

    def located(self) -> tuple[list[Array], list[Array]]:
        """The places, and by how much they move with the coordinates."""
        pairs = zip(self.axes, self.coordinates, strict=True)
        if self.interpolation is Interpolation.BICUBIC:  # whose pixels are put inside one by one
            places = [axis.unnormalize(each) for axis, each in pairs]
            return places, [np.full(places[0].shape, axis.scale) for axis in self.axes]
        found = [axis.located(each) for axis, each in pairs]
        return [place for place, _ in found], [slope for _, slope in found]

    def corners(self, places: Sequence[Array]) -> Iterator[Corner]:
        if self.interpolation is Interpolation.NEAREST:
            yield self._corner([np.rint(place) for place in places], [], [])
            return
        sides = [self._sides(axis, place) for axis, place in zip(self.axes, places, strict=True)]
        for chosen in product(*sides):
            numbers, weights, slopes = zip(*chosen, strict=True)
            yield self._corner(list(numbers), weights, slopes)

    def _sides(self, axis: Places, place: Array) -> list[tuple[Array, Array, Array]]:
        """The pixels before and after each place, with weights and their derivatives."""
        numbers, kind = self.numbers, place.dtype.type
        before = np.floor(place)
        way = numbers.minus(place, before)
        if self.interpolation is Interpolation.BILINEAR:
            after = before + 1
            one, start = (kind(1), way) if self.in_vectors else (after, place)
            rest = numbers.minus(one, start)
            ones = np.ones_like(way)
            return [(before, rest, -ones), (after, way, ones)]
        last = numbers.minus(kind(2), way)
        if not self.in_vectors:
            last = numbers.plus(numbers.minus(kind(1), way), kind(1))
        weights, slopes = _cubic_weights(numbers, way, last), _cubic_slopes(numbers, way)
        pixels = [axis.bounded(numbers.plus(before, kind(step))) for step in range(-1, 3)]
        return list(zip(pixels, weights, slopes, strict=True))

    def _corner(self, places: list[Array], weights: Sequence[Any], slopes: Sequence[Any]) -> Corner:
        pixels = [pixel(place) for place in places]
        inside = np.ones(pixels[0].shape, np.bool_)
        for axis, each in zip(self.axes, pixels, strict=True):
            inside &= (each >= 0) & (each < axis.size)
        bounded = [np.where(inside, each, 0) for each in pixels]
        return Corner(tuple(bounded), inside, tuple(weights), tuple(slopes))

    def read(self, corner: Corner) -> Array:
        """A pixel of each channel, zero beyond the image."""
        values = self.values[self.index(corner)]
        return np.where(corner.inside[:, None], values, values.dtype.type(0))

    def index(self, corner: Corner) -> tuple[Array, ...]:
        batch, channels = self.values.shape[:2]
        ones = (1,) * len(self.axes)
        numbers = np.arange(batch).reshape(-1, 1, *ones), np.arange(channels).reshape(1, -1, *ones)
        return (*numbers, *(each[:, None] for each in corner.pixels))


def _cubic_weights(numbers: Numbers, way: Array, last: Array) -> list[Array]:
    """``get_cubic_coefficients``, of the way from the second pixel and that from the last one."""
    kind = way.dtype.type
    far, near = numbers.plus(way, kind(1)), numbers.minus(kind(1), way)
    return [
        *(_outer(numbers, far), _inner(numbers, way)),
        *(_inner(numbers, near), _outer(numbers, last)),
    ]


def _inner(numbers: Numbers, x: Array) -> Array:
    kind = x.dtype.type
    slope = numbers.times_plus(kind(CUBIC + 2), x, kind(-CUBIC - 3))
    return numbers.times_plus(numbers.times(slope, x), x, kind(1))


def _outer(numbers: Numbers, x: Array) -> Array:
    kind = x.dtype.type
    found: Array = kind(CUBIC)
    for factor in (-5, 8, -4):
        found = numbers.times_plus(found, x, kind(factor * CUBIC))
    return found


def _cubic_slopes(numbers: Numbers, way: Array) -> list[Array]:
    """``get_cubic_coefficients_grad``, of which torch takes the opposite."""
    kind = way.dtype.type

    def slope(x: Array, square: float, first: float, constant: float) -> Array:
        found = numbers.times_plus(kind(square), x, kind(first))
        return numbers.times_plus(found, x, kind(constant)) if constant else found * x

    a = CUBIC
    slopes = (
        slope(numbers.minus(kind(-1), way), -3 * a, -10 * a, -8 * a),
        slope(numbers.minus(kind(0), way), -3 * (a + 2), -2 * (a + 3), 0),
        slope(numbers.minus(kind(1), way), 3 * (a + 2), -2 * (a + 3), 0),
        slope(numbers.minus(kind(2), way), 3 * a, -10 * a, 8 * a),
    )
    return [-each for each in slopes]


# --- forward ----------------------------------------------------------------------------------


def _sampled(sampling: Sampling) -> Array:
    with np.errstate(all="ignore"):
        places, _ = sampling.located()
        corners = list(sampling.corners(places))
        if sampling.interpolation is Interpolation.NEAREST:
            return sampling.read(corners[0])
        if sampling.interpolation is Interpolation.BICUBIC:
            by_cubes = len(sampling.axes) == 3
            return (_sampled_by_cubes if by_cubes else _sampled_by_row)(sampling, corners)
        numbers = sampling.numbers
        values = [sampling.read(corner) for corner in corners]
        weights = [_weight(numbers, corner)[:, None] for corner in corners]
        if not sampling.in_vectors:  # what is beyond a volume is not looked at
            inside = [corner.inside[:, None] for corner in corners]
            weights = [np.where(*pair, 0) for pair in zip(inside, weights, strict=True)]
        return _sum(numbers, values, weights)


def _weight(numbers: Numbers, corner: Corner) -> Array:
    """The last dimension's first."""
    return reduce(numbers.times, reversed(corner.weights))


def _sum(numbers: Numbers, values: Sequence[Array], weights: Sequence[Array]) -> Array:
    """Products that are added up: the first to the second, which alone is rounded."""
    total = numbers.times_plus(values[0], weights[0], numbers.times(values[1], weights[1]))
    for value, weight in zip(values[2:], weights[2:], strict=True):
        total = numbers.times_plus(value, weight, total)
    return total


def _sampled_by_row(sampling: Sampling, corners: Sequence[Corner]) -> Array:
    """Four rows of four pixels."""
    numbers, rows, heights = sampling.numbers, [], []
    for start in range(0, len(corners), 4):
        row = corners[start : start + 4]
        values = [sampling.read(corner) for corner in row]
        rows.append(_sum(numbers, values, [corner.weights[1][:, None] for corner in row]))
        heights.append(row[0].weights[0][:, None])
    return _sum(numbers, rows, heights)


def _sampled_by_cubes(sampling: Sampling, corners: Sequence[Corner]) -> Array:
    """Of all pixels at once."""
    numbers = sampling.numbers
    total = None
    for corner in corners:
        depth, height, width = (weight[:, None] for weight in corner.weights)
        part = numbers.times(sampling.read(corner), numbers.times(depth, height))
        part = numbers.times(part, width)
        total = part if total is None else numbers.plus(total, part)
    assert total is not None
    return total


def _forward(input: Tensor, grid: Tensor, mode: Mode, *, in_vectors: bool = False) -> Tensor:
    sizes = _sampled_sizes(input, grid)
    output = new_tensor(sizes, input._dtype, input._device)
    if numel(sizes):
        check_pointers(input._dtype, grid)
        store(output, _sampled(Sampling.of(input, grid, mode, in_vectors)))
    return output


@kernel("aten::grid_sampler", key="CompositeImplicitAutograd")
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    sampler = _SAMPLER_2D if len(input._sizes) == 4 else _SAMPLER_3D
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@kernel("aten::grid_sampler_2d")
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    _checked(input, grid, 2, interpolation_mode)
    if not _NAMES_SWITCH or (input._sizes[1] and numel(grid._sizes)):
        _dispatch("grid_sampler_2d_cpu", input._dtype)
    mode = (interpolation_mode, padding_mode, align_corners)
    return _forward(input, grid, mode, in_vectors=True)


@kernel("aten::grid_sampler_3d")
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    _checked(input, grid, 3, interpolation_mode)
    dispatch_over(_SAMPLED, "grid_sampler3d_cpu", input._dtype)
    return _forward(input, grid, (interpolation_mode, padding_mode, align_corners))


@kernel("aten::_grid_sampler_2d_cpu_fallback", key="CompositeExplicitAutograd")
def grid_sampler_2d_fallback(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """For images of which bytes cannot be addressed by 32 bits: in floats alone."""
    _checked(input, grid, 2, interpolation_mode)
    if input._sizes[1] and numel(grid._sizes):
        check_pointers(_FLOAT, input, grid)
    return _forward(input, grid, (interpolation_mode, padding_mode, align_corners))


# --- backward ---------------------------------------------------------------------------------


def _check_gradient(grad_output: Tensor, input: Tensor, grid: Tensor) -> None:
    """``check_grid_sampler_backward``, which once was not there: memory was read by the sizes of
    the image and the grid, wherever that led."""
    wanted = _sampled_sizes(input, grid)
    if _LOOKS_AT_GRADIENTS and tuple(grad_output._sizes) != wanted:
        raise ValueError(
            f"grid_sampler(): expected grad_output to have sizes {list(wanted)} but got "
            f"grad_output with sizes {_shown(grad_output)}"
        )


def _stride(tensor: Tensor, dim: int) -> int:
    return tensor._strides[wrap_dim(dim, len(tensor._sizes), scalar=False)]


def _backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    mode: Mode,
    is_asked: bool,
    *,
    in_vectors: bool = False,
) -> Pair:
    """The gradients of the input, if that is asked for, and of the grid."""
    dtype, device = input._dtype, input._device
    sizes = _sampled_sizes(input, grid)
    of_input = new_tensor(input._sizes, dtype, device) if is_asked else None
    of_grid = new_tensor(grid._sizes, grid._dtype, device)
    for made in (of_input, of_grid):
        if made is not None:
            fill(made, 0)
    if not (numel(grad_output._sizes) and numel(sizes)):
        return of_input, of_grid
    check_pointers(dtype, grid, grad_output)
    read = grad_output._as_view(
        sizes,
        tuple(_stride(grad_output, dim) for dim in range(len(sizes))),
        grad_output._storage_offset,
    )
    sampling = Sampling.of(input, grid, mode, in_vectors)
    with np.errstate(all="ignore"):
        places, slopes = sampling.located()
        corners = _in_order(sampling, list(sampling.corners(places)))
        grads = as_array(read, dtype)
        if of_input is not None:
            store(of_input, _shared_out(sampling, corners, grads))
        if sampling.interpolation is not Interpolation.NEAREST:
            store(of_grid, _moved(sampling, corners, slopes, grads))
    return of_input, of_grid


def _in_order(sampling: Sampling, corners: list[Corner]) -> list[Corner]:
    """As gradients come to them: those of an image that is not in vectors column by column, if
    there are four."""
    is_image = len(sampling.axes) == 2
    if sampling.in_vectors or not (is_image and sampling.interpolation is Interpolation.BICUBIC):
        return corners
    return [corner for column in range(4) for corner in corners[column::4]]


def _shared_out(sampling: Sampling, corners: Sequence[Corner], grads: Array) -> Array:
    """Every gradient to the pixels around its place: place by place, and in vectors corner by
    corner."""
    found = np.zeros_like(sampling.values)
    insides = [np.broadcast_to(corner.inside[:, None], grads.shape) for corner in corners]
    parts = [_part(sampling, corner, grads) for corner in corners]
    indices = [np.broadcast_arrays(*sampling.index(corner)) for corner in corners]
    if sampling.in_vectors:
        for index, inside, part in zip(indices, insides, parts, strict=True):
            at = tuple(each[inside] for each in index)
            add_in_turn(found, at, part[inside], sampling.dtype)
        return found
    inside = np.stack(insides, axis=-1)
    at = tuple(np.stack(each, axis=-1)[inside] for each in zip(*indices, strict=True))
    add_in_turn(found, at, np.stack(parts, axis=-1)[inside], sampling.dtype)
    return found


def _part(sampling: Sampling, corner: Corner, grads: Array) -> Array:
    numbers = sampling.numbers
    weights = [weight[:, None] for weight in reversed(corner.weights)]
    if not weights:
        return grads
    if sampling.interpolation is Interpolation.BICUBIC and not sampling.in_vectors:
        return rounded(reduce(numbers.times, weights, grads), sampling.dtype)
    return numbers.times(reduce(numbers.times, weights), grads)


def _moved(
    sampling: Sampling, corners: Sequence[Corner], slopes: Sequence[Array], grads: Array
) -> Array:
    """What becomes of the gradients if a place moves, coordinate by coordinate."""
    numbers, rank = sampling.numbers, len(sampling.axes)
    found = [np.zeros(grads.shape[:1] + grads.shape[2:], grads.dtype) for _ in range(rank)]
    values = [sampling.read(corner) for corner in corners]
    for channel in range(grads.shape[1]):
        for corner, value in zip(corners, values, strict=True):
            for dim in range(rank):
                part = _turned_by(sampling, corner, dim, value[:, channel])
                part = numbers.times(part, grads[:, channel])
                total = numbers.plus(found[dim], part)
                found[dim] = (
                    total if sampling.in_vectors else np.where(corner.inside, total, found[dim])
                )
    moved = [numbers.times(*pair) for pair in zip(found, slopes, strict=True)]
    return np.stack(moved[::-1], -1).astype(grads.dtype)


def _turned_by(sampling: Sampling, corner: Corner, dim: int, value: Array) -> Array:
    """A pixel by the slope of a dimension and the weights of the others, which that of a volume is
    multiplied by in its place, and that of an image first."""
    times = sampling.numbers.times
    before, slope, behind = corner.weights[:dim], corner.slopes[dim], corner.weights[dim + 1 :]
    if sampling.in_vectors:
        return times(value, reduce(times, (*before, slope, *behind)))
    if len(sampling.axes) == 2:
        return reduce(times, (slope, *before, *behind), value)
    return reduce(times, reversed((*before, slope, *behind)), value)


@kernel("aten::grid_sampler_2d_backward")
def grid_sampler_2d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> Pair:
    _checked(input, grid, 2, interpolation_mode)
    _check_gradient(grad_output, input, grid)
    if not _NAMES_SWITCH or numel(grad_output._sizes):
        _dispatch("grid_sampler_2d_backward_cpu", input._dtype)
    if numel(grad_output._sizes):
        check_pointers(input._dtype, grid)
        check_accessor(input._dtype, 4, grad_output)
    mode = (interpolation_mode, padding_mode, align_corners)
    return _backward(grad_output, input, grid, mode, output_mask[0], in_vectors=True)


@kernel("aten::_grid_sampler_2d_cpu_fallback_backward", keys=_COMPOSITE)
def grid_sampler_2d_fallback_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Pair:
    _checked(input, grid, 2, interpolation_mode)
    _check_gradient(grad_output, input, grid)
    if not (numel(input._sizes) and numel(grid._sizes)):
        of_input, of_grid = (
            new_tensor(each._sizes, each._dtype, each._device) for each in (input, grid)
        )
        fill(of_input, 0)
        fill(of_grid, 0)
        return of_input, of_grid
    check_pointers(_FLOAT, input, grid, grad_output)
    mode = (interpolation_mode, padding_mode, align_corners)
    return _backward(grad_output, input, grid, mode, is_asked=True)


@kernel("aten::grid_sampler_3d_backward")
def grid_sampler_3d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> Pair:
    _checked(input, grid, 3, interpolation_mode)
    _check_gradient(grad_output, input, grid)
    dispatch_over(_SAMPLED, "grid_sampler_3d_backward_cpu", input._dtype)
    mode = (interpolation_mode, padding_mode, align_corners)
    return _backward(grad_output, input, grid, mode, output_mask[0])
