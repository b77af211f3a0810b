"""What the backends of a convolution on the CPU say of shapes and dtypes before they compute.

Mirrors the shape checks of ``ConvolutionMM2d.cpp``, ``ConvolutionMM3d.cpp``,
``DilatedConvolutionUtils.h``, ``NaiveConvolutionTranspose2d.cpp``,
``NaiveConvolutionTranspose3d.cpp`` and ``mkldnn/Conv.cpp`` in ``aten/src/ATen/native``.  They know
two dimensions of space and three: one is taken for two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mindtorch_v2.kernels.convolutions.params import ConvParams, by
from mindtorch_v2.kernels.switches import NO_DESCRIPTORS
from mindtorch_v2.tensor.geometry import numel


def check_mkldnn(parameters: ConvParams, weight: Sequence[int], output: Sequence[int]) -> None:
    """What oneDNN says of sizes, by the part of it that finds them."""
    if min(parameters.dilation) < 1 and not parameters.transposed:
        raise RuntimeError("non-positive dilation is not supported")
    if any(size < 0 for size in output):
        raise RuntimeError("could not construct a memory descriptor using a format tag")
    places = zip(parameters.dilation, weight[2:], strict=True)
    stays = any(step < 1 < size for step, size in places)
    if stays and len(weight) == 5:
        raise RuntimeError("dimensions are invalid")
    if stays or not numel(weight):
        raise RuntimeError(NO_DESCRIPTORS[parameters.transposed])


def check_slow(weight: Sequence[int]) -> None:
    """``slow_conv2d_shape_check`` and ``slow_conv3d_shape_check``."""
    kernel = weight[2:]
    if min(kernel) < 1:
        shown = f": {by(kernel)} (TxHxW)" if len(kernel) == 3 else f" {_kernel_by_side(kernel)}"
        raise RuntimeError(f"kernel size should be greater than zero, but got{shown}")


def check_dilated(parameters: ConvParams, weight: Sequence[int]) -> None:
    """``slow_conv_dilated_shape_check``."""
    for name, values in (("kernel size", weight[2:]), ("dilation", parameters.dilation)):
        if min(values) < 1:
            shown = [*_ones_for(values), *values]
            raise RuntimeError(f"{name} should be greater than zero, but got {shown}")


def check_transposed(
    parameters: ConvParams, input: Sequence[int], weight: Sequence[int], output: Sequence[int]
) -> None:
    """``slow_conv_transpose2d_shape_check`` and ``slow_conv_transpose3d_shape_check``."""
    kernel, dilation = weight[2:], parameters.dilation
    if len(kernel) < 3 and min(kernel) < 1:
        shown = _kernel_by_side(kernel)
        raise RuntimeError(f"kernel size should be greater than zero, but got {shown}")
    if min(dilation) < 1:
        shown = ", ".join(_by_side("dilation", dilation))
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")
    settings = zip(parameters.output_padding, parameters.stride, dilation, strict=True)
    if any(edge >= stride and edge >= step for edge, stride, step in settings):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + _shown_settings(parameters)
        )
    if not numel(weight):
        whole = [weight[0] // parameters.groups, weight[1], *_ones_for(kernel), *kernel]
        raise RuntimeError(_EMPTY_WEIGHT[len(kernel) == 3] + f", but got: {whole}")
    if any(size < 1 for size in output[2:]):
        extra = _ones_for(kernel)
        raise RuntimeError(
            f"Given input size per channel: ({by([*extra, *input[2:]])}). Calculated output "
            f"size per channel: ({by([*extra, *output[2:]])}). Output size is too small"
        )


_EMPTY_WEIGHT: Final = (
    "non-empty 2D or 4D weight tensor expected",
    "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) "
    "tensor expected for weight",
)


def _ones_for(space: Sequence[int]) -> list[int]:
    """What makes two dimensions of one."""
    return [1] if len(space) == 1 else []


def _shown_settings(parameters: ConvParams) -> str:
    missing = [0] * len(_ones_for(parameters.stride))
    settings = (
        *_by_side("output_padding", [*missing, *parameters.output_padding]),
        *_by_side("stride", parameters.stride),
        *_by_side("dilation", parameters.dilation),
    )
    return " ".join(settings)


def _kernel_by_side(kernel: Sequence[int]) -> str:
    return " ".join(_by_side("kernel", kernel))


def _by_side(name: str, values: Sequence[int]) -> Iterator[str]:
    values = [*_ones_for(values), *values]
    sides = ("depth", "height", "width")[-len(values) :]
    for side, value in zip(sides, values, strict=True):
        yield f"{name}_{side}: {value}"
