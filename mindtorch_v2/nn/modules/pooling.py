"""Modules of pooling.

Mirrors ``torch/nn/modules/pooling.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.module import Module

__all__ = ["MaxPool2d"]


class MaxPool2d(Module):
    """The largest value of every window of images."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return functional.max_pool2d(
            *(input, self.kernel_size, self.stride, self.padding, self.dilation),
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )
