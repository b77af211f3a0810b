"""Helpers of neural networks' operators.

Operands are computed in the order in which GCC does, which is from the right to the left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call, suggest_memory_format
from mindtorch_v2.autograd.operators import add, div, div_, mul, negative, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.cpu.losses import MEAN
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_DIV_: Final = OperatorHandle("aten::div_.Scalar")
_DENSITY: Final = 1 / math.sqrt(2 * math.pi)
_BETA: Final = math.sqrt(2 / math.pi)
_KAPPA: Final = 0.044715


def infinitely_differentiable_silu_backward(grad: Any, input: Any) -> Any:
    sigmoid = call("sigmoid", input)
    slope = add(mul(input, sub(1.0, sigmoid)), 1.0)
    return mul(mul(grad, sigmoid), slope)


def infinitely_differentiable_mish_backward(grad: Any, input: Any) -> Any:
    sigmoid = call("sigmoid", input)
    height = call("tanh", call("log1p", call("exp", input)))
    rest = sub(1.0, mul(height, height))
    return mul(grad, add(height, mul(mul(input, sigmoid), rest)))


def infinitely_differentiable_logit_backward(grad: Any, self: Any, eps: float | None) -> Any:
    """Outside of the bounds there is no slope, and without bounds there is no number."""
    if eps is None:
        outside = call("fill_", call("empty", [], TensorOptions.of(self)), math.nan)
    else:
        outside = call("zeros", [], TensorOptions.of(self))
    low = eps or 0.0
    slope = div(grad, mul(self, sub(1.0, self)))
    below = call("le", self, 1.0 - low)
    inside = call("logical_and", call("ge", self, low), below)
    return call("where", inside, slope, outside)


def native_dropout_double_backward(grad: Any, grad_output: Any, mask: Any, scale: float) -> Any:
    scaled = mul(call("type_as", mask, grad_output), scale)
    return mul(call("type_as", grad, grad_output), scaled)


def infinitely_differentiable_native_dropout_backward(grad: Any, mask: Any, scale: float) -> Any:
    return mul(grad, mul(call("type_as", mask, grad), scale))


def mse_loss_double_backward(grad: Any, input: Any, reduction: int) -> Any:
    found = mul(2, grad)
    return div_(found, input.numel()) if reduction == MEAN else found


def gelu_double_backward(grad: Any, grad_output: Any, input: Any, approximate: str) -> Any:
    """The second derivative, of the function by the normal distribution or of its likeness."""
    if approximate != "tanh":
        square = mul(input, input)
        density = mul(_DENSITY, call("exp", mul(-0.5, square)))
        lost = mul(square, density)
        slope = sub(mul(2, density), lost)
        return mul(mul(grad, grad_output), slope)
    inner = mul(_BETA, add(input, mul(_KAPPA, call("pow", input, 3))))
    height, sech = call("tanh", inner), div(1, call("cosh", inner))
    half, rest = mul(0.5, input), sub(1, mul(height, height))
    speed = mul(_BETA, add(mul(mul(3 * _KAPPA, input), input), 1))
    first = mul(mul(0.5, rest), speed)
    falling = mul(negative(sech), height)
    bend = mul(mul(mul(2, sech), falling), speed)
    second = mul(mul(half, speed), bend)
    straight = mul(mul(6 * _KAPPA, input), _BETA)
    third = mul(mul(half, rest), straight)
    slope = add(add(mul(2, first), second), third)
    return mul(mul(grad, grad_output), slope)


def glu_double_backward(grad: Any, grad_output: Any, input: Any, dim: int) -> Any:
    """Of the half that passes, and of the half that says how much of it."""
    size = input._sizes[dim] // 2
    first = call("narrow", input, dim, 0, size)
    gate = call("sigmoid", call("narrow", input, dim, size, size))
    closed = sub(1, gate)
    slope = mul(gate, closed)
    by_first = call("narrow", grad, dim, 0, size)
    by_gate = call("narrow", grad, dim, size, size)
    by_both = mul(by_gate, first)
    of_first = mul(mul(by_gate, grad_output), slope)
    lost = mul(gate, slope)
    bend = sub(mul(slope, closed), lost)
    straight = mul(mul(by_first, grad_output), slope)
    of_gate = add(mul(mul(by_both, grad_output), bend), straight)
    return call("cat", [of_first, of_gate], dim)


def glu_double_backward_grad_output(grad: Any, input: Any, dim: int) -> Any:
    dim %= len(input._sizes)
    sizes = list(input._sizes)
    sizes[dim] //= 2
    half = call("glu_backward", call("ones", sizes, TensorOptions.of(input)), input, dim)
    change = mul(grad, half)
    size = sizes[dim]
    behind = call("narrow", change, dim, size, size)
    return add(call("narrow", change, dim, 0, size), behind)


def elu_double_backward(
    grad: Any,
    grad_output: Any,
    alpha: Any,
    scale: Any,
    input_scale: Any,
    is_result: bool,
    self_or_result: Any,
) -> Any:
    """Where the function bends, which is below 0."""
    below = call("type_as", call("lt", self_or_result, 0), grad)
    found = mul(mul(grad, grad_output), input_scale)
    if not is_result:
        found = call("elu_backward", found, alpha, scale, input_scale, is_result, self_or_result)
    return mul(found, below)


def max_pool_double_backward(grad: Any, indices: Any, dim: int) -> Any:
    """What stands at the places of the maxima, of which the last ``dim`` dimensions are one."""
    if not indices.numel():
        return call("empty_like", indices, TensorOptions.of(grad))
    sizes = [*indices._sizes[: len(indices._sizes) - dim], -1]
    flat = call("view", indices, sizes)
    if HABITS["the gradient of an unpooling is reshaped"]:
        rows = call("reshape", grad, sizes)
    else:
        rows = call("view", call("contiguous", grad, suggest_memory_format(indices)), sizes)
    return call("view", call("gather", rows, -1, flat), list(indices._sizes))


def constant_pad_nd_backward(grad: Any, pad: Sequence[int]) -> Any:
    return call("constant_pad_nd", grad, [-edge for edge in pad], 0)


def softmax_double_backward(grad: Any, grad_output: Any, dim: int, output: Any) -> Any:
    sent = mul(grad_output, call("sum", mul(output, grad), [dim], True))
    received = mul(call("sum", mul(output, grad_output), [dim], True), grad)
    return sub(sub(mul(grad_output, grad), received), sent)


def embedding_dense_double_backward(grad: Any, indices: Any, padding_idx: int) -> Any:
    rows = call("index_select", grad, 0, call("reshape", indices, [-1]))
    if padding_idx >= 0:
        skipped = call("unsqueeze", call("reshape", call("eq", indices, padding_idx), [-1]), 1)
        call("masked_fill_", rows, skipped, 0)
    return call("view", rows, [*indices._sizes, rows._sizes[-1]])


# --- binary cross entropy ---------------------------------------------------------------------


def binary_cross_entropy_target_backward(
    grad: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    found = call("neg_", call("logit", self))
    found = mul(found, grad) if is_tensor_subclass_like(grad) else call("mul_", found, grad)
    if weight is not None:
        found = _scaled(found, weight)
    return _DIV_(found, target.numel()) if reduction == MEAN else found


def _scaled(found: Any, weight: Any) -> Any:
    return mul(found, weight) if is_tensor_subclass_like(weight) else call("mul_", found, weight)


def binary_cross_entropy_with_logits_backward(
    grad: Any, input: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    """In place where nobody differentiates it again."""
    keeps = tls.is_grad_enabled()
    is_subclass = any(map(is_tensor_subclass_like, (input, target)))
    tail = "" if keeps or is_subclass else "_"
    if pos_weight is None:
        found = call(f"sub{tail}", call("sigmoid", input), target)
    else:
        scaled = call("mul", pos_weight, target)
        found = call(f"sub{tail}", add(scaled, 1), target)
        found = call(f"mul{tail}", found, call("sigmoid", input))
        found = call(f"sub{tail}", found, scaled)
    for each in (grad, weight):
        if each is not None:
            found = call("mul" if keeps or is_tensor_subclass_like(each) else "mul_", found, each)
    return _DIV_(found, input.numel()) if reduction == MEAN else found


def binary_cross_entropy_with_logits_target_backward(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        found = mul(negative(self), grad)
    else:
        one, two = call("log_sigmoid", negative(self)), call("log_sigmoid", self)
        is_subclass = any(map(is_tensor_subclass_like, (pos_weight, grad)))
        tail = "" if is_subclass else "_"
        found = call(f"sub{tail}", one, call(f"mul{tail}", two, pos_weight))
        found = call(f"mul{tail}", found, grad)
    if weight is not None:
        found = _scaled(found, weight)
    return _DIV_(found, target.numel()) if reduction == MEAN else found
