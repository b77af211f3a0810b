"""Convolutions of images by columns, and their gradients.

Mirrors ``aten/src/ATen/native/ConvolutionMM2d.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.convolutions.params import ConvParams, by
from mindtorch_v2.kernels.cpu.convolutions import convolution as arrays
from mindtorch_v2.kernels.cpu.convolutions.slow_convolution import (
    IMAGES_LAST,
    as_it_lies,
    check_rank,
    check_room,
    convolved,
    format_of,
    rounding_of,
    weights_of,
)
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch, dispatch_over
from mindtorch_v2.tensor.copying import store, warn_of_cast
from mindtorch_v2.tensor.dtype import memory_format
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel, suggest_memory_format
from mindtorch_v2.tensor.tensor import Tensor

_SLOW: Final = "slow_conv2d_cpu"
_FLOATS: Final = FLOATING_TYPES | HALVES
_FORWARD: Final = OperatorHandle("aten::_slow_conv2d_forward")
_FORWARD_OUT: Final = OperatorHandle("aten::_slow_conv2d_forward.output")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")
_VIEW: Final = OperatorHandle("aten::view")
_ZERO_: Final = OperatorHandle("aten::zero_")


class _Window:
    """The settings: a height and a width of each."""

    def __init__(
        self, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> None:
        self.kernel, self.stride, self.padding = tuple(kernel_size), tuple(stride), tuple(padding)
        for name, numbers in vars(self).items():
            if len(numbers) < 2:  # torch reads beyond them
                raise RuntimeError(f"2D {name} expected")

    def output_sizes(self, image: Sequence[int]) -> tuple[int, ...]:
        places = zip(image, self.padding, self.kernel, self.stride, strict=True)
        return tuple((size + 2 * edge - side) // step + 1 for size, edge, side, step in places)

    def parameters(self) -> ConvParams:
        """As columns are filled: without an edge to fill, at the image's own first element."""
        padding = self.padding if max(self.padding) > 0 else (0, 0)
        return ConvParams(self.stride, padding, (1, 1), False, (0, 0), 1)

    def seen(self, image: Array) -> Array:
        """What of an image is in any column: where edges are cut alone, they are at the end."""
        if max(self.padding) > 0:
            return image
        height, width = (
            size + 2 * edge for size, edge in zip(image.shape[2:], self.padding, strict=True)
        )
        return image[:, :, :height, :width]

    @property
    def is_one_element(self) -> bool:
        """Whether columns are a view of the image."""
        return {*self.kernel, *self.stride} == {1} and not any(self.padding)


# --- what is checked --------------------------------------------------------------------------


def _weight_sizes(weight: Tensor, format: memory_format) -> tuple[int, ...]:
    """Of ``view_weight_2d``."""
    check_rank(weight, format)
    sizes = tuple(weight._sizes)
    return (sizes[0], sizes[1] * sizes[2] * sizes[3]) if len(sizes) == 4 else sizes


def _by_side(name: str, values: Sequence[int]) -> str:
    return f"{name}_height: {values[0]} {name}_width: {values[1]}"


