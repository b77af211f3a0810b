"""Normalization of groups of channels, and its derivative.

Mirrors ``aten/src/ATen/native/group_norm.cpp`` and ``cpu/group_norm_kernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.cpu.column_moments import column_moments
from mindtorch_v2.kernels.cpu.mixed_data_type import checked_parameter_dtype
from mindtorch_v2.kernels.cpu.row_moments import row_moments
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.device import EXTENSION_DEVICE
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    is_contiguous,
    numel,
    wrap_dim,
)
from mindtorch_v2.tensor.tensor import Tensor

_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_NATIVE: Final = OperatorHandle("aten::native_group_norm")


_WANTS_ELEMENTS: Final = HABITS["a group norm wants channels and pixels"]
_NEEDS_WEIGHT: Final = HABITS["a gradient of a group norm is like its weight"]
_TAKES_ANY: Final = HABITS["a group norm takes any input"]


def _check(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    channels: int,
    pixels: int,
    groups: int,
) -> None:
    """``check_group_norm_inputs``, which once showed a weight's shape for a bias's."""
    sizes = list(input._sizes)
    if _WANTS_ELEMENTS:
        for name, count in (("number of channels", channels), ("HxW", pixels)):
            if count <= 0:
                raise RuntimeError(f"Expected {name} to be greater than 0, got {count}")
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {sizes} and num_groups={groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given._sizes) != (channels,):
            counted = given if _WANTS_ELEMENTS else weight
            shown = [0] if counted is None else list(counted._sizes)
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {shown} and input of shape {sizes}"
            )


@kernel("aten::group_norm", key="CompositeImplicitAutograd")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    rank = len(input._sizes)
    count, channels = (input._sizes[wrap_dim(dim, rank, scalar=False)] for dim in (0, 1))
    pixels = prod(input._sizes[2:])
    _check(input, weight, bias, channels, pixels, num_groups)
    if input._device.type in ("cpu", EXTENSION_DEVICE):
        laid = _CONTIGUOUS(input, memory_format=suggest_memory_format(input))
    else:
        laid = _CONTIGUOUS(input)
    gamma, beta = (None if each is None else _CONTIGUOUS(each) for each in (weight, bias))
    return _NATIVE(laid, gamma, beta, count, channels, pixels, num_groups, eps)[0]


def _like(input: Tensor) -> Tensor:
    """In the memory format of the input."""
    order = CHANNELS_LAST.get(suggest_memory_format(input))
    strides = None if order is None else channels_last_strides(input._sizes, order)
    return new_tensor(input._sizes, input._dtype, input._device, strides)


@kernel("aten::native_group_norm")
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,  # noqa: N803 (the schema's name)
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    _check(input, weight, bias, C, HxW, group)
    is_laid_out = is_contiguous(input._sizes, input._strides, suggest_memory_format(input))
    if not (is_laid_out or _TAKES_ANY):
        raise RuntimeError(expected("X.is_contiguous(memory_format)"))
    dtype = input._dtype
    statistics = checked_parameter_dtype(input, weight, bias)
    output = _like(input)
    mean, rstd = (new_tensor((N, group), statistics, input._device) for _ in range(2))
    dispatch_over(FLOATING_TYPES | HALVES, "GroupNormKernelImpl", dtype)
    if N or not _TAKES_ANY:
        _check_numel("X", input, "N * C * HxW", N * C * HxW)
    if N and numel(input._sizes):
        check_pointers(statistics, weight, bias)
        with np.errstate(all="ignore"):
            values = as_array(input, dtype).reshape(N, group, C // group, HxW)
            is_last = suggest_memory_format(input) in CHANNELS_LAST
            if is_last:
                middle, variance = column_moments(values.transpose(0, 3, 1, 2), dtype)
            else:
                middle, variance = row_moments(values.reshape(N * group, -1), dtype)
            middle, variance = (each.reshape(N, group, 1, 1) for each in (middle, variance))
            scale = (1 / np.sqrt(_exact(variance) + eps)).astype(values.dtype)
            if weight is None and bias is None and not is_last:
                found = (values - middle) * scale
            else:
                factor, shift = _affine(middle, scale, weight, bias, dtype)
                found = (_exact(factor) * values + shift).astype(values.dtype)
            store(output, rounded(found.reshape(tuple(input._sizes)), dtype))
            store(mean, rounded(middle.reshape(N, group), statistics))
            store(rstd, rounded(scale.reshape(N, group), statistics))
    return output, mean, rstd


def _check_numel(name: str, tensor: Tensor, said: str, count: int) -> None:
    if numel(tensor._sizes) != count:
        raise RuntimeError(expected(f"{name}.numel() == {said}"))


def _affine(
    middle: Array,
    scale: Array,
    weight: Tensor | None,
    bias: Tensor | None,
    dtype: DType,
) -> tuple[Array, Array]:
    """What each channel is multiplied by, and what is added then, in one rounding each."""
    kind = scale.dtype.type
    gamma, beta = (
        np.full((1, 1, 1, 1), default, kind)
        if each is None
        else as_array(each, to_opmath(dtype)).reshape(1, scale.shape[1], -1, 1)
        for each, default in ((weight, 1), (bias, 0))
    )
    factor = scale * gamma
    shift = beta - _exact(factor) * middle
    return factor, shift.astype(scale.dtype)


def _exact(values: Array) -> Array:
    """Wide enough for what is not rounded before something is added to it: products, and eps."""
    return values.astype(np.float64)


@kernel("aten::native_group_norm_backward")
def native_group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,  # noqa: N803
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    dtype = input._dtype
    if dtype is not grad_out._dtype:
        raise RuntimeError("Expected scalar types of X and dY are same.")
    learned = checked_parameter_dtype(input, mean, rstd)
    made: list[Tensor | None] = [_like(input) if output_mask[0] else None, None, None]
    for place in (1, 2):
        if output_mask[place] and not _NEEDS_WEIGHT:
            made[place] = new_tensor((C,), learned, input._device)
        elif output_mask[place]:
            if weight is None:
                raise RuntimeError("tensor does not have a device")
            made[place] = new_tensor(weight._sizes, weight._dtype, input._device)
    dispatch_over(FLOATING_TYPES | HALVES, "GroupNormBackwardKernelImpl", dtype)
    for name, each in (("dY", grad_out), ("X", input)):
        _check_numel(name, each, "N * C * HxW", N * C * HxW)
    for name, each in (("mean", mean), ("rstd", rstd)):
        _check_numel(name, each, "N * group", N * group)
    if weight is not None and numel(weight._sizes) != C:
        raise RuntimeError(expected("!gamma.defined() || gamma.numel() == C"))
    if numel(input._sizes):
        shape = (N, group, C // group, HxW)
        x, dy = (_wide(each).reshape(shape) for each in (input, grad_out))
        middle, scale = (_wide(each).reshape(N, group, 1, 1) for each in (mean, rstd))
        gamma = np.ones(1) if weight is None else _wide(weight).reshape(1, group, -1, 1)
        for target, found in zip(made, _gradients(x, dy, middle, scale, gamma), strict=True):
            if target is not None:
                kind = as_array(target, target._dtype).dtype
                shaped = found.astype(kind).reshape(tuple(target._sizes))
                store(target, rounded(shaped, target._dtype))
    return made[0], made[1], made[2]


def _wide(tensor: Tensor) -> Array:
    return as_array(tensor, tensor._dtype).astype(np.float64)


def _gradients(
    x: Array, dy: Array, mean: Array, rstd: Array, gamma: Array
) -> tuple[Array, Array, Array]:
    """Those of the input, the weight and the bias, from sums over the pixels of each channel."""
    products, sums = (dy * x).sum(axis=3, keepdims=True), dy.sum(axis=3, keepdims=True)
    share = 1 / (x.shape[2] * x.shape[3])
    weighted, total = ((each * gamma).sum(axis=2, keepdims=True) for each in (products, sums))
    slope = (total * mean - weighted) * rstd**3 * share
    height = -slope * mean - total * rstd * share
    of_weight = ((products - sums * mean) * rstd).sum(axis=0)
    return rstd * gamma * dy + slope * x + height, of_weight, sums.sum(axis=0)
