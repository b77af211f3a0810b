"""Numbers at equal distances: ``linspace``.

Mirrors ``TensorFactories.cpp``, ``RangeFactories.cpp`` and ``cpu/RangeFactoriesKernel.cpp`` of
``aten/src/ATen/native``, and on meta ``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.elementwise.pointwise import element, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number, to_opmath
from mindtorch_v2.kernels.factories.factories import given_options, made_empty
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.refs import wrappers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.default_dtype import default_complex_dtype, get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import scalar_of_one
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, TYPE_NAMES, check_dtype
from mindtorch_v2.tensor.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

_EXPLICIT: Final = "CompositeExplicitAutograd"
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_ITEM: Final = OperatorHandle("aten::item")
_LINSPACE: Final = OperatorHandle("aten::linspace")
_LINSPACE_OUT: Final = OperatorHandle("aten::linspace.out")
_META: Final = Device("meta")
_HALVES_ARE_FLOATS: Final = HABITS["linspace computes halves as floats"]
_NEGATIVE: Final = "number of steps must be non-negative"
_OVERLOADS: Final = ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
_OPTIONS: Final = ("dtype", "layout", "device", "pin_memory")


@kernel("aten::linspace", key=_EXPLICIT)
def linspace(start: Number, end: Number, steps: int, *options: Any) -> Any:
    if steps < 0:
        raise RuntimeError(_NEGATIVE)
    made = made_empty((steps,), **inferred("linspace", start, end, options))
    return _LINSPACE_OUT(start, end, steps, out=made)


def inferred(name: str, start: Number, end: Number, options: Sequence[Any]) -> dict[str, Any]:
    """The options that are there, and a dtype that has room for both numbers."""
    given = given_options(options)
    if not (isinstance(start, complex) or isinstance(end, complex)):
        return {"dtype": get_default_dtype(), **given}
    dtype = default_complex_dtype()
    passed = given.get("dtype", dtype)
    if not passed.is_complex:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {TYPE_NAMES[dtype]} can't be safely cast to passed "
            f"dtype {CPP_NAMES[passed]}"
        )
    return {"dtype": passed, **given}


@kernel(*(f"aten::linspace.{overload}" for overload in _OVERLOADS), key=_EXPLICIT)
def linspace_of_tensors(start: Any, end: Any, steps: int, *options: Any) -> Any:
    check_scalars("linspace", start, end)
    named = dict(zip(_OPTIONS, options, strict=True))
    return _LINSPACE(number_of(start), number_of(end), steps, **named)


@kernel(*(f"aten::linspace.{overload}_out" for overload in _OVERLOADS), key=_EXPLICIT)
def linspace_of_tensors_out(start: Any, end: Any, steps: int, out: Tensor) -> Any:
    check_scalars("linspace", start, end)
    return _LINSPACE_OUT(number_of(start), number_of(end), steps, out=out)


def number_of(bound: Any) -> Any:
    return _ITEM(bound) if isinstance(bound, Tensor) else bound


def check_scalars(name: str, start: Any, end: Any) -> None:
    bounds = {"start": start, "end": end}
    ranks = {which: len(b._sizes) for which, b in bounds.items() if isinstance(b, Tensor)}
    if any(ranks.values()):
        got = " and ".join(f"{which} with {rank} dimension(s)" for which, rank in ranks.items())
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {got}."
        )


@kernel("aten::linspace", *(f"aten::linspace.{overload}" for overload in _OVERLOADS), key="Meta")
def linspace_on_meta(start: Any, end: Any, steps: int, *options: Any) -> Tensor:
    """Of numbers or tensors; what tensors hold, nobody looks at."""
    if any(isinstance(bound, Tensor) and bound._sizes for bound in (start, end)):
        raise RuntimeError("linspace only supports 0-dimensional start and end tensors")
    given = {"dtype": get_default_dtype(), **given_options(options)}
    if isinstance(start, complex) or isinstance(end, complex):
        dtype = default_complex_dtype()
        given = {"dtype": dtype, **given_options(options)}
        if not given["dtype"].is_complex:
            raise RuntimeError(
                f"linspace(): inferred dtype {dtype!r} can't be safely cast to passed dtype "
                f"{given['dtype']!r}"
            )
    if steps < 0:
        raise RuntimeError(_NEGATIVE)
    return made_empty((steps,), **{**given, "device": _META})


@kernel(
    "aten::linspace.out", *(f"aten::linspace.{overload}_out" for overload in _OVERLOADS), key="Meta"
)
def linspace_out_on_meta(start: Any, end: Any, steps: int, out: Tensor) -> Any:
    """Numbers of the output's dtype."""
    options = (enum_value(out._dtype), None, None, None)
    return _WRITTEN(start, end, steps, *options, out=out)


