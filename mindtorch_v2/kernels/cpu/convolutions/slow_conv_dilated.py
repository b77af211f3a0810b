"""Convolutions by columns whose kernels leave places out, of images and of volumes.

Mirrors ``aten/src/ATen/native/NaiveDilatedConvolution.cpp`` and ``DilatedConvolutionUtils.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.convolutions.params import DILATED, ConvParams
from mindtorch_v2.kernels.cpu.convolutions.slow_convolution import (
    CONTIGUOUS,
    IMAGES_LAST,
    check_rank,
    convolved,
    format_of,
    strides_of,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_FILL_: Final = OperatorHandle("aten::fill_.Tensor")
_SELECT: Final = OperatorHandle("aten::select.int")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


class _Settings:
    def __init__(self, dim: int, *given: Sequence[int]) -> None:
        self.dim = dim
        self.kernel, self.stride, self.padding, self.dilation = (list(each) for each in given)

    def check_counts(self) -> None:
        for name, values in (
            ("kernel sizes", self.kernel),
            ("strides", self.stride),
            ("dilations", self.dilation),
            ("pads", self.padding),
        ):
            if len(values) != self.dim:
                raise RuntimeError(f"{name} length should be {self.dim}, but got {len(values)}")
        for name, values in (
            ("kernel size", self.kernel),
            ("stride", self.stride),
            ("dilation", self.dilation),
        ):
            if min(values) < 1:
                raise RuntimeError(f"{name} should be greater than zero, but got {values}")

    def output_space(self, space: Sequence[int]) -> list[int]:
        places = zip(*(space, self.padding, self.dilation, self.kernel, self.stride), strict=True)
        return [
            (size + 2 * edge - (hole * (side - 1) + 1)) // step + 1
            for size, edge, hole, side, step in places
        ]


def _check(settings: _Settings, input: Tensor, weight: Tensor, bias: Tensor | None) -> list[int]:
    """``slow_conv_dilated_shape_check``: the sizes of what comes out, in space."""
    dim = settings.dim
    settings.check_counts()
    sizes, rows = list(input._sizes), list(weight._sizes)
    if len(sizes) not in (dim + 1, dim + 2):
        raise RuntimeError(f"input must be 4D or 5D tensor but got {len(sizes)}D tensor")
    output = settings.output_space(sizes[-dim:])
    if min(output) < 0:
        shown = " ".join(map(str, output))
        raise RuntimeError(
            f"calculated output size {shown} is too small (all sizes must be non-negative)"
        )
    if len(rows) != dim + 2:
        raise RuntimeError(
            f"weight must be {dim + 2}D tensor but got {len(rows)}D tensor dim={dim}"
        )
    if rows[2:] != settings.kernel:
        raise RuntimeError(
            f"weight[2:] shape {rows[2:]} must be equal to kernel_size {settings.kernel}"
        )
    channels = len(sizes) - dim - 1
    if sizes[channels] != rows[1]:
        raise RuntimeError(
            f"Need input of dimension {len(sizes)} and input.size[{channels}] == {rows[1]} but got "
            f"input to be of shape {sizes}"
        )
    if bias is not None:
        if len(bias._sizes) != 1:
            raise RuntimeError(f"bias must be 1D tensor but got {len(bias._sizes)}D tensor")
        if bias._sizes[0] != rows[0]:
            raise RuntimeError(
                f"Need bias of dimension 1 and bias.size[0] == {rows[0]} but got input to be of "
                f"shape {list(bias._sizes)}"
            )
    return output


def _values(
    settings: _Settings, input: Tensor, weight: Tensor, sizes: Sequence[int], bias: Tensor | None
) -> Array:
    still = (0,) * settings.dim
    stride, padding, dilation = map(tuple, (settings.stride, settings.padding, settings.dilation))
    parameters = ConvParams(stride, padding, dilation, False, still, 1)
    return convolved(input, as_array(weight, input._dtype), bias, parameters, sizes, DILATED)


def _run(dim: int, input: Tensor, weight: Tensor, kernel_size: Sequence[int], *rest: Any) -> Tensor:
    bias, *window = rest
    settings = _Settings(dim, kernel_size, *window)
    format = format_of(input, weight) if dim == 2 else CONTIGUOUS
    space = _check(settings, input, weight, bias)
    is_batch = len(input._sizes) == dim + 2
    if is_batch:
        check_rank(input, format)
    check_rank(weight, format)
    sizes = (*input._sizes[: int(is_batch)], weight._sizes[0], *space)
    if format is IMAGES_LAST and len(sizes) != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")
    made = new_tensor(sizes, input._dtype, input._device, strides_of(sizes, format))
    dispatch(DILATED, input._dtype)
    batch = input if is_batch else _UNSQUEEZE(input, 0)
    if not batch._sizes[0]:
        return made
    check_pointers(input._dtype, weight)
    whole = (batch._sizes[0], *sizes[-dim - 1 :])
    if is_batch or dim == 2 or HABITS["one dilated volume is a batch"]:
        found = _values(settings, batch, weight, whole, bias)
    else:
        found = _beside_its_place(settings, made, batch, weight, bias, whole)
    store(made, found.reshape(sizes))
    return made


def _beside_its_place(
    settings: _Settings,
    made: Tensor,
    batch: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    whole: Sequence[int],
) -> Array:
    """Of one volume C++ forgets that there is no batch: a channel's bias gets to the slices of the
    first channel."""
    first = _SELECT(made, 0, 0)
    found = _values(settings, batch, weight, whole, None).reshape(tuple(made._sizes))
    if bias is None:
        return found
    for channel in range(whole[1]):
        _FILL_(_SELECT(first, 0, channel), _SELECT(bias, 0, channel))
    dtype = made._dtype
    return rounded(np.asarray(found + as_array(made, dtype)), dtype)


@kernel("aten::slow_conv_dilated2d", key="CPU")
def slow_conv_dilated2d(*stack: Any) -> Tensor:
    return _run(2, *stack)


@kernel("aten::slow_conv_dilated3d", key="CPU")
def slow_conv_dilated3d(*stack: Any) -> Tensor:
    return _run(3, *stack)
