"""Images of another size by the nearest pixel or by several, and the derivatives of that.

Mirrors ``aten/src/ATen/native/cpu/UpSampleKernel.cpp``, ``cpu/UpSampleMoreKernel.cpp`` and
``UpSampleBicubic2d.cpp``.  torch has a kernel for images whose channels lie innermost, which many
small ones take as well: there weights are multiplied first, and are in more precision for halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.images import (
    resampling,
)
from mindtorch_v2.kernels.cpu.images.taps import (
    Axis,
    Taps,
    cubic,
    linear,
    nearest,
    nearest_idx,
    weighed,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.kernels.upsampling import check_gradient, checked, strides_like
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor

_UINT8: Final = DTYPES["uint8"]
_FLOATING: Final = FLOATING_TYPES | HALVES
_FORMATS: Final = {2: MEMORY_FORMATS["channels_last"], 3: MEMORY_FORMATS["channels_last_3d"]}
_SMALL: Final = 128
"""A height and a width that add up to no more take the kernel for innermost channels."""

Axes = Sequence[Axis]
Compute = Callable[[Tensor, Tensor, Axes], Array]


def _kind(dtype: DType) -> Any:
    """NumPy's type of numbers in which kernels of ``dtype`` compute."""
    return elements_of(to_opmath(dtype)).computed.type


def _has_channels_last(tensor: Tensor, rank: int) -> bool:
    format = _FORMATS.get(rank)
    return format is not None and is_contiguous(tensor._sizes, tensor._strides, format)


def _is_for_channels_last(output: Tensor, input: Tensor, rank: int) -> bool:
    """``_use_vectorized_kernel_cond_2d`` and ``_use_vectorized_kernel_cond_3d``."""
    if _has_channels_last(input, rank) and input._sizes[1] > 3:
        return True
    return rank == 2 and sum(output._sizes[2:]) <= _SMALL


# --- forward ----------------------------------------------------------------------------------


def _nearest(rank: int, exact: bool, output: Tensor, input: Tensor, axes: Axes) -> Array:
    dtype = input._dtype
    if _is_for_channels_last(output, input, rank):
        dispatch_over(_FLOATING | {_UINT8}, f"upsample_nearest{rank}d_channels_last", dtype)
        places = [nearest_idx(axis, exact=exact) for axis in axes]
    else:
        dispatch_over(_FLOATING | {_UINT8}, "compute_indices_weights_nearest", dtype)
        assert_no_internal_overlap(output)
        kind = np.float32 if dtype is _UINT8 else _kind(dtype)
        places = [nearest(axis, kind, exact=exact) for axis in axes]
    index: tuple[Any, ...] = (..., *np.ix_(*places))
    return np.asarray(as_array(input, dtype)[index])


_LINEAR: Final = {2: "upsample_bilinear2d_channels_last", 3: "upsample_trilinear3d_channels_last"}


def _linear(rank: int, output: Tensor, input: Tensor, axes: Axes) -> Array:
    dtype = input._dtype
    if rank == 2 and dtype is _UINT8:
        return resampling.bytes_of(input, axes, resampling.LINEAR, antialias=False)
    if _is_for_channels_last(output, input, rank):
        dispatch_over(_FLOATING, _LINEAR[rank], dtype)
        taps = [linear(axis, _kind(dtype)) for axis in axes]
        return rounded(_of_corners(as_array(input, dtype), taps), dtype)
    dispatch_over(_FLOATING, "compute_indices_weights_linear", dtype)
    return _by_dimension(output, input, axes, linear)


def _cubic(output: Tensor, input: Tensor, axes: Axes) -> Array:
    dtype = input._dtype
    if dtype is _UINT8:
        return resampling.bytes_of(input, axes, resampling.CUBIC, antialias=False)
    dispatch_over(_FLOATING, "compute_indices_weights_cubic", dtype)
    return _by_dimension(output, input, axes, cubic)


def _by_dimension(output: Tensor, input: Tensor, axes: Axes, taps_of: Callable[..., Taps]) -> Array:
    """``Interpolate``: of the last dimension first."""
    assert_no_internal_overlap(output)
    dtype = input._dtype
    keep = partial(rounded, dtype=dtype)
    values = as_array(input, dtype)
    for dim, axis in reversed([*enumerate(axes, 2)]):
        taps = taps_of(axis, _kind(dtype), keep)
        weights = taps.weights.reshape(*taps.weights.shape, *(1,) * (values.ndim - dim - 1))
        taken = (np.take(values, places, dim) for places in taps.places)
        values = weighed(zip(taken, weights, strict=True))
    return rounded(values, dtype)


def _of_corners(values: Array, taps: Sequence[Taps]) -> Array:
    """Each of the pixels around, by the product of its weights."""
    corners = []
    for corner in product(range(2), repeat=len(taps)):
        places = [each.places[side] for each, side in zip(taps, corner, strict=True)]
        corners.append((values[(..., *np.ix_(*places))], _weight(taps, corner)))
    return weighed(corners)


def _weight(taps: Sequence[Taps], corner: Sequence[int]) -> Array:
    """The product of a corner's weights, the first dimension's first."""
    weights = np.ix_(*(each.weights[side] for each, side in zip(taps, corner, strict=True)))
    return np.asarray(reduce(np.multiply, weights))


def _add_forward(name: str, rank: int, compute: Compute, *, aligns: bool) -> None:
    def upsample(
        outputs: Outputs, self: Tensor, output_size: Sequence[int], *rest: Any
    ) -> tuple[Tensor, ...]:
        sizes = checked(self, output_size, rank)
        strides = strides_like(sizes, self) if rank > 1 else None
        output = set_output(outputs[0], sizes, self._dtype, self._device, strides)
        if not output.is_meta:
            axes = _axes(self._sizes, output_size, rest, aligns=aligns)
            store(output, compute(output, self, axes))
        return (output,)

    structured.add(f"aten::{name}", upsample)


