"""Grids of the places that affine maps take the pixels of an image to.

Mirrors ``aten/src/ATen/native/AffineGridGenerator.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

_BMM: Final = OperatorHandle("aten::bmm")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIV: Final = OperatorHandle("aten::div.Scalar")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_LINSPACE: Final = OperatorHandle("aten::linspace")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")
_SELECT: Final = OperatorHandle("aten::select.int")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")


def _check(size: Sequence[int]) -> None:
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")


def _linspace_from_neg_one(like: Tensor, count: int, *, align_corners: bool) -> Any:
    options = {"dtype": like._dtype, "layout": like._layout, "device": like._device}
    if count <= 1:
        return _SCALAR_TENSOR(0, **options)
    between = _LINSPACE(-1, 1, count, **options)
    return between if align_corners else _DIV(_MUL(between, count - 1), count)


def _base_grid(like: Tensor, size: Sequence[int], *, align_corners: bool) -> Any:
    """The coordinates of each pixel, the last dimension's first, and a one: a row for each."""
    batch, image = size[0], size[2:]
    options = {"dtype": like._dtype, "layout": like._layout, "device": like._device}
    grid = _EMPTY([batch, *image, len(image) + 1], **options)
    for place, count in enumerate(reversed(image)):
        coordinates = _linspace_from_neg_one(like, count, align_corners=align_corners)
        for _ in range(place):
            coordinates = _UNSQUEEZE(coordinates, -1)
        _COPY_(_SELECT(grid, -1, place), coordinates)
    _FILL_(_SELECT(grid, -1, len(image)), 1)
    return _VIEW(grid, [batch, prod(image), len(image) + 1])


@kernel("aten::affine_grid_generator", key="CompositeExplicitAutograd")
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Any:
    _check(size)
    base = _base_grid(theta, size, align_corners=align_corners)
    grid = _BMM(base, _TRANSPOSE(theta, 1, 2))
    return _VIEW(grid, [size[0], *size[2:], len(size) - 2])


@kernel("aten::affine_grid_generator_backward", key="CompositeImplicitAutograd")
def affine_grid_generator_backward(grad: Tensor, size: Sequence[int], align_corners: bool) -> Any:
    _check(size)
    base = _base_grid(grad, size, align_corners=align_corners)
    batch, image = size[0], size[2:]
    if tuple(grad._sizes) != (batch, *image, len(image)):
        letters = ", ".join("NDHW"[:1] + "DHW"[-len(image) :])
        condition = f"grad_grid.sizes() == IntArrayRef({{{letters}, {len(image)}}})"
        raise RuntimeError(
            internal_assert(condition, f"affine_grid_generator_{len(size)}D_backward")
        )
    grads = _RESHAPE(grad, [batch, prod(image), len(image)])
    return _TRANSPOSE(_BMM(_TRANSPOSE(base, 1, 2), grads), 1, 2)
