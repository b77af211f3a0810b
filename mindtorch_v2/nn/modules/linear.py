"""Modules of products with matrices.

Mirrors ``torch/nn/modules/linear.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.parameters import made, options_of, reset_affine
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["Identity", "Linear"]


class Identity(Module):
    """Answers what it is given; arguments of its making are for nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """A product with ``weight``, (outputs, inputs), and the sum with ``bias``."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = options_of(device, dtype)
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = made(options, (out_features, in_features))
        if bias:
            self.bias = made(options, out_features)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Any) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
