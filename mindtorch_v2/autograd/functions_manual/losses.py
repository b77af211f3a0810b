"""Second derivatives of losses, and of the activations that losses are made of.

Operands are computed in the order in which GCC does, which is from the right to the left.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.operators import add, div, div_, mul, negative, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.cpu.losses import MEAN, NONE
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_EPSILON: Final = 1e-12


def _times(found: Any, factor: Any) -> Any:
    """In place, unless that would be seen."""
    in_place = not any(map(is_tensor_subclass_like, (found, factor)))
    return call("mul_" if in_place else "mul", found, factor)


def _mean(found: Any, input: Any, reduction: int) -> Any:
    return div_(found, input.numel()) if reduction == MEAN else found


def softplus_double_backward(grad: Any, input: Any, beta: Any, threshold: Any) -> Any:
    scaled = mul(input, beta)
    bends = call("type_as", call("lt", scaled, threshold), grad)
    found = call("sigmoid_backward", grad, call("sigmoid", scaled))
    return mul(mul(found, bends), beta)


def log_sigmoid_double_backward(grad: Any, input: Any) -> Any:
    height = call("sigmoid", input)
    return mul(mul(grad, sub(height, 1)), height)


def _is_near(input: Any, target: Any, limit: float) -> Any:
    return call("lt", call("abs", sub(input, target)), limit)


def smooth_l1_loss_double_backward(
    grad: Any, input: Any, target: Any, reduction: int, beta: float
) -> Any:
    if beta == 0:  # nothing is near enough to be squared
        return call("zeros", list(grad._sizes), TensorOptions.of(grad))
    near = call("type_as", _is_near(input, target, beta), grad)
    return _mean(div(mul(grad, near), beta), input, reduction)


def huber_loss_double_backward(
    grad: Any, input: Any, target: Any, reduction: int, delta: float
) -> Any:
    return _mean(mul(grad, _is_near(input, target, delta)), input, reduction)


def huber_loss_double_backward_grad_output(
    grad: Any, grad_output: Any, input: Any, target: Any, reduction: int, delta: float
) -> Any:
    if reduction == NONE:
        return call("huber_loss_backward", grad, input, target, reduction, delta)
    ones = call("ones_like", grad_output)
    slope = call("huber_loss_backward", ones, input, target, reduction, delta)
    return call("sum", mul(slope, grad))


def soft_margin_loss_double_backward(grad: Any, input: Any, target: Any, reduction: int) -> Any:
    power = call("exp", mul(input, negative(target)))
    height = add(power, 1)
    squared = mul(height, height)
    found = div(mul(mul(grad, mul(target, target)), power), squared)
    return _mean(found, input, reduction)


def soft_margin_loss_double_backward_grad_output(
    grad: Any, grad_output: Any, input: Any, target: Any, reduction: int
) -> Any:
    if reduction == NONE:
        return call("soft_margin_loss_backward", grad, input, target, reduction)
    ones = call("ones_like", grad_output)
    slope = call("soft_margin_loss_backward", ones, input, target, reduction)
    return call("sum", mul(slope, grad))


# --- binary cross entropy ---------------------------------------------------------------------


def _reduced(found: Any, input: Any, weight: Any, reduction: int) -> Any:
    if weight is not None:
        in_place = not is_tensor_subclass_like(weight)
        found = call("mul_" if in_place else "mul", found, weight)
    return div(found, input.numel()) if reduction == MEAN else found


def binary_cross_entropy_double_backward(
    grad_output: Any, grad: Any, input: Any, target: Any, weight: Any, reduction: int
) -> Any:
    high, low = add(input, _EPSILON), add(sub(1, input), _EPSILON)
    low_squared = call("pow", low, 2)
    spread = mul(call("pow", high, 2), low_squared)
    crossed = mul(mul(2, input), target)
    bend = add(sub(mul(input, input), crossed), target)
    found = _times(div(bend, spread), mul(grad, grad_output))
    return _reduced(found, input, weight, reduction)


def binary_cross_entropy_double_backward_grad_output(
    grad: Any, input: Any, target: Any, weight: Any, reduction: int
) -> Any:
    low = add(sub(1, input), _EPSILON)
    spread = mul(add(input, _EPSILON), low)
    found = _times(div(sub(input, target), spread), grad)
    return _reduced(found, input, weight, reduction)


def binary_cross_entropy_double_backward_target(
    grad: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    found = mul(negative(grad), grad_output)
    if weight is not None:
        found = call(f"mul{_tail(weight)}", found, weight)
    spread = call(f"mul{_tail(self)}", sub(1, self), self)
    enabled = tls.is_grad_enabled()
    tls.set_grad_enabled(False)  # the bound has no part in a third derivative
    try:
        call("clamp_min_", spread, _EPSILON)
    finally:
        tls.set_grad_enabled(enabled)
    found = call(f"div{_tail(spread)}", found, spread)
    return div_(found, target.numel()) if reduction == MEAN else found


def _tail(operand: Any) -> str:
    """Of an operator's name, where it may be in place."""
    return "" if is_tensor_subclass_like(operand) else "_"
