"""Pointwise operators.

ACLNN promotes types by torch's table, but treats tensors without dimensions as any other, so
operands are cast to torch's common dtype first.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number, Operand, result_type
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.plans import Builder, RefusedError, as_scalar, is_number, number_of
from mindtorch_v2.kernels.npu.rows import add, row
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_BOOL: Final = DTYPES["bool"]
_DIV_MODES: Final = {None: 0, "trunc": 1, "floor": 2}


def _floating(dtype: DType) -> DType:
    """Of operators that answer floating-point numbers of integers."""
    return get_default_dtype() if is_integral(dtype) else dtype


# --- two operands ---------------------------------------------------------------------------------


def _binary(
    name: str,
    b: Builder,
    self: Operand,
    other: Operand,
    *rest: Number,
    scalar: str | None = None,
    floating: bool = False,
) -> Tensor:
    """``scalar`` is the operator for a number as the second operand, which is exact for
    floating-point numbers alone; ``rest`` are scalars before the output."""
    out = b.out  # which says first what the CPU says first
    dtype = result_type((self, other))
    if floating:
        dtype = _floating(dtype)
    scalars = [as_scalar(each, dtype) for each in rest]
    if scalar is not None and is_number(other) and dtype.is_floating_point:
        number = as_scalar(number_of(other), dtype)
        b.launch(scalar, b.operand(self, dtype), number, *scalars, out)
    else:
        b.launch(name, b.operand(self, dtype), b.operand(other, dtype), *scalars, out)
    return out


for _operator, _name, _options in (
    ("aten::add.Tensor", "Add", {"scalar": "Adds"}),
    ("aten::sub.Tensor", "Sub", {"scalar": "Subs"}),
    ("aten::mul.Tensor", "Mul", {"scalar": "Muls"}),
    ("aten::div.Tensor", "Div", {"scalar": "Divs", "floating": True}),
    ("aten::atan2", "Atan2", {"floating": True}),
    ("aten::maximum", "Maximum", {}),
    ("aten::minimum", "Minimum", {}),
    ("aten::bitwise_and.Tensor", "BitwiseAndTensor", {}),
    ("aten::bitwise_or.Tensor", "BitwiseOrTensor", {}),
    ("aten::bitwise_xor.Tensor", "BitwiseXorTensor", {}),
):
    add(_operator, partial(_binary, _name, **_options))
for _short in ("eq", "ne", "gt", "ge", "lt", "le"):
    for _overload in ("Tensor", "Scalar"):
        _name = _short.capitalize()
        add(
            f"aten::{_short}.{_overload}",
            partial(_binary, f"{_name}Tensor", scalar=f"{_name}Scalar"),
        )


def _check_divided(dtype: DType) -> None:
    """UnsupportedError for integers, of which a zero is an error, and for complex numbers."""
    if is_integral(dtype) or dtype.is_complex:
        raise UnsupportedError("only floating-point numbers are divided so")


def _divided(name: str, b: Builder, self: Operand, other: Operand) -> Tensor:
    _check_divided(b.out._dtype)
    return _binary(name, b, self, other)


add("aten::fmod.Tensor", partial(_divided, "FmodTensor"))
add("aten::remainder.Tensor", partial(_divided, "RemainderTensorTensor"))
add("aten::floor_divide", partial(_divided, "FloorDivide"))


@row("aten::div.Tensor_mode")
def div_mode(b: Builder, self: Operand, other: Operand, rounding_mode: str | None) -> Tensor:
    out = b.out
    dtype = result_type((self, other))
    if rounding_mode is None:
        dtype = _floating(dtype)
    else:
        _check_divided(dtype)
    mode = _DIV_MODES[rounding_mode]
    b.launch("DivMod", b.operand(self, dtype), b.operand(other, dtype), mode, out)
    return out


@row("aten::pow.Tensor_Tensor")
def pow_tensor_tensor(b: Builder, self: Operand, exponent: Operand) -> Tensor:
    if b.out._dtype is _BOOL:
        raise UnsupportedError("truths have no powers")
    return _binary("PowTensorTensor", b, self, exponent)


@row("aten::pow.Tensor_Scalar")
def pow_tensor_scalar(b: Builder, self: Tensor, exponent: Number) -> Tensor:
    out = b.out
    dtype = result_type((self, exponent))
    number = as_scalar(exponent, dtype)
    if is_integral(dtype):
        return pow_tensor_tensor(b, self, exponent)
    b.launch("PowTensorScalar", b.cast(self, dtype), number, out)
    return out


@row("aten::pow.Scalar")
def pow_scalar(b: Builder, self: Number, exponent: Tensor) -> Tensor:
    return pow_tensor_tensor(b, self, exponent)


def _logical(name: str, b: Builder, self: Tensor, other: Tensor) -> Tensor:
    out = b.out
    operands = (b.cast(each, _BOOL) for each in (self, other))
    b.launch(name, *operands, out)
    return out


for _short in ("and", "or", "xor"):
    add(f"aten::logical_{_short}", partial(_logical, f"Logical{_short.capitalize()}"))


# --- one operand ----------------------------------------------------------------------------------


def _unary(name: str, b: Builder, self: Tensor, *scalars: Any) -> Tensor:
    out = b.out
    b.launch(name, self, *scalars, out)
    return out


def _unary_float(name: str, b: Builder, self: Tensor) -> Tensor:
    """Integers become floating-point numbers first: not every operator does that itself."""
    out = b.out
    b.launch(name, b.cast(self, _floating(self._dtype)), out)
    return out


for _short in ("abs", "neg", "sign", "floor", "ceil", "round", "trunc", "relu", "silu"):
    add(f"aten::{_short}", partial(_unary, _short.capitalize()))
add("aten::bitwise_not", partial(_unary, "BitwiseNot"))
for _short in (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"),
    *("sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan", "erf", "sigmoid", "tanh"),
):
    add(f"aten::{_short}", partial(_unary_float, _short.capitalize()))


@row("aten::logical_not")
def logical_not(b: Builder, self: Tensor) -> Tensor:
    out = b.out
    b.launch("LogicalNot", b.cast(self, _BOOL), out)
    return out


@row("aten::abs_")
def abs_(b: Builder, self: Tensor) -> Tensor:
    b.check()  # complex numbers are refused in place
    made = b.new(self._sizes, self._dtype)
    b.launch("Abs", self, made)
    b.copy(self, made)
    return self


# --- activations ----------------------------------------------------------------------------------

_GELU_FORMULAS: Final = {"none": 0, "tanh": 1}


@row("aten::gelu")
def gelu(b: Builder, self: Tensor, approximate: str) -> Tensor:
    if approximate not in _GELU_FORMULAS:
        raise RefusedError("there is no such formula")
    return _unary("GeluV2", b, self, _GELU_FORMULAS[approximate])


def _with_scalars(name: str, b: Builder, self: Tensor, *scalars: Number) -> Tensor:
    return _unary(name, b, self, *(as_scalar(each, self._dtype) for each in scalars))


add("aten::leaky_relu", partial(_with_scalars, "LeakyRelu"))
add("aten::threshold", partial(_with_scalars, "Threshold"))


@row("aten::clamp")
def clamp(b: Builder, self: Tensor, min: Number | None, max: Number | None) -> Tensor:
    out = b.out
    dtype = result_type([self, *(each for each in (min, max) if each is not None)])
    bounds = (None if each is None else as_scalar(each, dtype) for each in (min, max))
    b.launch("Clamp", b.cast(self, dtype), *bounds, out)
    return out


def _clamp_one(name: str, b: Builder, self: Tensor, bound: Number) -> Tensor:
    out = b.out
    dtype = result_type((self, bound))
    b.launch(name, b.cast(self, dtype), as_scalar(bound, dtype), out)
    return out


add("aten::clamp_min", partial(_clamp_one, "ClampMin"))
add("aten::clamp_max", partial(_clamp_one, "ClampMax"))


@row("aten::clamp.Tensor")
def clamp_tensor(b: Builder, self: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    out = b.out
    dtype = result_type([self, *(each for each in (min, max) if each is not None)])
    bounds = [None if each is None else b.operand(each, dtype) for each in (min, max)]
    b.launch("ClampTensor", b.cast(self, dtype), *bounds, out)
    return out


# --- gradients of activations ---------------------------------------------------------------------


def _backward(name: str, b: Builder, grad_output: Tensor, saved: Tensor, *scalars: Any) -> Tensor:
    """``saved`` is the input or the output of the activation."""
    out = b.out
    numbers = (as_scalar(each, out._dtype) if _is_plain_number(each) else each for each in scalars)
    b.launch(name, grad_output, saved, *numbers, out)
    return out


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


for _operator, _name in (
    ("aten::threshold_backward", "ThresholdBackward"),
    ("aten::sigmoid_backward", "SigmoidBackward"),
    ("aten::tanh_backward", "TanhBackward"),
    ("aten::silu_backward", "SiluBackward"),
    ("aten::leaky_relu_backward", "LeakyReluBackward"),
    ("aten::gelu_backward", "GeluBackwardV2"),
):
    add(_operator, partial(_backward, _name))


# --- three operands -------------------------------------------------------------------------------


def _multiplied(
    name: str, b: Builder, self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Number
) -> Tensor:
    out = b.out
    dtype = result_type((self, tensor1, tensor2))
    operands = [b.operand(each, dtype) for each in (self, tensor1, tensor2)]
    b.launch(name, *operands, as_scalar(value, dtype), out)
    return out


add("aten::addcmul", partial(_multiplied, "Addcmul"))
add("aten::addcdiv", partial(_multiplied, "Addcdiv"))


@row("aten::lerp.Tensor")
def lerp_tensor(b: Builder, self: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    out = b.out
    b.launch("Lerp", self, end, b.operand(weight, self._dtype), out)
    return out


@row("aten::lerp.Scalar")
def lerp_scalar(b: Builder, self: Tensor, end: Tensor, weight: Number) -> Tensor:
    out = b.out
    b.launch("Lerps", self, end, as_scalar(weight, self._dtype), out)
    return out


@row("aten::where.self")
def where(b: Builder, condition: Tensor, self: Operand, other: Operand) -> Tensor:
    out = b.out
    dtype = result_type((self, other))
    b.launch("SWhere", condition, b.operand(self, dtype), b.operand(other, dtype), out)
    return out