def _axes(
    input_size: Sequence[int], output_size: Sequence[int], rest: Sequence[Any], *, aligns: bool
) -> list[Axis]:
    """``rest`` are a flag for the corners, if there is one, and the scales."""
    align_corners = bool(rest[0]) if aligns else False
    sizes = zip(input_size[2:], output_size, rest[aligns:], strict=True)
    return [Axis(size, count, scale, align_corners) for size, count, scale in sizes]


# --- backward ---------------------------------------------------------------------------------

Spread = Callable[[Array, Axes], tuple[Array, Array]]
"""Of a gradient, whose elements stand in rows, and the axes: where parts go to, and the parts."""


def _spread_nearest(exact: bool, grads: Array, axes: Axes) -> tuple[Array, Array]:
    places = [nearest_idx(axis, exact=exact) for axis in axes]
    return _flat(places, axes), grads


def _spread_linear(grads: Array, axes: Axes) -> tuple[Array, Array]:
    taps = [linear(axis, grads.dtype.type) for axis in axes]
    places, parts = [], []
    for corner in product(range(2), repeat=len(taps)):
        chosen = [each.places[side] for each, side in zip(taps, corner, strict=True)]
        places.append(_flat(chosen, axes))
        parts.append(_weight(taps, corner).reshape(-1, 1) * grads)
    return np.stack(places, 1).reshape(-1), np.stack(parts, 1).reshape(-1, grads.shape[-1])


def _spread_cubic(grads: Array, axes: Axes) -> tuple[Array, Array]:
    """Column by column of the pixels around."""
    down, along = (cubic(axis, grads.dtype.type) for axis in axes)
    columns, rows = len(along.places[0]), len(down.places[0])
    places, parts = [], []
    for column, row in product(range(4), repeat=2):
        places.append(_flat([down.places[row], along.places[column]], axes))
        by_row = grads * np.repeat(down.weights[row], columns)[:, None]
        parts.append(by_row * np.tile(along.weights[column], rows)[:, None])
    return np.stack(places, 1).reshape(-1), np.stack(parts, 1).reshape(-1, grads.shape[-1])


def _flat(places: Sequence[Array], axes: Axes) -> Array:
    """Each combination of places in the dimensions, as a place in a row-major input."""
    sizes = tuple(axis.size for axis in axes)
    return np.ravel_multi_index(np.meshgrid(*places, indexing="ij"), sizes).reshape(-1)


def _add_backward(
    name: str,
    rank: int,
    spread: Spread,
    switches: tuple[str, str],
    *,
    aligns: bool,
    keeps_format: bool = False,
    copies: bool = False,
) -> None:
    """``switches`` are the names for row-major gradients and for those with innermost channels.

    A gradient in the format of the output's is one that ``keeps_format``; one that ``copies`` does
    so where nothing changes its size.
    """

    def backward(
        outputs: Outputs,
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        *rest: Any,
    ) -> tuple[Tensor, ...]:
        check_gradient(grad_output, output_size, input_size, rank)
        dtype = grad_output._dtype
        strides = strides_like(input_size, grad_output) if keeps_format else None
        result = set_output(outputs[0], input_size, dtype, grad_output._device, strides)
        if result.is_meta:
            return (result,)
        if copies and tuple(output_size) == tuple(input_size[2:]):
            store(result, as_array(grad_output, dtype))
            return (result,)
        dispatch_over(_FLOATING, switches[_has_channels_last(grad_output, rank)], dtype)
        axes = _axes(input_size, output_size, rest, aligns=aligns)
        planes = input_size[0] * input_size[1]
        values = as_array(grad_output, dtype)
        places, parts = spread(values.reshape(planes, -1).T, axes)
        added = np.zeros((int(np.prod(input_size[2:])), planes), values.dtype)
        np.add.at(added, places, parts)
        store(result, rounded(added.T.reshape(tuple(input_size)), dtype))
        return (result,)

    structured.add(f"aten::{name}_backward", backward)


# --- rows -------------------------------------------------------------------------------------

_NEAREST_BACKWARD: Final = {
    "upsample_nearest3d": "_upsample_nearest3d_backward_cl",  # as it calls itself
}

for _rank in (1, 2, 3):
    for _name, _exact in (("upsample_nearest", False), ("_upsample_nearest_exact", True)):
        _full = f"{_name}{_rank}d"
        _add_forward(_full, _rank, partial(_nearest, _rank, _exact), aligns=False)
        _last = _NEAREST_BACKWARD.get(_full, f"{_full}_backward_cl")
        _add_backward(
            *(_full, _rank, partial(_spread_nearest, _exact), (f"{_full}_backward", _last)),
            aligns=False,
            keeps_format=_rank == 2,
        )
for _rank, _full in enumerate(
    ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"), 1
):
    _add_forward(_full, _rank, partial(_linear, _rank), aligns=True)
    _add_backward(
        *(_full, _rank, _spread_linear),
        (f"{_full}_backward", f"{_full}_backward_channels_last"),
        aligns=True,
        keeps_format=_rank > 1,
    )
_add_forward("upsample_bicubic2d", 2, _cubic, aligns=True)
_add_backward(
    *("upsample_bicubic2d", 2, _spread_cubic),
    ("upsample_bicubic2d_backward", "upsample_bicubic2d_backward"),
    aligns=True,
    copies=True,
)
