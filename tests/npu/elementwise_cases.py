"""Cases of element-wise operators, with what numpy computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float, c_int
from typing import Any, Final

import numpy as np

from .sim.cases import Case, Out, T
from .sim.harness import S

__all__ = ["CASES"]

erf: Final = np.vectorize(math.erf, otypes=[np.float64])
erfc: Final = np.vectorize(math.erfc, otypes=[np.float64])
A, B = T(2, 3), T(3)
POSITIVE: Final = T(2, 3, low=0.1, high=3)
UNIT: Final = T(2, 3, low=-0.9, high=0.9)
INTS: Final = T(2, 3, dtype="int64")
MORE: Final = T(3, dtype="int64", low=1, high=4)
FLAGS: Final = T(2, 3, dtype="bool")


def f32(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Computed in double, rounded to f32 once: what the simulator promises."""

    def rounded(*arrays: np.ndarray) -> np.ndarray:
        wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]
        return np.asarray(function(*wide)).astype(np.float32)

    return rounded


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def slope(function: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    """grad * function'(x), the derivative by central differences in double."""
    h = 1e-6
    return lambda grad, x: grad * (function(x + h) - function(x - h)) / (2 * h)


UNARY: Final = {
    "Abs": (A, np.abs),
    "Neg": (A, np.negative),
    "Sign": (A, np.sign),
    "Floor": (A, np.floor),
    "Ceil": (A, np.ceil),
    "Round": (A, np.rint),
    "Trunc": (A, np.trunc),
    "Frac": (A, lambda x: x - np.trunc(x)),
    "Exp": (A, np.exp),
    "Exp2": (A, np.exp2),
    "Expm1": (A, np.expm1),
    "Log": (POSITIVE, np.log),
    "Log2": (POSITIVE, np.log2),
    "Log10": (POSITIVE, np.log10),
    "Log1p": (POSITIVE, np.log1p),
    "Sqrt": (POSITIVE, np.sqrt),
    "Rsqrt": (POSITIVE, lambda x: 1 / np.sqrt(x)),
    "Reciprocal": (POSITIVE, lambda x: 1 / x),
    "Square": (A, np.square),
    "Sin": (A, np.sin),
    "Cos": (A, np.cos),
    "Tan": (UNIT, np.tan),
    "Sinh": (A, np.sinh),
    "Cosh": (A, np.cosh),
    "Asin": (UNIT, np.arcsin),
    "Acos": (UNIT, np.arccos),
    "Atan": (A, np.arctan),
    "Asinh": (A, np.arcsinh),
    "Acosh": (T(2, 3, low=1.1, high=4), np.arccosh),
    "Atanh": (UNIT, np.arctanh),
    "Erf": (A, erf),
    "Erfc": (A, erfc),
    "Relu": (A, lambda x: np.maximum(x, 0)),
    "Sigmoid": (A, sigmoid),
    "Tanh": (A, np.tanh),
    "Gelu": (A, gelu_tanh),
    "Silu": (A, lambda x: x * sigmoid(x)),
    "Mish": (A, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "Hardswish": (T(2, 3, low=-5, high=5), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "Hardsigmoid": (T(2, 3, low=-5, high=5), lambda x: np.clip(x + 3, 0, 6) / 6),
    "LogSigmoid": (A, lambda x: -np.log1p(np.exp(-x))),
}


def _unary() -> list[Case]:
    cases = [Case(n, [x, Out()], f32(f), empty=True) for n, (x, f) in UNARY.items()]
    inverse = Case("Erfinv", [T(2, 3, low=-2, high=2), Out()], lambda x: x, rtol=1e-5)
    # There is no inverse error function here: what erf made is taken back.
    inverse = Case("Erfinv", [UNIT, Out()], lambda x: _erfinv(x), rtol=1e-5)
    return [
        *cases,
        inverse,
        Case("NanToNum", [A, c_float(1), c_float(2), c_float(3), Out()], lambda x: x, empty=True),
        Case("GeluV2", [A, 0, Out()], f32(gelu), note="erf"),
        Case("GeluV2", [A, 1, Out()], f32(gelu_tanh), note="tanh"),
        Case("Softplus", [A, S(2.0), S(1.5), Out()],
             f32(lambda x: np.where(2 * x > 1.5, x, np.log1p(np.exp(2 * x)) / 2))),
        Case("Hardtanh", [A, S(-1.0), S(2.0), Out()], f32(lambda x: np.clip(x, -1, 2))),
        Case("Elu", [A, S(1.5), S(2.0), S(0.5), Out()],
             f32(lambda x: 2 * np.where(x > 0, x, 1.5 * np.expm1(0.5 * x)))),
        Case("LeakyRelu", [A, S(0.25), Out()], f32(lambda x: np.where(x > 0, x, 0.25 * x))),
        Case("Prelu", [T(2, 3), T(3), Out()], f32(lambda x, w: np.where(x > 0, x, w * x))),
        Case("Threshold", [A, S(0.5), S(7.0), Out()], f32(lambda x: np.where(x > 0.5, x, 7))),
        Case("BitwiseNot", [INTS, Out()], np.invert, empty=True),
        Case("BitwiseNot", [FLAGS, Out()], np.logical_not, note="bool"),
        Case("LogicalNot", [A, Out("bool")], np.logical_not, empty=True),
        Case("IsFinite", [A, Out()], np.isfinite, empty=True),
        Case("IsInf", [A, Out()], np.isinf, empty=True),
        Case("Signbit", [A, Out()], np.signbit, empty=True),
    ]  # fmt: skip


def _erfinv(y: np.ndarray) -> np.ndarray:
    """By bisection."""
    low, high = np.full(y.shape, -6.0), np.full(y.shape, 6.0)
    for _ in range(80):
        middle = (low + high) / 2
        above = erf(middle) > y
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low.astype(np.float32)


BINARY: Final = {
    "Mul": (A, B, np.multiply),
    "Div": (A, B, np.divide),
    "FloorDivide": (A, B, np.floor_divide),
    "RemainderTensorTensor": (A, B, np.mod),
    "FmodTensor": (A, B, np.fmod),
    "PowTensorTensor": (POSITIVE, B, np.power),
    "Maximum": (A, B, np.maximum),
    "Minimum": (A, B, np.minimum),
    "Atan2": (A, B, np.arctan2),
}
INTEGER_BINARY: Final = {
    "Mul": np.multiply,
    "FloorDivide": np.floor_divide,
    "RemainderTensorTensor": np.mod,
    "FmodTensor": np.fmod,
    "PowTensorTensor": np.power,
    "Maximum": np.maximum,
    "BitwiseAndTensor": np.bitwise_and,
    "BitwiseOrTensor": np.bitwise_or,
    "BitwiseXorTensor": np.bitwise_xor,
}
SCALAR: Final = {
    "Muls": (A, 1.5, np.multiply),
    "Divs": (A, 1.5, np.divide),
    "FloorDivides": (A, 1.5, np.floor_divide),
    "RemainderTensorScalar": (A, 1.5, np.mod),
    "FmodScalar": (A, 1.5, np.fmod),
    "PowTensorScalar": (POSITIVE, 1.5, np.power),
    "ClampMin": (A, 0.5, np.maximum),
    "ClampMax": (A, 0.5, np.minimum),
    "BitwiseAndScalar": (INTS, 5, np.bitwise_and),
    "BitwiseOrScalar": (INTS, 5, np.bitwise_or),
    "BitwiseXorScalar": (INTS, 5, np.bitwise_xor),
}
COMPARISONS: Final = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
    "Lt": np.less,
    "Le": np.less_equal,
}


def _float_or_same(function: Callable[..., Any], tensor: T) -> Callable[..., Any]:
    return f32(function) if tensor.dtype == "float32" else function


def _binary() -> list[Case]:
    cases = [Case(n, [x, y, Out()], f32(f), empty=True) for n, (x, y, f) in BINARY.items()]
    cases += [
        Case(n, [T(2, 3, dtype="int64", low=0, high=6), MORE, Out()], f, note="int64", empty=True)
        for n, f in INTEGER_BINARY.items()
    ]
    for name, (tensor, scalar, function) in SCALAR.items():
        expected = _float_or_same(lambda x, f=function, s=scalar: f(x, s), tensor)
        cases.append(Case(name, [tensor, S(scalar), Out()], expected, empty=True))
    for name, function in COMPARISONS.items():
        small, other = T(4, 3, dtype="int64"), T(3, dtype="int64")
        cases.append(Case(f"{name}Tensor", [small, other, Out()], function, empty=True))
        against = lambda x, f=function: f(x, np.float32(0.5))  # noqa: E731
        cases.append(Case(f"{name}Scalar", [A, S(0.5), Out()], against, empty=True))
    for name, function in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
        small, other = T(4, 3, dtype="int64", low=0, high=2), T(3, dtype="int64", low=0, high=2)
        cases.append(Case(f"Logical{name}", [small, other, Out()], function, empty=True))
    return cases


def _with_alpha() -> list[Case]:
    return [
        Case("Add", [A, B, S(2), Out()], lambda x, y: x + 2 * y, empty=True),
        Case("Add", [INTS, MORE, S(2), Out()], lambda x, y: x + 2 * y, note="int64"),
        Case("Add", [FLAGS, T(3, dtype="bool"), S(1), Out()], np.logical_or, note="bool"),
        Case("Add", [A, T(3, dtype="float16"), S(1), Out()], lambda x, y: x + y, note="promotes"),
        Case("Adds", [A, S(1.5), S(2), Out()], lambda x: x + np.float32(3), empty=True),
        Case("Sub", [A, B, S(2), Out()], lambda x, y: x - 2 * y, empty=True),
        Case("Subs", [A, S(1.5), S(2), Out()], lambda x: x - np.float32(3), empty=True),
        Case("Rsubs", [A, S(1.5), S(2), Out()], f32(lambda x: 1.5 - 2 * x), empty=True),
        Case("DivMod", [A, B, c_int(1), Out()], f32(lambda x, y: np.trunc(x / y)), note="trunc"),
        Case("DivMod", [A, B, c_int(2), Out()], f32(np.floor_divide), note="floor"),
        Case("DivMods", [A, S(1.5), c_int(0), Out()], f32(lambda x: x / 1.5)),
        Case("RemainderScalarTensor", [S(2.5), POSITIVE, Out()], f32(lambda y: np.mod(2.5, y))),
        Case("PowScalarTensor", [S(2.5), A, Out()], f32(lambda y: 2.5**y)),
        Case("Clamp", [A, S(-0.5), S(1.0), Out()], f32(lambda x: np.clip(x, -0.5, 1))),
        Case("Clamp", [A, None, S(1.0), Out()], f32(lambda x: np.minimum(x, 1)), note="upper"),
        Case("ClampTensor", [A, T(3, high=0), None, Out()], f32(np.maximum), note="lower"),
        Case("ClampTensor", [A, T(3, high=0), T(3, low=0), Out()], f32(np.clip)),
        Case("IsClose", [A, B, 0.5, 0.25, False, Out()],
             lambda x, y: np.isclose(x, y, 0.5, 0.25)),
        Case("Addcmul", [A, B, T(2, 1), S(0.5), Out()], f32(lambda x, y, z: x + 0.5 * y * z),
             empty=True),
        Case("Addcdiv", [A, B, T(2, 1, low=1), S(0.5), Out()],
             f32(lambda x, y, z: x + 0.5 * y / z)),
        Case("Lerp", [A, T(2, 3), T(2, 3, low=0, high=1), Out()],
             f32(lambda x, y, w: x + w * (y - x))),
        Case("Lerps", [A, T(2, 3), S(0.25), Out()], f32(lambda x, y: x + 0.25 * (y - x))),
    ]  # fmt: skip


def _gradients() -> list[Case]:
    out = Out("float32")
    rows: dict[str, tuple[list[Any], Callable[..., Any]]] = {
        "ThresholdBackward": ([A, T(2, 3), S(0.5), out], lambda g, x: np.where(x > 0.5, g, 0)),
        "SigmoidBackward": ([A, T(2, 3), out], lambda g, y: g * (1 - y) * y),
        "TanhBackward": ([A, T(2, 3), out], lambda g, y: g * (1 - y * y)),
        "GeluBackward": ([A, T(2, 3), out], slope(gelu_tanh)),
        "SiluBackward": ([A, T(2, 3), out], slope(lambda x: x * sigmoid(x))),
        "SoftplusBackward": (
            [A, T(2, 3), S(1.0), S(20.0), out], slope(lambda x: np.log1p(np.exp(x)))
        ),
        "HardtanhBackward": (
            [A, T(2, 3), S(-1.0), S(1.0), out], slope(lambda x: np.clip(x, -1, 1))
        ),
        "HardswishBackward": (
            [A, T(2, 3, low=-5, high=5), out], slope(lambda x: x * np.clip(x + 3, 0, 6) / 6)
        ),
        "HardsigmoidBackward": (
            [A, T(2, 3, low=-5, high=5), out], slope(lambda x: np.clip(x + 3, 0, 6) / 6)
        ),
        "LeakyReluBackward": (
            [A, T(2, 3), S(0.25), False, out], slope(lambda x: np.where(x > 0, x, 0.25 * x))
        ),
        "EluBackward": (
            [A, S(1.5), S(2.0), S(0.5), False, T(2, 3), out],
            slope(lambda x: 2 * np.where(x > 0, x, 1.5 * np.expm1(0.5 * x))),
        ),
    }  # fmt: skip
    cases = [Case(n, arguments, f32(f), rtol=1e-5, atol=1e-5) for n, (arguments, f) in rows.items()]
    for text, function in (("none", gelu), ("tanh", gelu_tanh)):
        arguments = [A, T(2, 3), text, out]
        expected = f32(slope(function))
        cases.append(Case("GeluBackwardV2", arguments, expected, note=text, rtol=1e-5, atol=1e-5))
    return cases


def _other_dtypes() -> list[Case]:
    """A few operators in every class of numbers."""
    cases = []
    for dtype in ("float16", "float64"):
        x, y = T(2, 3, dtype=dtype), T(3, dtype=dtype)
        cases.append(Case("Add", [x, y, S(1), Out()], lambda a, b: a + b, note=dtype))
        cases.append(Case("Mul", [x, y, Out()], lambda a, b: a * b, note=dtype))
    for dtype in ("int8", "uint8", "int16", "int32"):
        x, y = T(2, 3, dtype=dtype, high=100), T(3, dtype=dtype, high=100)
        cases.append(Case("Add", [x, y, S(1), Out()], lambda a, b: a + b, note=dtype))
        cases.append(Case("Mul", [x, y, Out()], lambda a, b: a * b, note=f"{dtype}-wraps"))
    for dtype in ("complex64", "complex128"):
        x, y = T(2, 3, dtype=dtype), T(3, dtype=dtype)
        cases.append(Case("Mul", [x, y, Out()], lambda a, b: a * b, note=dtype, rtol=1e-5))
        cases.append(Case("Exp", [x, Out()], np.exp, note=dtype, rtol=1e-5))
    x = T(2, 3, dtype="complex64")
    cases.append(Case("Abs", [x, Out("float32")], np.abs, note="complex64", rtol=1e-5))
    half = T(2, 3, dtype="bfloat16")
    cases.append(
        Case(
            "Mul", [half, half, Out("bfloat16")], _rounded_product, note="bfloat16", rtol=0, atol=0
        )
    )
    cases.append(Case("Div", [INTS, MORE, Out()], f32(np.divide), note="int64"))
    cases.append(Case("Muls", [INTS, S(1.5), Out()], f32(lambda x: x * 1.5), note="int64-by-1.5"))
    return cases


def _rounded_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The product rounded to bf16, ties to even, by integer arithmetic."""
    bits = (x * y).astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32)


CASES: Final = [*_unary(), *_binary(), *_with_alpha(), *_gradients(), *_other_dtypes()]
