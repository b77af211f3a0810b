"""Functions that modules put into a graph.

Mirrors the part of ``torch/nn/modules/_functions.py`` that backward hooks need.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.autograd.function import Function
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["BackwardHookFunction"]


class BackwardHookFunction(Function):
    """Nothing but a node, through which the gradients of several tensors pass together."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(arg for arg in args if not arg.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor | None) -> tuple[Tensor | None, ...]:
        return args