def _check(
    input: Tensor,
    grad_output: Tensor | None,
    weight: tuple[int, ...],
    bias: Tensor | None,
    window: _Window,
) -> None:
    """``slow_conv2d_shape_check``."""
    for name, values in (("kernel", window.kernel), ("stride", window.stride)):
        if min(values) < 1:
            what = "kernel size" if name == "kernel" else name
            raise RuntimeError(
                f"{what} should be greater than zero, but got {_by_side(name, values)}"
            )
    if not numel(weight) or len(weight) not in (2, 4):
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {list(weight)}")
    if bias is not None:
        check_dim_size(bias, 1, 0, weight[0])
    sizes = list(input._sizes)
    if len(sizes) != 4:
        raise RuntimeError(f"Expected 4D input tensor, but got: {sizes}")
    for dim in (2, 3):
        if not sizes[dim]:
            raise RuntimeError(
                f"Expected non-zero size for input dimension {dim}, but got input shape: {sizes}. "
                "Only the batch and channel dimensions support size 0."
            )
    check_room(sizes[2:], window.padding, window.kernel)
    output = window.output_sizes(sizes[2:])
    if min(output) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({by(sizes[2:])}). Calculated output size per channel: "
            f"({by(output)}). Output size is too small"
        )
    if sizes[1]:
        check_dim_size(input, 4, 1, weight[1] // (window.kernel[0] * window.kernel[1]))
    if grad_output is not None:
        for dim, size in enumerate((weight[0], *output), start=1):
            check_dim_size(grad_output, 4, dim, size)


# --- forward ----------------------------------------------------------------------------------


@structured.structured("aten::_slow_conv2d_forward", keys=("CPU",))
def slow_conv2d_forward(
    outputs: Outputs,
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> tuple[Tensor, ...]:
    for name, values in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        if len(values) != 2:
            raise RuntimeError(f"2D {name} expected")
    window, format = _Window(kernel_size, stride, padding), format_of(self, weight)
    rows = _weight_sizes(weight, format)
    _check(self, None, rows, bias, window)
    dtype = self._dtype
    if not window.is_one_element:
        dispatch(_SLOW, dtype)
    sizes = (self._sizes[0], rows[0], *window.output_sizes(self._sizes[2:]))
    output = new_tensor((0,), dtype, self._device) if outputs[0] is None else outputs[0]
    _RESIZE_(output, sizes, memory_format=format)
    if bias is not None:
        warn_of_cast(bias._dtype, output._dtype)
    dispatch(_SLOW, dtype)
    check_pointers(dtype, output, weight)
    if output.is_meta:
        return (output,)
    kernels = weights_of(weight, dtype, (rows[0], self._sizes[1], *window.kernel), format)
    seen = _seen(self, window)
    store(output, convolved(seen, kernels, bias, window.parameters(), sizes, _SLOW))
    return (output,)


def _seen(self: Tensor, window: _Window) -> Tensor:
    """What of an image is in any column, as a tensor."""
    if max(window.padding) > 0:
        return self
    sizes = [size + 2 * edge for size, edge in zip(self._sizes[2:], window.padding, strict=True)]
    return self._as_view((*self._sizes[:2], *sizes), self._strides, self._storage_offset)


@kernel("aten::thnn_conv2d", key="CompositeImplicitAutograd")
def thnn_conv2d(*stack: Any) -> Any:
    return _FORWARD(*stack)


@kernel("aten::thnn_conv2d.out", key="CompositeImplicitAutograd")
def thnn_conv2d_out(*stack: Any) -> Any:
    return _FORWARD_OUT(*stack)


# --- backward ---------------------------------------------------------------------------------


def _gradient_of_input(
    grad_input: Tensor, grad_output: Tensor, self: Tensor, weight: Tensor, window: _Window
) -> None:
    """``slow_conv2d_backward_out_cpu_template``."""
    format = format_of(self, weight)
    rows = _weight_sizes(weight, format)
    _check(self, grad_output, rows, None, window)
    check_rank(grad_output, format)
    _RESIZE_(grad_input, list(self._sizes), memory_format=format)
    _ZERO_(grad_input)
    dtype = self._dtype
    dispatch_over(_FLOATS, "slow_conv2d_cpu_grad_input", dtype)
    check_pointers(dtype, grad_output, grad_input, weight)
    if not numel(self._sizes):
        return
    kernels = weights_of(weight, dtype, (rows[0], self._sizes[1], *window.kernel), format)
    grad = as_array(grad_output, dtype)[: self._sizes[0]]
    sizes = tuple(_seen(self, window)._sizes)
    with np.errstate(all="ignore"):
        found = arrays.spread(grad, kernels, window.parameters(), sizes, rounding_of(dtype))
    short = [(0, size - seen) for size, seen in zip(self._sizes, sizes, strict=True)]
    store(grad_input, rounded(np.pad(found, short), dtype))


def _gradient_of_weight(
    grad_weight: Tensor, grad_output: Tensor, self: Tensor, window: _Window
) -> None:
    """``slow_conv2d_backward_weight_out_cpu_template``, which takes images for dense ones."""
    format = format_of(self, grad_weight)
    name = format if format is IMAGES_LAST else None
    if not is_contiguous(grad_weight._sizes, grad_weight._strides, name):
        raise RuntimeError("slow_conv2d: grad_weight must be contiguous")
    rows = _weight_sizes(grad_weight, format)
    _check(self, grad_output, rows, None, window)
    check_rank(grad_output, format)
    dtype = self._dtype
    if not window.is_one_element:
        dispatch(_SLOW, dtype)
        image = as_it_lies(self, format)
    elif format is IMAGES_LAST:
        image = as_it_lies(self, format, is_whole=True)
    else:
        image = self
        _VIEW(self, [*self._sizes[:2], self._sizes[2] * self._sizes[3]])
    dispatch_over(_FLOATS, "slow_conv2d_cpu_grad_weight", dtype)
    check_pointers(dtype, grad_output, grad_weight)
    if not numel(self._sizes):
        return
    sizes = (rows[0], self._sizes[1], *window.kernel)
    grad = as_array(grad_output, dtype)[: self._sizes[0]]
    values = window.seen(as_array(image, dtype))
    with np.errstate(all="ignore"):
        found = arrays.weigh(grad, values, sizes, window.parameters(), rounding_of(dtype))
    store(grad_weight, rounded(found.reshape(tuple(grad_weight._sizes)), dtype))


@kernel("aten::_slow_conv2d_backward.grad_input", key="CPU")
def slow_conv2d_backward_out(
    grad_output: Tensor,
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    grad_input: Tensor | None,
    grad_weight: Tensor | None,
    grad_bias: Tensor | None,
) -> tuple[Any, ...]:
    """Each gradient for itself, with checks of its own."""
    window = _Window(kernel_size, stride, padding)
    if grad_input is not None:
        _gradient_of_input(grad_input, grad_output, self, weight, window)
    if grad_bias is not None:
        _SUM_OUT(grad_output, [0, 2, 3], out=grad_bias)
    if grad_weight is not None:
        format = suggest_memory_format(weight._sizes, weight._strides)
        _RESIZE_(grad_weight, list(weight._sizes), memory_format=format)
        _ZERO_(grad_weight)
        _gradient_of_weight(grad_weight, grad_output, self, window)
    return grad_input, grad_weight, grad_bias


@kernel("aten::_slow_conv2d_backward.output_mask", key="CPU")
def slow_conv2d_backward(grad_output: Tensor, *stack: Any) -> tuple[Any, ...]:
    *arguments, output_mask = stack
    made = [
        new_tensor((0,), grad_output._dtype, grad_output._device) if wanted else None
        for wanted in output_mask
    ]
    return slow_conv2d_backward_out(grad_output, *arguments, *made)
