"""The numbers of ``arange``: how many, and which.

Mirrors ``arange_out`` in ``aten/src/ATen/native/RangeFactories.cpp``.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import check_symints
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import HABITS, check_dtype, has_words, streamed, worded

_FLOAT64: Final = DTYPES["float64"]
_LARGEST: Final = 1 << 63
_COUNTS_IN_INT64: Final = HABITS["arange counts in int64 whatever its numbers are"]
_STEPS_BELOW_ONE: Final = HABITS["arange takes a step below 1 in int32"]
_STEP: Final = "integer step of arange"


class UncountableError(Exception):
    """More numbers than an int64 counts, of a function in Python, which counts them."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def arange_size(start: Any, end: Any, step: Any, dtype: DType) -> int:
    """How many numbers there are; raises for bounds and steps that make no range."""
    whole = _is_integer(dtype)
    looked_at = int64 if whole and not _STEPS_BELOW_ONE else _FLOAT64
    low, high, by = (scalar_to(number, looked_at) for number in (start, end, step))
    if not (math.isfinite(by) or HABITS["arange takes a step without end"]):
        raise RuntimeError(f"step must be finite but got {streamed(by)}")
    if not (by > 0 or by < 0):  # NaN neither
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"unsupported range: {streamed(low)} -> {streamed(high)}")
    if (high < low) if by > 0 else (high > low):
        raise worded("bounds of arange")
    if whole:  # others are counted in double
        first, last, each = (int(scalar_to(number, int64)) for number in (start, end, step))
        if _steps_in_integers(dtype) and not each and has_words(_STEP):
            raise worded(_STEP)
        if dtype is int64 and (_COUNTS_IN_INT64 or are_whole(start, end, step)):
            return max(0, -((first - last) // each))
    low, high, by = (float(scalar_to(number, _FLOAT64)) for number in (start, end, step))
    count = math.ceil((high - low) / by)
    if count > _LARGEST:
        raise RuntimeError("invalid size, possible overflow?")
    if count == 1 << 63:  # the double beside the largest integer, which wraps around as one
        check_symints((-count,))
    return count


@cache
def is_in_python() -> bool:
    """Whether on meta a function in Python makes ranges."""
    return "aten::arange.start_step" in profile.active().refs["functions"]


def check_range_on_meta(start: Any, end: Any, step: Any, dtype: DType) -> None:
    """What the function in Python says of a range, in its order."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0 and not end >= start) or (step < 0 and not end <= start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if not math.isfinite(step):
        raise RuntimeError(f"step must be finite but got {step}")
    if not _COUNTS_IN_INT64:  # nor does it step by a fraction that was cut off
        _check_count(start, end, step, int64 if are_whole(start, end, step) else _FLOAT64)
        return
    if dtype is not int64 or int(step):
        _check_count(start, end, step, dtype)
    if int(step) or not _is_integer(dtype):
        return
    if dtype is not int64:
        raise RuntimeError("step must be nonzero")
    said = worded(_STEP) if has_words(_STEP) else None
    raise (
        said
        if isinstance(said, ValueError)
        else ZeroDivisionError("integer division or modulo by zero")
    )


def _is_integer(dtype: DType) -> bool:
    """``is_integer_dtype``, to which a truth value is no integer."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is DTYPES["bool"])


def _check_count(start: Any, end: Any, step: Any, dtype: DType) -> None:
    if dtype is int64:
        count = -((int(start) - int(end)) // int(step))
    else:
        count = math.ceil((end - start) / step)
    if count >= _LARGEST:
        raise UncountableError(count)


def are_whole(*numbers: Any) -> bool:
    """Whether no number is one of floating point, though it be 2.0."""
    return all(isinstance(number, int) for number in numbers)


def _steps_in_integers(dtype: DType) -> bool:
    if dtype is int64:
        return True
    return _is_integer(dtype) and not _STEPS_BELOW_ONE


def arange_values(start: Any, step: Any, count: int, dtype: DType) -> Array:
    """``start`` and ``count - 1`` steps from it."""
    check_dtype("arange", dtype)
    whole = not dtype.is_floating_point
    places = np.arange(count, dtype=np.int64 if whole else np.float64)
    if whole:
        start, step = scalar_to(start, int64), scalar_to(step, int64)
    values: Array = start + step * places
    return values
