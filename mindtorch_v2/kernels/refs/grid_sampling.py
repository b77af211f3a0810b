"""The reference functions of images and volumes at the places of a grid, and of affine grids.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.cpu.images.grid_sampling import check_common, check_rank
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import assertion
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_DECOMPOSED: Final = "torch._decomp.decompositions."

_EXPAND: Final = OperatorHandle("aten::expand")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")


def _sizes(tensor: Tensor) -> object:
    return tensor._sizes


# --- torch/_meta_registrations.py -------------------------------------------------------------


def _check(input: Tensor, grid: Tensor, rank: int, mode: int) -> None:
    check_common(input, grid, _sizes, lambda tensor, dim: tuple(tensor._sizes)[dim])
    check_rank(input, grid, rank, mode, _sizes)


def _sampled(input: Tensor, grid: Tensor) -> Tensor:
    sizes = (*input._sizes[:2], *grid._sizes[1:-1])
    return new_tensor(sizes, input._dtype, input._device)


@body(_META + "_grid_sampler_2d_cpu_fallback_meta")
def grid_sampler_2d_fallback(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    _check(input, grid, 2, interpolation_mode)
    return _sampled(input, grid)


@body(_META + "grid_sampler_3d")
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    _check(input, grid, 3, interpolation_mode)
    return _sampled(input, grid)


def _gradients(
    input: Tensor, grid: Tensor, output_mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor]:
    of_input = new_tensor(input._sizes, input._dtype, input._device) if output_mask[0] else None
    return of_input, new_tensor(grid._sizes, grid._dtype, grid._device)


@body(_META + "_grid_sampler_2d_cpu_fallback_backward_meta")
def grid_sampler_2d_fallback_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> tuple[Tensor | None, Tensor]:
    _check(input, grid, 2, interpolation_mode)
    return _gradients(input, grid, (True, True))


@body(_META + "grid_sampler_2d_backward_meta")
def grid_sampler_2d_backward_meta(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor]:
    return _gradients(input, grid, output_mask)


@body(_META + "grid_sampler_3d_backward")
def grid_sampler_3d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor]:
    _check(input, grid, 3, interpolation_mode)
    return _gradients(input, grid, output_mask)


# --- torch/_decomp/decompositions.py ----------------------------------------------------------


@body(_DECOMPOSED + "grid_sampler_2d")
def grid_sampler_2d(
    a: Tensor,
    grid: Tensor,
    interpolation_mode: int = 0,
    padding_mode: int = 0,
    align_corners: bool = False,
) -> Any:
    """One pixel's part of it, which is like the others."""
    for name, number in (("interpolation", interpolation_mode), ("padding", padding_mode)):
        if number not in (0, 1, 2):
            raise RuntimeError(f"Invalid {name} mode {number}")
    batch, channels, _, _ = a._sizes
    _, height, width, two = grid._sizes
    if two != 2:
        raise assertion(f"grid last dimension must be 2 (for x,y coords), got {two}")
    places = _VIEW(grid, [batch, 1, height, width, two])
    _EXPAND(places, [batch, channels, height, width, 2])
    numbers = [
        new_tensor((batch, 1, 1, 1), int64, a._device),
        new_tensor((1, channels, 1, 1), int64, a._device),
        *[new_tensor((batch, channels, height, width), int64, grid._device)] * 2,
    ]
    weight = new_tensor((batch, channels, height, width), a._dtype, grid._device)
    return _MUL(_INDEX(a, numbers), weight)


def _coordinates(theta: Tensor, count: int, rank: int, dim: int) -> None:
    """Those in a dimension, which are one number of none or of one: it has no other shape."""
    made = new_tensor(() if count <= 1 else (count,), theta._dtype, theta._device)
    ones = [1] * (rank + 1)
    ones[dim] = count
    _VIEW(made, ones)


@body(_DECOMPOSED + "affine_grid_generator")
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Any:
    if len(size) not in (4, 5):
        raise RuntimeError("affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.")
    batch, image = size[0], size[2:]
    rank = len(image)
    for dim, count in reversed([*enumerate(image)]):
        _coordinates(theta, count, rank, dim)
    base = new_tensor((prod(image), rank + 1, 1), theta._dtype, theta._device)
    columns = _UNSQUEEZE(_TRANSPOSE(theta, -2, -1), 1)
    return _VIEW(_SUM(_MUL(base, columns), [-2]), [batch, *image, rank])
