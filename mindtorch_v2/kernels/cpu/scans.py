"""Scans: what comes out at a place is of all elements up to it.

Mirrors ``cumsum``, ``cumprod``, ``logcumsumexp``, ``cummax`` and ``cummin`` of
``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.along_dim import check_overlaps, write_chosen
from mindtorch_v2.kernels.cpu.functions.complex_functions import log1p
from mindtorch_v2.kernels.cpu.reduce import element_at, places_in_order, shares_storage
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import as_array, check_fill, rounded
from mindtorch_v2.kernels.elementwise.promotion import dtype_numbered
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import check_like, new_tensor, resize_output, set_output
from mindtorch_v2.kernels.overlap import (
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    may_overlap_itself,
)
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, changed_in_place
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, warn_of_cast
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.experimental import warn_of_copy
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_LOGCUMSUMEXP: Final = OperatorHandle("aten::_logcumsumexp")
_LOGCUMSUMEXP_OUT: Final = OperatorHandle("aten::_logcumsumexp.out")
_ANY_DIM: Final = "a running extreme takes any dimension of a scalar"


def _scan(name: str, combine: np.ufunc, start: int) -> None:
    def run(outputs: Outputs, self: Tensor, dim: int, dtype: int | None) -> tuple[Tensor, ...]:
        output = prepare(outputs, self, dim, dtype)
        if not numel(self._sizes):
            check_fill(output, output._dtype)
        if output.is_meta or not numel(self._sizes):
            return (output,)
        found = output._dtype
        assert_no_internal_overlap(output)
        if self._dtype is found and self._sizes and output is not self:  # else it reads a copy
            assert_no_partial_overlap(output, self)
        if self._sizes:
            source = self if self._dtype is found else _converted(self, found)
            _write_scan(output, source, wrap_dim(dim, len(self._sizes)), start, combine)
        else:
            store(output, as_array(self, found))
        return (output,)

    def prepare(outputs: Outputs, self: Tensor, dim: int, dtype: int | None) -> Tensor:
        (given,) = outputs
        wrap_dim(dim, len(self._sizes))
        if dtype is not None:
            found = dtype_numbered(dtype)
        elif given is not None:
            found = given._dtype
        else:
            found = int64 if is_integral(self._dtype) else self._dtype
        output = set_output(given, self._sizes, found, self._device, self=changed_in_place(outputs))
        if not output.is_meta and numel(self._sizes):
            warn_of_cast(self._dtype, found)
            if self._sizes:
                warn_of_copy(self._dtype, found)
                check_implemented(f"aten::{name}", found)
        return output

    structured.add(f"aten::{name}", run)
    structured.prologue(f"aten::{name}")(prepare)


def _converted(self: Tensor, dtype: DType) -> Tensor:
    copied = new_tensor(self._sizes, dtype, self._device)
    store(copied, as_array(self, dtype))
    return copied


def _write_scan(output: Tensor, self: Tensor, dim: int, start: float, combine: Any) -> None:
    """``cpu_cum_base_kernel``: row by row, and in a row element by element.

    What is written is read again where output and source share memory otherwise than element by
    element; only then it is looked at one by one.
    """
    dtype = self._dtype
    if may_overlap_itself(output) or (output is not self and shares_storage(output, self)):
        squashed = [1 if each == dim else count for each, count in enumerate(self._sizes)]
        for place in places_in_order(squashed, output._strides):
            total = _in_accumulated_type(np.asarray(start, as_array(self, dtype).dtype))
            for at in range(self._sizes[dim]):
                here = (*place[:dim], at, *place[dim + 1 :])
                value = _in_accumulated_type(as_array(element_at(self, here), dtype))
                total = _quietly(combine, total, value)
                _store_rounded(element_at(output, here), total, dtype)
        return
    values = _in_accumulated_type(as_array(self, dtype))
    values, first = np.moveaxis(values, dim, 0), np.asarray(start, values.dtype)
    rows = np.concatenate([np.broadcast_to(first, (1, *values.shape[1:])), values])
    scanned = _quietly(_accumulate, combine, rows)[1:]
    _store_rounded(output, np.moveaxis(scanned, 0, dim), dtype)


def _accumulate(combine: Any, rows: Array) -> Array:
    if isinstance(combine, np.ufunc):
        return np.asarray(combine.accumulate(rows, dtype=rows.dtype))
    found = [rows[0]]
    for row in rows[1:]:
        found.append(combine(found[-1], row))
    return np.stack(found)


def _quietly(function: Any, *arguments: Any) -> Array:
    return np.asarray(quietly(function, *arguments))


def _store_rounded(output: Tensor, values: Array, dtype: DType) -> None:
    narrowed = _quietly(values.astype, as_array(output, dtype).dtype)
    store(output, rounded(narrowed, dtype))


def _in_accumulated_type(values: Array) -> Array:
    """``at::acc_type`` on the CPU: floats are added up in double precision."""
    wider = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}.get(values.dtype.kind)
    return values if wider is None else values.astype(wider)


_scan("cumsum", np.add, 0)
_scan("cumprod", np.multiply, 1)


# --- logarithms of running sums -----------------------------------------------------------------


@kernel("aten::_logcumsumexp.out")
def _logcumsumexp_out(self: Tensor, dim: int, out: Tensor) -> Tensor:
    dim = wrap_dim(dim, len(self._sizes))
    dispatch("logcumsumexp_out_cpu", self._dtype)
    resize_output(out, self._sizes)
    if numel(self._sizes):
        if self._sizes:
            check_overlaps((out,), self)
            _write_scan(out, self, dim, -np.inf, _add_exp)
        else:
            store(out, as_array(self, self._dtype))
    return out


def _add_exp(total: Array, values: Array) -> Array:
    if values.dtype.kind == "f":
        return np.asarray(np.logaddexp(total, values))
    return add_complex_exp(values, total)


def add_complex_exp(x: Array, y: Array) -> Array:
    """``_log_add_exp_helper`` of complex numbers, which are ordered by their real parts."""
    is_less = x.real < y.real
    least, most = np.where(is_less, x, y), np.where(is_less, y, x)
    found = log1p(np.exp(least - most)) + most
    is_equal = ~np.isfinite(least.real) & (least.real == most.real)
    infinite = np.where(least.real < 0, least, np.log(np.exp(least) + np.exp(most)))
    found = np.where(is_equal, infinite, found)
    nothing = np.isnan(x) | np.isnan(y)
    return np.asarray(np.where(nothing, complex(np.nan, np.nan), found))


@kernel("aten::_logcumsumexp")
def _logcumsumexp(self: Tensor, dim: int) -> Tensor:
    return _logcumsumexp_out(self, dim, new_tensor(self._sizes, self._dtype, self._device))


@kernel("aten::logcumsumexp", key=_EXPLICIT)
def logcumsumexp(self: Tensor, dim: int) -> Any:
    return _LOGCUMSUMEXP(self, dim)


@kernel("aten::logcumsumexp.out", key=_EXPLICIT)
def logcumsumexp_out(self: Tensor, dim: int, out: Tensor) -> Any:
    check_like(out, self, self._dtype)
    return _LOGCUMSUMEXP_OUT(self, dim, out=out)


# --- running extremes -------------------------------------------------------------------------


def _running(name: str, beats: Any) -> None:
    """``cummax`` and ``cummin``, with the places: of equal elements the last counts."""
    helper, out_form = OperatorHandle(f"aten::_{name}_helper"), OperatorHandle(f"aten::{name}.out")

    def run_helper(self: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
        check_implemented(f"aten::{name}", self._dtype)
        check_pointers(self._dtype, values)
        check_pointers(int64, indices)
        if not numel(self._sizes):
            return
        dim = wrap_dim(dim, len(self._sizes))
        if not all(tuple(each._sizes) == tuple(self._sizes) for each in (values, indices)):
            raise RuntimeError(f"{name} writes as many elements as it reads")
        if any(
            shares_storage(each, self) or may_overlap_itself(each) for each in (values, indices)
        ):
            _run_one_by_one(self, (values, indices), dim, beats)
            return
        places = _running_places(np.moveaxis(as_array(self, self._dtype), dim, 0), beats)
        places = np.moveaxis(places, 0, dim)
        write_chosen((values, indices), self, dim, places)

    def run_out(self: Tensor, dim: int, values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
        check_like(values, self, self._dtype)
        check_like(indices, self, int64)
        if self._sizes and not HABITS["a running extreme takes any dimension of nothing"]:
            wrap_dim(dim, len(self._sizes))
        if not self._sizes and dim not in (0, -1) and not HABITS[_ANY_DIM]:
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        resize_output(values, self._sizes)
        resize_output(indices, self._sizes)
        if not self._sizes:
            store_bits(values, raw_array(self))
            store(indices, np.asarray(0))
        elif numel(self._sizes):
            helper(self, values, indices, wrap_dim(dim, len(self._sizes)))
        return values, indices

    def run(self: Tensor, dim: int) -> Any:
        values = new_tensor(self._sizes, self._dtype, self._device)
        indices = new_tensor(self._sizes, int64, self._device)
        return out_form(self, dim, values=values, indices=indices)

    kernel(f"aten::_{name}_helper")(run_helper)
    kernel(f"aten::{name}.out", key=_EXPLICIT)(run_out)
    kernel(f"aten::{name}", key=_EXPLICIT)(run)


def _running_places(rows: Array, beats: Any) -> Array:
    """Along the first dimension; a NaN stays until the next."""
    places = np.zeros(rows.shape, np.int64)
    best = rows[0].copy()
    for place in range(1, len(rows)):
        row = rows[place]
        chosen = _is_chosen(row, best, beats)
        best = np.where(chosen, row, best)
        places[place] = np.where(chosen, place, places[place - 1])
    return places


def _is_chosen(value: Array, best: Array, beats: Any) -> Array:
    return np.asarray((value != value) | ((best == best) & beats(value, best)))


def _run_one_by_one(self: Tensor, outputs: Sequence[Tensor], dim: int, beats: Any) -> None:
    """``tensor_dim_apply3``, for outputs that share memory with what is read: the first dimension
    is the innermost loop, and an element is read when those before it are written."""
    values, indices = outputs
    squashed = [1 if each == dim else count for each, count in enumerate(self._sizes)]
    for backwards in np.ndindex(*reversed(squashed)):
        place = backwards[::-1]
        best, bits, index = as_array(element_at(self, place), self._dtype).copy(), None, 0
        for at in range(self._sizes[dim]):
            here = (*place[:dim], at, *place[dim + 1 :])
            read = element_at(self, here)
            value = as_array(read, self._dtype)
            if bits is None or _is_chosen(value, best, beats):
                best, bits, index = value.copy(), raw_array(read).copy(), at
            store_bits(element_at(values, here), bits)
            store(element_at(indices, here), np.asarray(index))


_running("cummax", np.greater_equal)
_running("cummin", np.less_equal)
