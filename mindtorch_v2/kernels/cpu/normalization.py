"""Normalization over the last dimensions, and its derivative.

Mirrors ``aten/src/ATen/native/layer_norm.cpp``, ``layer_norm.h`` and ``cpu/layer_norm_kernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.mixed_data_type import checked_parameter_dtype
from mindtorch_v2.kernels.cpu.row_moments import means_of_products, row_moments
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.refs.common import HABITS, check_same_device
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_VAR_MEAN: Final = OperatorHandle("aten::var_mean.correction")
_FLOAT: Final = DTYPES["float32"]
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])
_LIKE_PARAMETERS: Final = HABITS["gradients of a layer norm's parameters are like these"]


def check_layer_norm_inputs(
    input: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None
) -> tuple[int, int]:
    """How many rows are normalized, and of how many elements; RuntimeError if shapes do not fit."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            f"one element, but got normalized_shape = {list(shape)}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given._sizes) != tuple(shape):
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(given._sizes)} and normalized_shape = {list(shape)}"
            )
    sizes = tuple(input._sizes)
    axis = len(sizes) - len(shape)
    if axis < 0 or sizes[axis:] != tuple(shape):
        wanted = "".join(f", {size}" for size in shape)
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{wanted}], but "
            f"got input of size{list(sizes)}"
        )
    return prod(sizes[:axis]), prod(sizes[axis:])


def _check_on_meta(
    input: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None
) -> None:
    """The same as a function of Python's says it."""
    if not shape:
        check_layer_norm_inputs(input, shape, weight, bias)
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given._sizes) != tuple(shape):
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {given._sizes} and normalized_shape = {list(shape)}"
            )
    axis = len(input._sizes) - len(shape)
    if axis < 0 or tuple(input._sizes[axis:]) != tuple(shape):
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"{list(shape)}, but got input of size {input._sizes}"
        )
    if input._dtype.is_complex and HABITS["a layer norm on meta takes no complex numbers"]:
        raise RuntimeError("native_layer_norm does not support complex inputs")


