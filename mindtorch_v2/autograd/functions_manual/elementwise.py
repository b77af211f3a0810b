"""Helpers of pointwise operators."""

from __future__ import annotations

import cmath
import math
from typing import Any, NoReturn

from mindtorch_v2.autograd.at import TensorOptions, call, conj, is_number, scalar_type
from mindtorch_v2.autograd.operators import (
    add,
    div,
    div_tensor,
    eq,
    ge,
    mul,
    mul_tensor,
    negative,
    sub,
)
from mindtorch_v2.binding.python.constructors import BY_NUMBER
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, strided
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn

_CONTIGUOUS = MEMORY_FORMATS["contiguous_format"]


def not_implemented(name: str, reason: str = "") -> NoReturn:
    why = f" {reason}" if reason else ""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.{why}")


def not_implemented_list(name: str, reason: str = "") -> NoReturn:
    not_implemented(name, reason)


def maybe_multiply(tensor: Any, scalar: Any) -> Any:
    is_one = not isinstance(scalar, complex) and scalar == 1
    return tensor if is_one else mul(tensor, scalar)


def handle_r_to_c(of: Any, gradient: Any) -> Any:
    """The real part, for an input that is real."""
    dtype = scalar_type(of) if isinstance(of, Tensor) or is_number(of) else of
    if gradient._dtype.is_complex and not dtype.is_complex:
        return call("real", gradient)
    return gradient


def _conj_of_tensor(other: Any) -> Any:
    """``conj`` of a tensor that may wrap a number: of a complex one, a view that wraps none."""
    if isinstance(other, complex):
        options = TensorOptions(DTYPES["complex128"], strided, Device._made("cpu"))
        other = call("scalar_tensor", other, options)
    return conj(other)


def mul_tensor_backward(grad: Any, other: Any, self_st: Any) -> Any:
    return handle_r_to_c(self_st, mul_tensor(grad, _conj_of_tensor(other)))


def mul_tensor_backward_of_scalar(grad: Any, other: Any, self_st: Any) -> Any:
    return handle_r_to_c(self_st, mul(grad, conj(other)))


