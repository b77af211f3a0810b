"""Modules of convolutions.

Mirrors ``torch/nn/modules/conv.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.parameters import made, options_of, reset_affine
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["Conv2d"]


def _pair(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


class Conv2d(Module):
    """Products of ``weight`` with every window of images."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode != "zeros" or isinstance(padding, str):
            raise NotImplementedError("mindtorch_v2 pads convolutions with numbers of zeros only")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride)
        self.padding = _pair(padding)
        self.dilation = _pair(dilation)
        self.groups = groups
        options = options_of(device, dtype)
        self.weight = made(options, out_channels, in_channels // groups, *self.kernel_size)
        if bias:
            self.bias = made(options, out_channels)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Any) -> Any:
        return functional.conv2d(
            *(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        )

    def extra_repr(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0, 0):
            shown += f", padding={self.padding}"
        if self.dilation != (1, 1):
            shown += f", dilation={self.dilation}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        return shown if self.bias is not None else f"{shown}, bias=False"