@kernel("aten::native_layer_norm", key="Meta")
def native_layer_norm_on_meta(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if is_standing_for_cpu():
        return native_layer_norm(input, normalized_shape, weight, bias, eps)
    _check_on_meta(input, normalized_shape, weight, bias)
    dims = list(range(-len(normalized_shape), 0))
    _VAR_MEAN(input, dims, correction=0, keepdim=True)  # it says for which dtypes there is none
    for given in (weight, bias):
        if given is not None:
            check_same_device(input, given)
    output, *moments = native_layer_norm(input, normalized_shape, None, None, eps)
    if input._dtype in _HALVES:
        moments = [new_tensor(each._sizes, _FLOAT, each._device) for each in moments]
    mean, rstd = moments
    if input._dtype.is_complex:
        rstd = new_tensor(rstd._sizes, REAL_OF_COMPLEX[input._dtype], rstd._device)
    return output, mean, rstd


@kernel("aten::native_layer_norm")
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    statistics = checked_parameter_dtype(input, weight, bias)
    rows, width = check_layer_norm_inputs(input, normalized_shape, weight, bias)
    dtype, sizes = input._dtype, tuple(input._sizes)
    output = new_tensor(sizes, dtype, input._device)
    axis = len(sizes) - len(normalized_shape)
    shape = sizes[:axis] + (1,) * len(normalized_shape)
    mean, rstd = (new_tensor(shape, statistics, input._device) for _ in range(2))
    if input.is_meta:
        return output, mean, rstd
    foretell("aten::native_layer_norm", output, mean, rstd)
    dispatch("LayerNormKernelImpl", dtype)
    check_pointers(statistics, weight, bias)
    if not rows:
        return output, mean, rstd
    with np.errstate(all="ignore"):
        values = as_array(input, dtype).reshape(rows, width)
        middle, variance = row_moments(values, dtype)
        scale = 1 / np.sqrt(variance + variance.dtype.type(eps))
        gamma, beta = (_row(each, dtype) for each in (weight, bias))
        if to_opmath(dtype) is not dtype:
            found = _scaled_and_moved(values, scale, middle, gamma, beta)
        else:
            found = values - middle
            for factor in (scale, gamma):
                if factor is not None:  # the last of them is fused with the sum
                    found = found.astype(values.dtype) * factor.astype(np.float64)
            found += 0 if beta is None else beta  # a zero has no sign then
        store(output, rounded(found.astype(values.dtype).reshape(sizes), dtype))
        for target, value in ((mean, middle), (rstd, scale)):
            store(target, rounded(value.reshape(shape), statistics))
    return output, mean, rstd


def _scaled_and_moved(
    values: Array, scale: Array, middle: Array, gamma: Array | None, beta: Array | None
) -> Array:
    """Rows of halves, which are scaled before they are moved.

    Both steps are fused: the product is not rounded before the sum.  What is left where a number
    is the mean itself is the rounding of the mean's own product.
    """
    kind = values.dtype
    found = values.astype(np.float64)
    found *= scale
    found -= scale * middle
    found = found.astype(kind).astype(np.float64)
    if gamma is not None:
        found *= gamma
    found += 0 if beta is None else beta
    return found.astype(kind)


def _row(tensor: Tensor | None, dtype: DType) -> Array | None:
    if tensor is None:
        return None
    return as_array(tensor, to_opmath(dtype)).reshape(1, -1)


def _added_in_turn(rows: Array, dtype: DType) -> Array:
    """The sum of rows in a buffer of ``dtype``, to which it is rounded after each."""
    total = np.zeros(rows.shape[1], np.float32)
    for row in rows:
        total = rounded((total + row).astype(np.float32), dtype)
    return total


@kernel("aten::native_layer_norm_backward", keys=("CPU", "Meta"))
def native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    rows, width = check_layer_norm_inputs(input, normalized_shape, weight, bias)
    dtype = input._dtype
    made: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        made[0] = new_tensor(input._sizes, dtype, input._device)
    is_like = not input.is_meta or (_LIKE_PARAMETERS and rows > 0 and width > 0)
    for place, given in ((1, weight), (2, bias)):
        if output_mask[place]:
            like = given._dtype if is_like and given is not None else dtype
            made[place] = new_tensor(normalized_shape, like, input._device)
    if input.is_meta:
        return made[0], made[1], made[2]
    if rows:
        dispatch_over(FLOATING_TYPES | HALVES, "LayerNormBackwardKernelImpl", dtype)
        is_mixed = dtype in HALVES and weight is not None and weight._dtype is _FLOAT
        check_pointers(dtype, grad_out, input)
        check_pointers(_FLOAT if is_mixed else dtype, mean, rstd, weight, *made[1:])
    if not width:
        return made[0], made[1], made[2]
    with np.errstate(all="ignore"):
        kind = as_array(input, dtype).dtype
        x, dy = (
            as_array(each, dtype).reshape(rows, width).astype(np.float64)
            for each in (input, grad_out)
        )
        middle, scale = (
            as_array(each, each._dtype).reshape(rows, 1).astype(np.float64) for each in (mean, rstd)
        )
        x -= middle
        x *= scale
        gamma = _row(weight, dtype)
        scaled = dy if gamma is None else dy * gamma
        if dtype in HALVES:
            of_weight, of_bias = (_added_in_turn(each, dtype) for each in (dy * x, dy))
        else:
            of_weight, of_bias = np.einsum("ij,ij->j", dy, x), dy.sum(axis=0)
        x *= means_of_products(scaled, x)
        dx = scaled - scaled.mean(axis=1, keepdims=True)
        dx -= x
        dx *= scale
        for target, found in zip(made, (dx, of_weight, of_bias), strict=True):
            if target is not None and numel(target._sizes):
                shaped = np.asarray(found).astype(kind).reshape(tuple(target._sizes))
                store(target, rounded(shaped, target._dtype))
    return made[0], made[1], made[2]
