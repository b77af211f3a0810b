"""Values between bounds.

Mirrors clamp and its two halves of ``aten/src/ATen/native/TensorCompare.cpp``.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.std_extremes import std_max, std_min
from mindtorch_v2.kernels.dtypes import HABITS, check_supported
from mindtorch_v2.kernels.elementwise.pointwise import Pointwise, check_fill, element, pointwise
from mindtorch_v2.kernels.elementwise.promotion import Number, Operand, result_type
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_OP,
    TERNARY_OP,
    UNARY_OP,
    TensorIterator,
    dtype_of,
)
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, IINFO, TYPE_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_DOUBLE: Final = DTYPES["float64"]
_LOOKS_AT_ONE: Final = NEURAL_HABITS["a clamp to one bound looks for a NaN"]

# --- with numbers ----------------------------------------------------------------------------


def _doubles(dtype: DType, *bounds: Number | None) -> tuple[Any, ...]:
    """RuntimeError for bounds that are none; perhaps nobody looks further than a NaN."""
    found: list[Any] = []
    for bound in bounds:
        found.append(None if bound is None else scalar_to(bound, _DOUBLE))
        if bound != bound and HABITS["clamp looks no further than a NaN"]:
            break
    return (*found, None)[:2]


def _look_at_bounds(iterator: TensorIterator, *bounds: Number | None) -> None:
    """On meta nothing does."""
    if not iterator.outputs[0].is_meta:
        _doubles(_DOUBLE, *bounds)


def _bounds(dtype: DType, *bounds: Number | None) -> tuple[Any, ...]:
    return tuple(None if bound is None else element(bound, dtype) for bound in bounds)


def _within_range(dtype: DType, low: Any, high: Any) -> tuple[Number | None, Number | None]:
    """The bounds that are values of ``dtype``: others bound nothing, or would leave nothing."""
    if dtype not in IINFO:
        return low, high
    least, largest = IINFO[dtype]["min"], IINFO[dtype]["max"]
    for name, bound, beyond in (("min", low, largest), ("max", high, least)):
        if bound is not None and (bound > beyond if name == "min" else bound < beyond):
            raise RuntimeError(
                f"Clamp {name} value {streamed(float(bound))} is outside the representable range "
                f"of {CPP_NAMES[dtype]}"
            )
    return (
        low if low is None or low >= least else None,
        high if high is None or high <= largest else None,
    )


def _clamp(self: Array, low: Any, high: Any) -> Array:
    raised = self if low is None else np.where(self < low, low, self)
    return raised if high is None else np.where(raised > high, high, raised)


def _fill_with_nan(self: Array, low: Any, high: Any) -> Array:
    return np.full_like(self, math.nan)


_FILL_WITH_NAN: Final = Pointwise("", _fill_with_nan, UNARY_OP, 1, prepare=_doubles)


def _clamped(
    facts: str,
    outputs: Outputs,
    self: Tensor,
    low: Number | None,
    high: Number | None,
    *,
    is_looked_at: bool = True,
) -> tuple[Tensor, ...]:
    """Numbers take part in the promotion of integers alone.

    ``is_looked_at``: whether a bound that is NaN is looked for, and all else refused.
    """
    check_supported(facts, self._dtype)
    dtype = self._dtype
    if not dtype.is_floating_point:
        dtype = result_type((self, *(each for each in (low, high) if each is not None)))
        if dtype is not self._dtype and outputs[0] is self:
            raise RuntimeError(
                f"result type {CPP_NAMES[dtype]} can't be cast to the desired output type "
                f"{TYPE_NAMES[self._dtype]}"
            )
    check_supported(facts, dtype)
    if HABITS["clamp drops bounds beyond an integer's range"]:
        low, high = _within_range(dtype, low, high)
    converted = self._converted(self._device, dtype)
    if is_looked_at and any(bound != bound for bound in (low, high)):
        if low is not None:
            check_fill(self, dtype)  # with a number; the other half fills with a tensor
        return _FILL_WITH_NAN(outputs, converted, low, high)
    return _clamp_of(facts, is_looked_at)(outputs, converted, low, high)


@cache
def _clamp_of(facts: str, is_looked_at: bool) -> Pointwise:
    look = _look_at_bounds if is_looked_at else None
    return Pointwise(facts, _clamp, UNARY_OP, 1, check=look, prepare=_bounds)


@structured.structured("aten::clamp")
def clamp(
    outputs: Outputs, self: Tensor, low: Number | None, high: Number | None
) -> tuple[Tensor, ...]:
    if low is None and high is None:
        raise _no_bounds()
    facts = "aten::clamp"
    if high is None:
        facts = "aten::clamp_min"
    elif low is None:
        facts = "aten::clamp_max"
    is_looked_at = _LOOKS_AT_ONE or (low is not None and high is not None)
    return _clamped(facts, outputs, self, low, high, is_looked_at=is_looked_at)


def _no_bounds() -> RuntimeError:
    return RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")


@structured.structured("aten::clamp_min")
def clamp_min(outputs: Outputs, self: Tensor, low: Number) -> tuple[Tensor, ...]:
    check_supported("aten::clamp_min", self._dtype, dtype_of(low))
    return _clamped("aten::clamp_min", outputs, self, low, None)


@structured.structured("aten::clamp_max")
def clamp_max(outputs: Outputs, self: Tensor, high: Number) -> tuple[Tensor, ...]:
    check_supported("aten::clamp_max", self._dtype, dtype_of(high))
    return _clamped("aten::clamp_max", outputs, self, None, high)


def _unchecked(*stack: Any) -> None:
    """Nothing is looked at before the operands."""


_CLAMP_BETWEEN: Final = Pointwise(
    "aten::clamp.Tensor",
    lambda self, low, high: std_min(std_max(self, low), high),
    TERNARY_OP,
    3,
    before=_unchecked,
)
_CLAMP_FROM: Final = Pointwise("aten::maximum", std_max, TERNARY_OP, 2, before=_unchecked)
_CLAMP_TO: Final = Pointwise("aten::minimum", std_min, TERNARY_OP, 2, before=_unchecked)


@structured.structured("aten::clamp.Tensor")
def clamp_tensor(
    outputs: Outputs, self: Tensor, low: Operand | None, high: Operand | None
) -> tuple[Tensor, ...]:
    if low is None and high is None:
        raise _no_bounds()
    check_supported("aten::clamp.Tensor", self._dtype)
    if low is None:
        return _CLAMP_TO(outputs, self, high)
    if high is None:
        return _CLAMP_FROM(outputs, self, low)
    return _CLAMP_BETWEEN(outputs, self, low, high)


pointwise("aten::clamp_min.Tensor", std_max, BINARY_OP, 2)
pointwise("aten::clamp_max.Tensor", std_min, BINARY_OP, 2)
