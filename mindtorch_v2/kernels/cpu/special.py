"""Pointwise functions beyond the elementary ones.

Mirrors ``aten/src/ATen/native/UnaryOps.cpp``, ``BinaryOps.cpp``, ``TensorCompare.cpp`` and their
CPU kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.unary import one_by_one
from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.pointwise import Pointwise, pointwise, rounded
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.structured import Outputs, Structured
from mindtorch_v2.kernels.tensor_iterator import (
    BINARY_FLOAT_OP,
    BINARY_OP,
    UNARY_FLOAT_OP,
    Config,
)
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

# --- floats of one tensor --------------------------------------------------------------------

_BERNOULLI: Final = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""Coefficients of the asymptotic series of digamma, in powers of ``1 / x**2``."""
_ASYMPTOTIC: Final = 10.0
"""From where on that series has all the digits of a double."""


_EPSILON: Final = 2.0**-53


def _lgamma(x: float) -> float:
    """Infinite at its poles."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """``calc_digamma``: reflected for negative numbers, raised by recurrence, then a series."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        if x == math.floor(x):
            return math.nan
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    below = 0.0
    while x < _ASYMPTOTIC:
        below += 1 / x
        x += 1
    if math.isinf(x) or math.isnan(x):
        return x
    power = 1 / (x * x)
    series = 0.0
    for coefficient in reversed(_BERNOULLI):
        series = (series + coefficient) * power
    return math.log(x) - 0.5 / x - series - below


def _trigamma(x: float) -> float:
    """``trigamma``: six steps of the recurrence, then four terms of the series."""
    if x < 0.5:
        sine = math.sin(math.pi * x)
        return math.pi * math.pi / (sine * sine) - _trigamma(1 - x) if sine else math.inf
    below = 0.0
    for _ in range(6):
        below += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42))
    return below + (1 + 1 / (2 * x) + square * series) / x


_ZETA_TERMS: Final = 9
_ZETA_RATIOS: Final = tuple(
    math.factorial(2 * k) / bernoulli
    for k, bernoulli in enumerate(
        (
            *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
            *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
        ),
        start=1,
    )
)
"""Of the Euler-Maclaurin formula: factorials over Bernoulli's numbers."""


def _zeta(x: float, q: float) -> float:
    """Hurwitz' zeta function, for ``x`` above one: terms, then the Euler-Maclaurin formula."""
    if q <= 0:
        if q == math.floor(q):
            return math.inf
        if x != math.floor(x):
            return math.nan
    total = math.pow(q, -x)
    count = 0
    while count < _ZETA_TERMS or q <= _ZETA_TERMS:
        count += 1
        q += 1
        term = math.pow(q, -x)
        total += term
        if abs(term / total) < _EPSILON:
            return total
    total += term * q / (x - 1) - 0.5 * term
    rising, power = 1.0, term
    for k, ratio in enumerate(_ZETA_RATIOS):
        rising *= x + 2 * k
        power /= q
        part = rising * power / ratio
        total += part
        if abs(part / total) < _EPSILON:
            break
        rising *= x + 2 * k + 1
        power /= q
    return total


def _polygamma(self: Array, dtype: DType, n: int) -> Array:
    """The n-th derivative of digamma; the zeta function's values are those of ``dtype``."""
    if n < 2:
        first: Array = one_by_one(_digamma if n == 0 else _trigamma)(self)
        return first
    factorial = math.exp(math.lgamma(n + 1)) * (1 if n % 2 else -1)
    zeta = one_by_one(lambda x: _zeta(n + 1, x))(self)
    return np.asarray(self.dtype.type(factorial) * rounded(zeta, dtype))


def _sinc(self: Array) -> Array:
    """One at zero."""
    scaled = self * self.dtype.type(math.pi)
    return np.asarray(np.where(self == 0, self.dtype.type(1), np.sin(scaled) / scaled))


for _name, _compute in (
    ("acosh", np.arccosh),
    ("asinh", np.arcsinh),
    ("atanh", np.arctanh),
    ("erfc", one_by_one(math.erfc)),
    ("lgamma", one_by_one(_lgamma)),
    ("digamma", one_by_one(_digamma)),
    ("sinc", _sinc),
):
    pointwise(f"aten::{_name}", _compute, UNARY_FLOAT_OP, 1)