_WRITTEN: Final = wrappers.out(linspace_on_meta, exact_dtype=False)


@prologue("aten::linspace")
def prepare_linspace(outputs: Sequence[Tensor], start: Number, end: Number, steps: int) -> None:
    (out,) = outputs
    if steps < 0:
        raise RuntimeError(_NEGATIVE)
    if numel(out._sizes) != steps:
        set_sizes(out, (steps,))
    if steps == 1:
        scalar_of_one(start, out._dtype)
    elif steps:
        assert_no_internal_overlap(out)
        check_dtype("linspace", out._dtype)
        for bound in (start, end):
            element(bound, out._dtype)


@kernel("aten::linspace.out")
def linspace_out(start: Number, end: Number, steps: int, out: Tensor) -> Any:
    prepare_linspace((out,), start, end, steps)
    if not steps:
        return out
    if steps == 1:
        return _FILL_(out, start)
    store(out, _values(start, end, steps, out._dtype).reshape(tuple(out._sizes)))
    return out


@np.errstate(all="ignore")
def _values(start: Number, end: Number, steps: int, dtype: DType) -> Array:
    """The first half from the start, the second from the end; integers in double precision.

    Half precision is rounded after each operation, in releases that do not compute it in single
    precision, others once: processors multiply and add in one.
    """
    if not (dtype.is_floating_point or dtype.is_complex):
        return np.trunc(_multiplied_and_added(*_bounds(start, end, dtype, np.float64), steps))
    computed = elements_of(to_opmath(dtype)).computed
    low, high = _bounds(start, end, dtype, computed)
    if to_opmath(dtype) is dtype and dtype.is_complex:  # a step times a real number
        found = np.empty(steps, low.dtype)
        found.real = _stepped(low.real, high.real, steps)
        found.imag = _stepped(low.imag, high.imag, steps)
        return found
    if not dtype.is_complex and (to_opmath(dtype) is dtype or _HALVES_ARE_FLOATS):
        return _multiplied_and_added(low, high, steps)
    count = rounded(np.asarray(steps - 1, dtype=computed), dtype)
    step = rounded(rounded(high - low, dtype) / count, dtype)
    places = rounded(np.arange(steps).astype(computed), dtype)
    return _from_both_ends(low, high, rounded(step * places, dtype))


def _stepped(low: Array, high: Array, steps: int) -> Array:
    step = (high - low) / low.dtype.type(steps - 1)
    return _from_both_ends(low, high, step * np.arange(steps).astype(low.dtype))


def _bounds(start: Number, end: Number, dtype: DType, computed: Any) -> tuple[Array, Array]:
    """Both as elements of the dtype, to compute with."""
    low, high = (np.asarray(element(bound, dtype), dtype=computed) for bound in (start, end))
    return low, high


def _multiplied_and_added(low: Array, high: Array, steps: int) -> Array:
    """Each number rounded once."""
    wide = np.float64 if low.dtype == np.float32 else np.longdouble
    step: Array = np.asarray((high - low) / low.dtype.type(steps - 1), dtype=wide)
    places: Array = np.arange(steps).astype(wide)
    found = _from_both_ends(low.astype(wide), high.astype(wide), step * places)
    return found.astype(low.dtype)


def _from_both_ends(low: Any, high: Any, distances: Array) -> Array:
    half = len(distances) // 2
    rest = distances[: len(distances) - half]
    found: Array = np.concatenate([low + distances[:half], high - rest[::-1]])
    return found
