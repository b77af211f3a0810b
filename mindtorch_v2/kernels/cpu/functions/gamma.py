"""The logarithm of the gamma function and its derivatives.

Mirrors ``aten/src/ATen/native/Math.h``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.kernels.cpu.unary import one_by_one
from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import Pointwise, pointwise, rounded
from mindtorch_v2.kernels.elementwise.tensor_iterator import UNARY_FLOAT_OP, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_BERNOULLI: Final = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""Coefficients of the asymptotic series of digamma, in powers of ``1 / x**2``."""
_ASYMPTOTIC: Final = 10.0
"""From where on that series has all the digits of a double."""
_DIGAMMA_OF_TEN: Final = 2.25175258906672110764


_EPSILON: Final = 2.0**-53


def _lgamma(x: float) -> float:
    """Infinite at its poles."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float, kind: type[np.floating[Any]] = np.float64) -> float:
    """``calc_digamma``: reflected for negative numbers, raised by recurrence, then a series.

    Each step is a number of ``kind``, but the tangent, which is one of double precision.
    """
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        if math.isinf(x) or x == math.floor(x):
            return math.nan
        tangent = math.tan(math.pi * math.fmod(x, 1.0))
        return float(kind(_digamma(float(kind(1 - x)), kind)) - kind(math.pi / tangent))
    if math.isinf(x) or math.isnan(x):
        return x
    found, raised, one = kind(0), kind(x), kind(1)
    while raised < _ASYMPTOTIC:
        found -= one / raised
        raised += one
    if raised == _ASYMPTOTIC:
        return float(found + kind(_DIGAMMA_OF_TEN))
    power = one / (raised * raised)
    series = kind(0)
    for coefficient in reversed(_BERNOULLI):
        series = series * power + kind(coefficient)
    return float(found + kind(math.log(raised)) - kind(0.5) / raised - power * series)


def _digamma_of_each(self: Array) -> Array:
    found: Array = one_by_one(partial(_digamma, kind=self.dtype.type))(self)
    return found


def _trigamma(x: float, *, kind: type[np.floating[Any]] = np.float64) -> float:
    """``trigamma``: six steps of the recurrence, then four terms of the series.

    Where it is reflected at integers, nothing is left of the sine but what rounding in ``kind``
    makes of it.
    """
    if x < 0.5:
        if math.isinf(x):
            return math.nan
        sine = float(kind(math.sin(kind(math.pi) * kind(x))))
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


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        is_odd = math.fmod(exponent, 2) != 0
        return -math.inf if base < 0 and is_odd else math.inf


def _zeta(x: float, q: float) -> float:
    """Hurwitz' zeta function: terms, then the Euler-Maclaurin formula."""
    if x <= 1:
        return math.inf if x == 1 else math.nan
    if not math.isfinite(q):
        return math.inf if q < 0 else math.nan
    if q <= 0:
        if q == math.floor(q):
            return math.inf
        if x != math.floor(x):
            return math.nan
    total = _power(q, -x)
    count = 0
    while count < _ZETA_TERMS or q <= _ZETA_TERMS:
        count += 1
        q += 1
        term = _power(q, -x)
        total += term
        if abs(term) < _EPSILON * total:
            return total
    total += term * q / (x - 1) - 0.5 * term
    rising, power = 1.0, term
    for k, ratio in enumerate(_ZETA_RATIOS):
        rising *= x + 2 * k
        power /= q
        part = rising * power / ratio
        total += part
        if abs(part) < _EPSILON * abs(total):
            break
        rising *= x + 2 * k + 1
        power /= q
    return total


def _polygamma(self: Array, dtype: DType, n: int) -> Array:
    """The n-th derivative of digamma; the zeta function's values are those of ``dtype``."""
    if n < 2:
        compute = partial(_trigamma if n else _digamma, kind=self.dtype.type)
        first: Array = one_by_one(compute)(self)
        return first
    factorial = math.exp(math.lgamma(n + 1)) * (1 if n % 2 else -1)
    zeta = one_by_one(lambda x: _zeta(n + 1, x))(self)
    return np.asarray(self.dtype.type(factorial) * rounded(zeta, dtype))


def _zeta_of_each(self: Array, other: Array) -> Array:
    """In double precision."""
    found = np.frompyfunc(_zeta, 2, 1)(self.astype(np.float64), other.astype(np.float64))
    return np.asarray(found, np.float64).astype(self.dtype)


pointwise("aten::lgamma", one_by_one(_lgamma), UNARY_FLOAT_OP, 1)
pointwise("aten::digamma", _digamma_of_each, UNARY_FLOAT_OP, 1)
special("zeta", _zeta_of_each, 2)
_POLYGAMMA_OUT: Final = OperatorHandle("aten::polygamma.out")


def _check_order(iterator: TensorIterator, n: int) -> None:
    """Of the first two orders the kernels are others, and say so of dtypes they are not for."""
    if n > 1 or iterator.outputs[0].is_meta:
        return
    try:
        check_implemented("aten::polygamma", iterator.common_dtype)
    except (NotImplementedError, RuntimeError) as error:
        words = str(error).replace("polygamma", "trigamma" if n else "digamma")
        raise type(error)(words) from None


_POLYGAMMA: Final = Pointwise(
    "aten::polygamma",
    _polygamma,
    UNARY_FLOAT_OP,
    1,
    check=_check_order,
    prepare=lambda dtype, n: (dtype, n),
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


@kernel("aten::polygamma_", key="CompositeExplicitAutograd")
def polygamma_(self: Tensor, n: int) -> Any:
    return _POLYGAMMA_OUT(n, self, out=self)
