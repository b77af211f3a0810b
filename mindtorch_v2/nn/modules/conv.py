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


def _check_padding(padding: Any, mode: str, stride: tuple[Any, ...]) -> None:
    """ValueError for words that there are not, or that do not go with a stride."""
    if isinstance(padding, str):
        strings = {"same", "valid"}
        if padding not in strings:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {strings}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    modes = {"zeros", "reflect", "replicate", "circular"}
    if mode not in modes:
        raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{mode}'")


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
        stride = _pair(stride)
        _check_padding(padding, padding_mode, stride)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride = stride
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self.dilation = _pair(dilation)
        self.transposed = False
        self.output_padding = (0, 0)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._border()
        options = options_of(device, dtype)
        self.weight = made(options, (out_channels, in_channels // groups, *self.kernel_size))
        if bias:
            self.bias = made(options, out_channels)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            border = self._reversed_padding_repeated_twice
            input, padding = functional.pad(input, border, mode=self.padding_mode), (0, 0)
        return functional.conv2d(
            *(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        )

    def _border(self) -> Any:
        """What is put around images, from the last dimension to the first, before and behind."""
        if not isinstance(self.padding, str):
            return tuple(each for each in reversed(self.padding) for _ in range(2))
        border = [0, 0, 0, 0]
        if self.padding == "same":
            pairs = zip(reversed(self.dilation), reversed(self.kernel_size), strict=False)
            for place, (step, size) in enumerate(pairs):
                total = step * (size - 1)
                border[2 * place : 2 * place + 2] = total // 2, total - total // 2
        return border

    def extra_repr(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            shown += f", padding={self.padding}"
        if self.dilation != (1, 1):
            shown += f", dilation={self.dilation}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        if self.bias is None:
            shown += ", bias=False"
        return (
            shown if self.padding_mode == "zeros" else f"{shown}, padding_mode={self.padding_mode}"
        )
