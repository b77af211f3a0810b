"""Helpers of neural networks' operators."""

from __future__ import annotations

from typing import Any

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import add, mul, sub


def infinitely_differentiable_silu_backward(grad: Any, input: Any) -> Any:
    sigmoid = call("sigmoid", input)
    return mul(mul(grad, sigmoid), add(mul(input, sub(1.0, sigmoid)), 1.0))


def native_dropout_double_backward(grad: Any, grad_output: Any, mask: Any, scale: float) -> Any:
    scaled = mul(call("type_as", mask, grad_output), scale)
    return mul(call("type_as", grad, grad_output), scaled)


def infinitely_differentiable_native_dropout_backward(grad: Any, mask: Any, scale: float) -> Any:
    return mul(grad, mul(call("type_as", mask, grad), scale))


def softmax_double_backward(grad: Any, grad_output: Any, dim: int, output: Any) -> Any:
    received = mul(call("sum", mul(output, grad_output), [dim], True), grad)
    sent = mul(grad_output, call("sum", mul(output, grad), [dim], True))
    return sub(sub(mul(grad_output, grad), received), sent)


def embedding_dense_double_backward(grad: Any, indices: Any, padding_idx: int) -> Any:
    rows = call("index_select", grad, 0, call("reshape", indices, [-1]))
    if padding_idx >= 0:
        skipped = call("unsqueeze", call("reshape", call("eq", indices, padding_idx), [-1]), 1)
        call("masked_fill_", rows, skipped, 0)
    return call("view", rows, [*indices._sizes, rows._sizes[-1]])
