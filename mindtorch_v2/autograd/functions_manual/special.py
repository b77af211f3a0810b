"""Helpers of special functions.

Operands are computed in the order in which GCC does, which is from the right to the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.functions_manual.elementwise import scalar_like
from mindtorch_v2.autograd.operators import add, gt, le, mul, sub
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, dispatch_over
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.type_info import finfo


def _number(value: float, like: Any) -> Any:
    """With the change that made a number of the zero in a power's gradient."""
    if HABITS["a power's gradient of zero is made as a number"]:
        return scalar_like(value, like)
    return call("full", (), value, TensorOptions.of(like))


def _half_at_nought(name: str, grad: Any, self: Any, slope: Callable[[Any], Any]) -> Any:
    """``grad * slope(self)``, where the slope at nought is a half and has no number.

    Nothing smaller than an epsilon gets to the slope, which the second derivative goes through.
    """
    dispatch_over(FLOATING_TYPES, name, self._dtype)
    epsilon = float(finfo(self._dtype).eps)
    if HABITS["a slope at nought asks what is near to it"]:
        is_tiny = le(call("abs", self), epsilon)
        found = slope(call("where", is_tiny, _number(epsilon, self), self))
        return mul(grad, call("where", is_tiny, _number(0.5, self), found))
    is_not_tiny = gt(call("abs", self), epsilon)
    found = slope(call("where", is_not_tiny, self, _number(epsilon, self)))
    return mul(grad, call("where", is_not_tiny, found, _number(0.5, self)))


def i1_backward(grad: Any, self: Any, result: Any) -> Any:
    def slope(safe: Any) -> Any:
        rest = mul(result, call("reciprocal", safe))
        return sub(call("i0", safe), rest)

    return _half_at_nought("i1_backward", grad, self, slope)


def i1e_backward(grad: Any, self: Any, result: Any) -> Any:
    def slope(safe: Any) -> Any:
        inverse = call("reciprocal", safe)
        rest = mul(result, add(call("sgn", safe), inverse))
        return sub(call("special_i0e", safe), rest)

    return _half_at_nought("i1e_backward", grad, self, slope)


def bessel_j1_backward(grad: Any, self: Any, result: Any) -> Any:
    def slope(safe: Any) -> Any:
        rest = mul(result, call("reciprocal", safe))
        return sub(call("special_bessel_j0", safe), rest)

    return _half_at_nought("bessel_j1_backward", grad, self, slope)


def bessel_y1_backward(grad: Any, self: Any, result: Any) -> Any:
    """Infinite at nought."""
    rest = mul(result, call("reciprocal", self))
    slope = sub(call("special_bessel_y0", self), rest)
    infinite = _number(math.inf, self)
    return mul(grad, call("where", call("eq", self, 0), infinite, slope))


def mvlgamma_backward(grad: Any, self: Any, p: int) -> Any:
    options = TensorOptions.of(self)._replace(layout=strided)
    halves = call("arange", -p / 2.0 + 0.5, 0.5, 0.5, options)
    args = add(halves, call("unsqueeze", self, -1))
    return mul(grad, call("sum", call("digamma_", args), [-1]))
