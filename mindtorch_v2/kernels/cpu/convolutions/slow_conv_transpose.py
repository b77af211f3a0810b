"""Transposed convolutions by columns, of images and of volumes.

Mirrors ``aten/src/ATen/native/NaiveConvolutionTranspose2d.cpp`` and
``NaiveConvolutionTranspose3d.cpp``.  One image or volume without a batch becomes a batch of one,
in the tensor that was given if it is contiguous: as C++ has it, that is the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.convolutions.params import ConvParams, by
from mindtorch_v2.kernels.cpu.convolutions import convolution as arrays
from mindtorch_v2.kernels.cpu.convolutions.slow_convolution import (
    CONTIGUOUS,
    as_it_lies,
    check_rank,
    format_of,
    rounding_of,
    strides_of,
    weights_of,
)
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output, set_sizes
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_SWITCH: Final = "slow_conv_transpose{}d_out_cpu"
_SIDES: Final = ("depth", "height", "width")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RESIZE_: Final = OperatorHandle("aten::resize_")


class _Settings:
    def __init__(self, dim: int, *given: Sequence[int]) -> None:
        self.dim = dim
        kernel, stride, padding, output_padding, dilation = (tuple(each) for each in given)
        self.kernel, self.stride, self.padding = kernel, stride, padding
        self.output_padding, self.dilation = output_padding, dilation
        for name, values in (
            ("kernel_size", kernel),
            ("dilation", dilation),
            ("padding", padding),
            ("stride", stride),
            ("stride", output_padding),  # under which name it is refused
        ):
            if len(values) != dim:
                raise RuntimeError(
                    f"It is expected {name} equals to {dim}, but got size {len(values)}"
                )

    def shown(self, name: str, values: Sequence[int], between: str = " ") -> str:
        sides = zip(_SIDES[-self.dim :], values, strict=True)
        return between.join(f"{name}_{side}: {value}" for side, value in sides)

    def output_space(self, space: Sequence[int]) -> tuple[int, ...]:
        places = zip(
            *(space, self.stride, self.padding, self.dilation, self.kernel, self.output_padding),
            strict=True,
        )
        return tuple(
            (size - 1) * step - 2 * edge + (hole * (side - 1) + 1) + more
            for size, step, edge, hole, side, more in places
        )

    def parameters(self) -> ConvParams:
        window = (self.stride, self.padding, self.dilation)
        return ConvParams(*window, True, self.output_padding, 1)

    def check_numbers(self) -> None:
        named = [("kernel", self.kernel)] if self.dim == 2 else []
        named += [("stride", self.stride), ("dilation", self.dilation)]
        for name, values in named:
            if min(values) < 1:
                what = "kernel size" if name == "kernel" else name
                shown = self.shown(name, values, ", " if name == "dilation" else " ")
                raise RuntimeError(f"{what} should be greater than zero, but got {shown}")
        places = zip(self.output_padding, self.stride, self.dilation, strict=True)
        if any(more >= step and more >= hole for more, step, hole in places):
            shown = " ".join(
                self.shown(name, values)
                for name, values in (
                    ("output_padding", self.output_padding),
                    ("stride", self.stride),
                    ("dilation", self.dilation),
                )
            )
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got {shown}"
            )

    def check_space(self, space: Sequence[int]) -> None:
        output = self.output_space(space)
        if min(output) < 1:
            raise RuntimeError(
                f"Given input size per channel: ({by(space)}). Calculated output size per channel: "
                f"({by(output)}). Output size is too small"
            )


def _check_images(settings: _Settings, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """``slow_conv_transpose2d_shape_check``."""
    settings.check_numbers()
    rows, sizes = list(weight._sizes), list(input._sizes)
    if not numel(rows) or len(rows) not in (2, 4):
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {rows}")
    if bias is not None:
        check_dim_size(bias, 1, 0, rows[1])
    if not numel(sizes) or len(sizes) not in (3, 4):
        raise RuntimeError(
            f"non-empty 3D or 4D input tensor expected but got a tensor with size {sizes}"
        )
    settings.check_space(sizes[-2:])
    check_dim_size(input, len(sizes), len(sizes) - 3, rows[0])


def _check_volumes(settings: _Settings, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """``slow_conv_transpose3d_shape_check``, which takes a kernel of any size."""
    rows, sizes = list(weight._sizes), list(input._sizes)
    if not numel(sizes) or len(sizes) not in (4, 5):
        raise RuntimeError(
            f"non-empty 4D or 5D (batch mode) tensor expected for input, but got: {sizes}"
        )
    settings.check_numbers()
    if not numel(rows) or len(rows) != 5:
        raise RuntimeError(
            "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
            f"kernel_width) tensor expected for weight, but got: {rows}"
        )
    if bias is not None:
        check_dim_size(bias, 1, 0, rows[1])
    check_dim_size(input, len(sizes), len(sizes) - 4, rows[0])
    settings.check_space(sizes[-3:])


def _as_batch(input: Tensor, dim: int) -> Tensor:
    """The input in a row, a batch of one if it had none: itself, if it lies in a row."""
    if len(input._sizes) == dim + 2:
        return input
    is_itself = is_contiguous(input._sizes, input._strides)
    found: Tensor = input if is_itself else _CONTIGUOUS(input)
    set_sizes(found, (1, *found._sizes))
    return found


def _computed(
    settings: _Settings, input: Tensor, weight: Tensor, sizes: Sequence[int], *, images_last: bool
) -> Array:
    """What is there beyond the sizes, where less than nothing is added to them, is dropped."""
    dtype = input._dtype
    shape = (weight._sizes[0], sizes[1], *settings.kernel)
    format = format_of(input, weight) if images_last else CONTIGUOUS
    kernels = weights_of(weight, dtype, shape, format)
    space = zip(sizes[2:], settings.output_padding, strict=True)
    whole = (*sizes[:2], *(size - min(more, 0) for size, more in space))
    values, parameters = as_array(input, dtype), settings.parameters()
    with np.errstate(all="ignore"):
        found = arrays.spread(values, kernels, parameters, whole, rounding_of(dtype))
    return rounded(found[tuple(slice(size) for size in sizes)], dtype)


# --- images -----------------------------------------------------------------------------------


@structured.structured(
    "aten::slow_conv_transpose2d", keys=("CPU", "Meta", "CompositeExplicitAutogradNonFunctional")
)
def slow_conv_transpose2d(
    outputs: Outputs,
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[Tensor, ...]:
    settings = _Settings(2, kernel_size, stride, padding, output_padding, dilation)
    _check_images(settings, self, weight, bias)
    format = format_of(self, weight)
    check_rank(self, format)
    dtype = self._dtype
    batch = _as_batch(self, 2)
    sizes = (batch._sizes[0], weight._sizes[1], *settings.output_space(batch._sizes[2:]))
    strides = strides_of(sizes, format)
    output = set_output(outputs[0], sizes, dtype, self._device, strides)
    if output.is_meta:
        return (output,)
    check_rank(weight, format)
    dispatch(_SWITCH.format(2), dtype)
    check_pointers(dtype, weight)
    found = _computed(settings, batch, weight, sizes, images_last=True)
    store(as_it_lies(output, format), found)
    if bias is not None:
        _ADD_(output, _RESHAPE(bias, [-1, 1, 1]))
    if len(self._sizes) == 3:
        set_sizes(output, sizes[1:])
    return (output,)


# --- volumes ----------------------------------------------------------------------------------


@structured.structured("aten::slow_conv_transpose3d", keys=("CPU",))
def slow_conv_transpose3d(
    outputs: Outputs,
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[Tensor, ...]:
    """What was made a batch is none again in the end, if it comes to that."""
    settings = _Settings(3, kernel_size, stride, padding, output_padding, dilation)
    _check_volumes(settings, self, weight, bias)
    dtype, is_batch = self._dtype, len(self._sizes) == 5
    batch = _as_batch(self, 3)
    sizes = (batch._sizes[0], weight._sizes[1], *settings.output_space(batch._sizes[2:]))
    output = new_tensor((0,), dtype, self._device) if outputs[0] is None else outputs[0]
    _RESIZE_(output, list(sizes))
    dispatch(_SWITCH.format(3), dtype)
    check_pointers(dtype, weight, output, bias)
    if output.is_meta:
        return (output,)
    found = _computed(settings, batch, weight, sizes, images_last=False)
    if bias is not None:
        channels = as_array(bias, dtype).reshape(1, -1, 1, 1, 1)
        with np.errstate(all="ignore"):
            found = rounded(np.asarray(found + channels), dtype)
    store(as_it_lies(output, CONTIGUOUS), found)
    if not is_batch:
        set_sizes(output, sizes[1:])
        set_sizes(batch, tuple(batch._sizes[1:]))
    return (output,)
