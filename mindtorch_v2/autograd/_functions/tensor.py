"""``Tensor.resize``, from before there was ``view``.

Mirrors ``torch/autograd/_functions/tensor.py``.
"""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

from mindtorch_v2.autograd.function import Function


class Resize(Function):
    """A tensor's elements in another shape; RuntimeError for another number of elements."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Any) -> Any:
        ctx.sizes, ctx.numel = sizes, reduce(mul, sizes, 1)
        if tensor.numel() != ctx.numel:
            wanted, found = ("x".join(map(str, each)) for each in (sizes, tensor.size()))
            raise RuntimeError(
                f"requested resize to {wanted} ({ctx.numel} elements in total), but the given "
                f"tensor has a size of {found} ({tensor.numel()} elements). autograd's resize can "
                "only change the shape of a given tensor, while preserving the number of elements. "
            )
        ctx.input_sizes = tensor.size()
        if tensor.is_quantized:
            tensor.copy_(tensor)
        elif tensor.is_contiguous():
            tensor = tensor.new(tensor)
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        assert grad_output.numel() == ctx.numel
        return grad_output.contiguous().view(ctx.input_sizes), None
