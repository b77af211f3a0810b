"""Convolutions along time, of tensors whose dimensions are time, batch and channels.

Mirrors ``aten/src/ATen/native/ConvolutionTBC.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor

_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_ADDMM_: Final = OperatorHandle("aten::addmm_")
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EXPAND: Final = OperatorHandle("aten::expand")
_NARROW: Final = OperatorHandle("aten::narrow")
_SELECT: Final = OperatorHandle("aten::select.int")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_T: Final = OperatorHandle("aten::t")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")


class _Steps:
    """Which times of an input each place of the kernel meets, and at which of the output."""

    def __init__(self, input: Tensor, weight: Tensor, pad: int) -> None:
        self.time, self.batch, self.inputs = (size_at(input, dim) for dim in range(3))
        self.width, self.outputs = size_at(weight, 0), size_at(weight, 2)
        self.length = self.time - self.width + 1 + pad * 2
        self.pad = pad

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """A place, its first time in the input and in the output, and how many there are."""
        for place in range(self.width):
            first = max(0, self.pad - place)
            count = min(self.time + self.pad - place, self.length) - first
            if count > 0:
                yield place, max(0, place - self.pad), first, count

    def rows(self, tensor: Any, first: int, count: int, channels: int) -> Any:
        return _VIEW(_NARROW(tensor, 0, first, count), [count * self.batch, channels])


def _check(self: Tensor, weight: Tensor, bias: Tensor) -> None:
    if len(self._sizes) != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if len(weight._sizes) != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if len(bias._sizes) != 1:
        raise RuntimeError("Bias must be 1-D")
    if self._sizes[2] != weight._sizes[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight._sizes[2] != bias._sizes[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")


@kernel("aten::conv_tbc", key="CompositeExplicitAutograd")
def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int) -> Any:
    _check(self, weight, bias)
    steps = _Steps(self, weight, pad)
    sizes = [steps.length, steps.batch, steps.outputs]
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    output = _EMPTY(sizes, **options)
    _COPY_(output, _EXPAND(bias, sizes))
    for place, before, first, count in steps:
        weights = _SELECT(weight, 0, place)
        rows = steps.rows(self, before, count, steps.inputs)
        _ADDMM_(steps.rows(output, first, count, steps.outputs), rows, weights)
    return output


@kernel("aten::conv_tbc_backward", key="CompositeImplicitAutograd")
def conv_tbc_backward(
    self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int
) -> tuple[Any, Any, Any]:
    """``self`` is the gradient of the output."""
    steps = _Steps(input, weight, pad)
    of_input = _ZEROS_LIKE(input, memory_format=_CONTIGUOUS)
    for place, before, first, count in steps:
        grads = steps.rows(self, first, count, steps.outputs)
        target = steps.rows(of_input, before, count, steps.inputs)
        _ADDMM_(target, grads, _T(_SELECT(weight, 0, place)))
    of_weight = _ZEROS_LIKE(weight, memory_format=_CONTIGUOUS)
    for place, before, first, count in steps:
        target = _SELECT(of_weight, 0, place)
        grads = steps.rows(self, first, count, steps.outputs)
        _ADDMM_(target, _T(steps.rows(input, before, count, steps.inputs)), grads)
    of_bias = _ZEROS_LIKE(bias, memory_format=_CONTIGUOUS)
    _COPY_(of_bias, _SUM(_SUM(self, [0], False), [0]))
    return of_input, of_weight, of_bias
