"""Powers at equal distances, and ranges with both of their ends: ``logspace`` and ``range``.

Mirrors ``TensorFactories.cpp`` and ``RangeFactories.cpp`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import element
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.factories.factories import given_options, made_empty
from mindtorch_v2.kernels.factories.linspace import (
    check_scalars,
    inferred,
    linspace_on_meta,
    number_of,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import ALL_TYPES, COMPLEX_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import fill, store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import streamed
from mindtorch_v2.tensor.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

_EXPLICIT: Final = "CompositeExplicitAutograd"
_LOGSPACE: Final = OperatorHandle("aten::logspace")
_LOGSPACE_OUT: Final = OperatorHandle("aten::logspace.out")
_RANGE_OUT: Final = OperatorHandle("aten::range.out")
_OVERLOADS: Final = ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
_OPTIONS: Final = ("dtype", "layout", "device", "pin_memory")
_CASES: Final = ALL_TYPES | HALVES
_WIDE: Final = DTYPES["float64"]


# --- logspace ---------------------------------------------------------------------------------


@kernel("aten::logspace", key=_EXPLICIT)
def logspace(start: Number, end: Number, steps: int, base: float, *options: Any) -> Any:
    _check_steps(steps)
    made = made_empty((steps,), **inferred("logspace", start, end, options))
    return _LOGSPACE_OUT(start, end, steps, base, out=made)


@kernel(*(f"aten::logspace.{overload}" for overload in _OVERLOADS), key=_EXPLICIT)
def logspace_of_tensors(start: Any, end: Any, steps: int, base: float, *options: Any) -> Any:
    check_scalars("logspace", start, end)
    named = dict(zip(_OPTIONS, options, strict=True))
    return _LOGSPACE(number_of(start), number_of(end), steps, base, **named)


@kernel(*(f"aten::logspace.{overload}_out" for overload in _OVERLOADS), key=_EXPLICIT)
def logspace_of_tensors_out(start: Any, end: Any, steps: int, base: float, out: Tensor) -> Any:
    check_scalars("logspace", start, end)
    return _LOGSPACE_OUT(number_of(start), number_of(end), steps, base, out=out)


@kernel("aten::logspace", *(f"aten::logspace.{overload}" for overload in _OVERLOADS), key="Meta")
def logspace_on_meta(start: Any, end: Any, steps: int, base: float, *options: Any) -> Tensor:
    """``meta_linspace_logspace``, which looks at no base and speaks of linspace."""
    return linspace_on_meta(start, end, steps, *options)


@prologue("aten::logspace")
def _prepare_logspace(
    outputs: Sequence[Tensor], start: Number, end: Number, steps: int, base: float
) -> None:
    (out,) = outputs
    _check_steps(steps)
    if numel(out._sizes) != steps:
        set_sizes(out, (steps,))


@kernel("aten::logspace.out", keys=("CPU", "Meta"))
def logspace_out(start: Number, end: Number, steps: int, base: float, out: Tensor) -> Tensor:
    _prepare_logspace((out,), start, end, steps, base)
    if out.is_meta or not steps:
        return out
    dtype = out._dtype
    if steps == 1:
        read = DTYPES["complex128"] if dtype.is_complex else _WIDE
        fill(out, _power(base, scalar_to(start, read)).item())
        return out
    dispatch_over(COMPLEX_TYPES if dtype.is_complex else _CASES, "logspace_cpu", dtype)
    _store(out, _powers(start, end, steps, base, dtype))
    return out


def _store(out: Tensor, numbers: Array) -> None:
    """In the output's shape; to what is not contiguous they are copied."""
    if not is_contiguous(out._sizes, out._strides):
        assert_no_internal_overlap(out)
    store(out, numbers.reshape(tuple(out._sizes)))


def _check_steps(steps: int) -> None:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")


@np.errstate(all="ignore")
def _power(base: Any, exponents: Any) -> Array:
    """As glibc has it: of complex numbers by way of the logarithm."""
    if np.iscomplexobj(exponents):
        powers: Array = np.exp(
            np.asarray(exponents) * np.log(np.asarray(exponents).dtype.type(base))
        )
        return powers
    found: Array = np.power(np.asarray(base), np.asarray(exponents))
    return found


@np.errstate(all="ignore")
def _powers(start: Number, end: Number, steps: int, base: float, dtype: DType) -> Array:
    """The first half from the start, the second from the end; of real numbers, in double
    precision but for the distance of the bounds."""
    low, high = element(start, dtype), element(end, dtype)
    if dtype.is_complex:
        kind = elements_of(dtype).computed
        step, places = (high - low) / kind.type(steps - 1), np.arange(steps).astype(kind)
        base = kind.type(base)
    else:
        distance = high - low if dtype.is_floating_point else high.item() - low.item()
        if dtype in HALVES:
            distance = element(distance.item(), dtype)
        step, places = float(distance) / (steps - 1), np.arange(steps, dtype=np.float64)
        low, high = float(low), float(high)
    half = steps // 2
    first, second = low + step * places[:half], high - step * places[: steps - half][::-1]
    return _power(base, np.concatenate([first, second]))


# --- range ------------------------------------------------------------------------------------


@kernel("aten::range.step", key=_EXPLICIT)
def range_step(start: Number, end: Number, step: Number, *options: Any) -> Any:
    return _RANGE_OUT(start, end, step, out=made_empty((0,), **given_options(options)))


@kernel("aten::range", key=_EXPLICIT)
def range_(start: Number, end: Number, *options: Any) -> Any:
    return range_step(start, end, 1, *options)


@prologue("aten::range")
def _prepare_range_by_one(outputs: Sequence[Tensor], start: Number, end: Number) -> None:
    _prepare_range(outputs, start, end, 1)


@kernel("aten::range.out_", key=_EXPLICIT)
def range_out_no_step(start: Number, end: Number, out: Tensor) -> Any:
    return _RANGE_OUT(start, end, 1, out=out)


@prologue("aten::range.step")
def _prepare_range(
    outputs: Sequence[Tensor], start: Number, end: Number, step: Number
) -> tuple[Any, Any, int]:
    """Answers the first number, the distance and how many there are."""
    (out,) = outputs
    dtype = out._dtype
    dispatch_over(_CASES, "range_cpu", dtype)
    low, high, by = (_accumulated(each, dtype) for each in (start, end, step))
    _check_range(low, high, by)
    count = int((high - low) / by) + 1 if dtype.is_floating_point else _steps(low, high, by) + 1
    if numel(out._sizes) != count:
        set_sizes(out, (count,))
    return low, by, count


@kernel("aten::range.out", keys=("CPU", "Meta"))
def range_out(start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    """The numbers from one end to the other, which is among them."""
    low, by, count = _prepare_range((out,), start, end, step)
    if not out.is_meta:
        _store(out, low + np.arange(count).astype(type(low)) * by)
    return out


def _accumulated(number: Number, dtype: DType) -> Any:
    """As the type that a CPU adds numbers of the dtype up in."""
    if not dtype.is_floating_point:
        return np.int64(scalar_to(number, DTYPES["int64"]))
    kind = np.float32 if dtype in HALVES else np.float64
    return kind(scalar_to(number, _WIDE))


def _steps(low: Any, high: Any, by: Any) -> int:
    """Integers are divided towards zero."""
    return abs(int(high) - int(low)) // abs(int(by))


def _check_range(low: Any, high: Any, by: Any) -> None:
    if not (by > 0 or by < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"unsupported range: {streamed(low)} -> {streamed(high)}")
    if (high < low) if by > 0 else (high > low):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