def div_tensor_self_backward(grad: Any, other: Any, self_st: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        return call("zeros_like", grad, TensorOptions.of(grad)._replace(dtype=self_st))
    return handle_r_to_c(self_st, div_tensor(grad, _conj_of_tensor(other)))


def div_tensor_self_backward_of_scalar(
    grad: Any, other: Any, self_st: Any, rounding_mode: Any = None
) -> Any:
    if rounding_mode is not None:
        return div_tensor_self_backward(grad, other, self_st, rounding_mode)
    return handle_r_to_c(self_st, div(grad, conj(other)))


def div_tensor_other_backward(grad: Any, self: Any, other: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        return call("zeros_like", grad, TensorOptions.of(grad)._replace(dtype=scalar_type(other)))
    quotient = conj(div(div(self, other), other))
    return handle_r_to_c(other, mul(negative(grad), quotient))


def pow_backward(grad: Any, self: Any, exponent: Any) -> Any:
    if exponent == 0.0:
        return call("zeros_like", self, _CONTIGUOUS)
    power = exponent if isinstance(exponent, complex) else float(exponent)
    out = mul(grad, conj(mul(call("pow", self, power - 1), power)))
    return handle_r_to_c(self, out)


def pow_backward_self(grad: Any, self: Any, exponent: Any) -> Any:
    part = mul(grad, conj(mul(exponent, call("pow", self, sub(exponent, 1)))))
    zero = _zero_like(grad)
    return handle_r_to_c(self, call("where", eq(exponent, 0.0), zero, part))


def pow_backward_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    """The derivative at a base of 0 is 0 for exponents that are not negative."""
    if isinstance(self, Tensor):
        is_regular = _is_real_and_not_negative(exponent)
        cond = call("logical_and", eq(self, 0), is_regular)
        base = call("to", self, call("result_type", self, exponent))
        part = conj(mul(result, call("log", base)))
        out = mul(grad, call("where", cond, _zero_like(grad), part))
        return handle_r_to_c(exponent, out)
    part = conj(mul(result, _log(self, complex_too=exponent._dtype.is_complex)))
    if self == 0.0:
        zero = call("zeros", (), TensorOptions.of(grad))
        part = call("where", _is_real_and_not_negative(exponent), zero, part)
    return handle_r_to_c(exponent, mul(grad, part))


def _is_real_and_not_negative(exponent: Any) -> Any:
    if exponent._dtype.is_complex:
        is_not_negative = ge(call("real", exponent), 0)
        return call("logical_and", eq(call("imag", exponent), 0), is_not_negative)
    return ge(exponent, 0)


def _log(base: Any, *, complex_too: bool) -> Any:
    """``Scalar::log`` as C computes it."""
    if complex_too or isinstance(base, complex):
        return cmath.log(base) if base else complex(-math.inf, 0.0)
    if base == 0:
        return -math.inf
    return math.log(base) if base > 0 else math.nan


def _zero_like(like: Any) -> Any:
    if HABITS["a power's gradient of zero is made as a number"]:
        return scalar_like(0.0, like)
    return call("zeros", (), TensorOptions.of(like))


def scalar_like(value: float, like: Any) -> Any:
    return call("scalar_tensor", value, TensorOptions.of(like))


def sgn_backward(self: Any, grad: Any, sgn: Any) -> Any:
    if not self._dtype.is_complex:
        return call("_efficientzerotensor", sgn._sizes, TensorOptions.of(sgn))
    size = call("abs", self)
    doubled = mul(size, 2.0)
    conjugate = conj(grad)
    out = div(sub(grad, mul(mul(sgn, sgn), conjugate)), doubled)
    return call("masked_fill_", out, eq(size, 0.0), 0.0)


def masked_fill_inplace_if_safe(self: Any, mask: Any, value: Any) -> Any:
    """``self``, which nobody else has, filled; transforms and modes are shown a new tensor."""
    is_safe = not any(map(is_tensor_subclass_like, (self, mask)))
    return call("masked_fill_" if is_safe else "masked_fill", self, mask, value)


def masked_fill_backward(grad: Any, mask: Any) -> Any:
    """Transforms and modes are given no tensor whose size depends on values."""
    if any(map(is_tensor_subclass_like, (grad, mask))):
        return call("sum", call("where", mask, grad, 0))
    return call("sum", call("masked_select", grad, mask))


def log1p_backward(grad: Any, self: Any) -> Any:
    return div(grad, conj(add(self, 1)))


def atan2_backward(grad: Any, self: Any, other: Any, mask: list[bool]) -> Any:
    if grad is None:
        return [None, None]
    of_other = mul(other, other)
    square = add(mul(self, self), of_other)
    reciprocal = call("reciprocal", square)
    if HABITS["atan2 has a gradient of zero at its origin"]:
        reciprocal = call("masked_fill", reciprocal, eq(square, 0), 0)
    return [
        mul(mul(grad, other), reciprocal) if mask[0] else None,
        mul(mul(grad, negative(self)), reciprocal) if mask[1] else None,
    ]


def rad2deg_backward(grad: Any) -> Any:
    return mul(grad, 180 / math.pi)


def deg2rad_backward(grad: Any) -> Any:
    return mul(grad, math.pi / 180)


def copysign_tensor_self_backward(grad: Any, self: Any, result: Any) -> Any:
    ratio = div(result, self)
    return mul(grad, call("masked_fill_", ratio, eq(self, 0), 0))


def sinc_backward(grad: Any, self: Any) -> Any:
    scaled, squared = mul(self, math.pi), mul(mul(self, self), math.pi)
    sine = call("sin", scaled)
    slope = div(sub(mul(scaled, call("cos", scaled)), sine), squared)
    found = mul(grad, conj(slope))
    zero = _zero_like(grad)
    return call("where", eq(squared, 0.0), zero, found)


def angle_backward(grad: Any, self: Any) -> Any:
    if not self._dtype.is_complex:
        return call("zeros_like", self, MEMORY_FORMATS["preserve_format"])
    turned = mul(div(mul(grad, self), call("pow", call("abs", self), 2)), 1j)
    zero = call("zeros", (), TensorOptions.of(self))
    return call("where", eq(self, 0.0), zero, turned)


def _to_copy_backward(grad: Any, options: TensorOptions) -> Any:
    if grad._dtype.is_complex and not options.dtype.is_complex:
        grad = call("real", grad)
    return call("to", grad, options)


def isDifferentiableType(dtype: Any) -> bool:  # noqa: N802 (C++'s name)
    """Of a dtype or its number."""
    found = BY_NUMBER[dtype] if isinstance(dtype, int) else dtype
    return bool(found.is_floating_point or found.is_complex)


def warn_backwards(grad: Any) -> Any:
    """Of an operator that is there to see whether backward hands warnings on."""
    warn("warn_backwards", "Warn from backward")
    return grad