_POLYGAMMA: Final = Pointwise(
    "aten::polygamma", _polygamma, UNARY_FLOAT_OP, 1, prepare=lambda dtype, n: (dtype, n)
)


@structured.structured("aten::polygamma")
def polygamma(outputs: Outputs, n: int, self: Tensor) -> tuple[Tensor, ...]:
    _refuse_negative(n)
    return _POLYGAMMA(outputs, self, n)


@structured.prologue("aten::polygamma")
def _polygamma_prologue(outputs: Outputs, n: int, self: Tensor) -> None:
    _refuse_negative(n)
    _POLYGAMMA.prologue(outputs, self, n)


def _refuse_negative(n: int) -> None:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")


# --- questions to one tensor -----------------------------------------------------------------

_TRUTH_OP: Final = Config(check_all_same_dtype=False, static_dtype=BOOL)


def _question(name: str, ask: Callable[[Array], Array]) -> Structured:
    """An answer with truth values, which is given in nothing else."""
    operator = f"aten::{name}"
    answer = Pointwise(operator, ask, _TRUTH_OP, 1)

    def run(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        check_supported(operator, self._dtype)
        if outputs[0] is not None and outputs[0]._dtype is not BOOL:
            raise RuntimeError(f"{name} does not support non-boolean outputs.")
        return answer(outputs, self)

    return run


for _name, _ask in (
    ("isposinf", np.isposinf),
    ("isneginf", np.isneginf),
    ("signbit", np.signbit),
):
    structured.add(f"aten::{_name}", _question(_name, _ask))


# --- of two tensors --------------------------------------------------------------------------


_FLOAT16: Final = DTYPES["float16"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_BFLOAT16_STEP: Final = 1 << 16


def _heaviside(self: Array, values: Array) -> Array:
    """A step from 0 to 1; ``values`` at zero, and 0 for what is no number."""
    return np.asarray(np.where(self == 0, values, (self > 0).astype(self.dtype)))


def _refuse_two_dtypes(self: Tensor, values: Tensor) -> None:
    if self._dtype.is_complex or values._dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self._dtype is not values._dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


def _nextafter(self: Array, other: Array, dtype: DType) -> Array:
    """A step among the values of ``dtype``: float16 has its own, bfloat16 is half a float32."""
    if dtype is _FLOAT16:
        return np.nextafter(self.astype(np.float16), other.astype(np.float16)).astype(self.dtype)
    if dtype is not _BFLOAT16:
        return np.nextafter(self, other)
    direction = np.where(np.abs(other) < np.abs(self), -1, 1)
    direction = np.where(np.signbit(self) != np.signbit(other), -1, direction)
    step = (self.view(np.int32) + direction * _BFLOAT16_STEP).astype(np.int32).view(np.float32)
    smallest = np.copysign(np.array(_BFLOAT16_STEP, np.int32).view(np.float32), other)
    stepped = np.where(self == 0, smallest, step)
    same = np.where(self == other, other, stepped)
    return np.asarray(np.where(np.isnan(self) | np.isnan(other), np.float32(math.nan), same))


def _xlogy(self: Array, other: Array, dtype: DType) -> Array:
    """Zero times any logarithm is zero, but nothing of no number; the logarithm is rounded."""
    product = np.where(self == 0, self.dtype.type(0), self * rounded(np.log(other), dtype))
    return np.asarray(np.where(np.isnan(other), other.dtype.type(math.nan), product))


pointwise("aten::heaviside", _heaviside, BINARY_OP, 2, before=_refuse_two_dtypes)
pointwise("aten::gcd", np.gcd, BINARY_OP, 2)
pointwise("aten::lcm", np.lcm, BINARY_OP, 2)
pointwise("aten::nextafter", _nextafter, BINARY_OP, 2, prepare=lambda dtype: (dtype,))
pointwise("aten::xlogy.Tensor", _xlogy, BINARY_FLOAT_OP, 2, prepare=lambda dtype: (dtype,))
