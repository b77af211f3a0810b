"""Medians: of an even number of elements the lower one.

Mirrors ``median_impl`` and ``median_with_indices_impl`` of ``aten/src/ATen/native/Sorting.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.along_dim import check_overlaps, for_each_row, unsqueeze, write_chosen
from mindtorch_v2.kernels.cpu.extremes import check_not_empty
from mindtorch_v2.kernels.cpu.reductions import reduced_shape
from mindtorch_v2.kernels.dtypes import check_implemented, check_supported
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.libstdcxx import Before, nth_element
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.tensor.copying import raw_array, store, store_bits
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.experimental import raise_warning_for_complex_half
from mindtorch_v2.tensor.geometry import numel, strides_in_order, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string

_WHERE: Final = "(while checking arguments for median)"


def _middle(row: Array, *, ignore_nan: bool, by_place: bool) -> int:
    """The place of the median; ``by_place``: of equal elements the first comes first."""
    values: list[Any] = row.tolist()
    missing = [place for place, value in enumerate(values) if value != value]
    if missing and not ignore_nan:
        return missing[0]
    places = list(range(len(values)))
    middle = int((len(values) - len(missing) - 1) / 2)  # rounded to zero, as in C++
    nth_element(places, middle, _before(values, by_place=by_place))
    return places[middle]


def _before(values: list[Any], *, by_place: bool) -> Before:
    def before(one: int, two: int) -> bool:
        x, y = values[one], values[two]
        tie = by_place and x == y and one < two
        return bool(x < y) or tie or (y != y and x == x)

    return before


def _register(name: str, *, ignore_nan: bool) -> None:
    out_form = OperatorHandle(f"aten::{name}.dim_values")

    def over_all(self: Tensor) -> Tensor:
        result = new_tensor((), self._dtype, self._device)
        if not numel(self._sizes):
            store(result, np.asarray(np.nan))
            return result
        raise_warning_for_complex_half(self._dtype)  # of the copy that is put in order
        _check_dtype("aten::median", self)
        row = as_array(self, self._dtype).reshape(-1)
        place = _middle(row, ignore_nan=ignore_nan, by_place=False)
        store_bits(result, raw_array(self).reshape(-1)[place])
        return result

    def over_dim_out(
        self: Tensor, dim: int, keepdim: bool, values: Tensor, indices: Tensor
    ) -> tuple[Tensor, Tensor]:
        dim = wrap_dim(dim, len(self._sizes))
        size = self._sizes[dim] if self._sizes else 1
        _prepare_outputs((values, indices), self, dim, keepdim)
        outputs = [_with_dim(each, self, dim, keepdim=keepdim) for each in (values, indices)]
        rows = _contiguous_along(self, dim)
        check_overlaps(outputs, rows)
        _check_dtype("aten::median.dim", self)
        if numel(values._sizes):
            for_each_row(choose, outputs, rows, dim, (size, 1))
        return values, indices

    def choose(outputs: Sequence[Tensor], self: Tensor, dim: int) -> None:
        found = np.apply_along_axis(
            lambda row: _middle(row, ignore_nan=ignore_nan, by_place=True),
            dim,
            as_array(self, self._dtype),
        )
        write_chosen(outputs, self, dim, np.expand_dims(found, dim))

    def over_dim(self: Tensor, dim: int, keepdim: bool) -> Any:
        values = new_tensor((0,), self._dtype, self._device)
        indices = new_tensor((0,), int64, self._device)
        return out_form(self, dim, keepdim, values=values, indices=indices)

    prologue(f"aten::{name}.dim")(_prepare_outputs)
    kernel(f"aten::{name}")(over_all)
    kernel(f"aten::{name}.dim_values")(over_dim_out)
    kernel(f"aten::{name}.dim", key="CompositeExplicitAutograd")(over_dim)


def _with_dim(output: Tensor, self: Tensor, dim: int, *, keepdim: bool) -> Tensor:
    """A view of an output in which the dimension is kept."""
    if keepdim and self._sizes:
        return output
    view = output._as_view(output._sizes, output._strides, output._storage_offset)
    unsqueeze(view, dim)
    return view


def _contiguous_along(self: Tensor, dim: int) -> Tensor:
    """``self`` if its rows are contiguous, else a copy."""
    if not self._sizes:
        return self._as_view((1,), (1,), self._storage_offset)
    if self._strides[wrap_dim(dim, len(self._sizes))] <= 1:
        return self
    order = sorted(range(len(self._sizes)), key=lambda each: (each != dim, -each))
    strides = strides_in_order(self._sizes, order)
    copy = new_tensor(self._sizes, self._dtype, self._device, strides)
    store_bits(copy, raw_array(self))
    return copy


def _check_dtype(facts: str, self: Tensor) -> None:
    check_supported(facts, self._dtype)
    check_implemented(facts, self._dtype)


def _prepare_outputs(outputs: Sequence[Tensor], self: Tensor, dim: int, keepdim: bool) -> None:
    rank = len(self._sizes)
    dim = wrap_dim(dim, rank)
    check_not_empty("median()", self, dim)
    _check_outputs(self, *outputs)
    shape = reduced_shape(self._sizes, (dim,) if rank else (), keepdim=keepdim)
    for output in outputs:
        resize_output(output, shape)


def _check_outputs(self: Tensor, values: Tensor, indices: Tensor) -> None:
    """``checkScalarType`` and ``checkSameType``."""
    if indices._dtype is not int64:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"{type_string(indices)} instead {_WHERE}"
        )
    one, two = type_string(values), type_string(self)
    if one != two:
        raise RuntimeError(
            "Expected tensor for 'values' to have the same type as tensor for "
            f"argument #2 'self'; but type {one} does not equal {two} {_WHERE}"
        )


_register("median", ignore_nan=False)
_register("nanmedian", ignore_nan=True)
