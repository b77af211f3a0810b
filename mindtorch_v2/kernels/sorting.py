"""Elements in order: ``sort``, ``msort``, ``argsort``, ``topk``, ``_unique``.

Mirrors ``aten/src/ATen/native/Sorting.cpp``, ``TopKImpl.h`` and ``Unique.cpp``.  NaN counts as the
largest.  Ties stand as they stood if the sort is stable, and else as C++'s algorithms leave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.along_dim import check_overlaps, for_each_row, write_chosen
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.libstdcxx import Before, nth_element, partial_sort, sort
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, prologue, structured
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import dense_strides_like, numel, wrap_dim
from mindtorch_v2.tensor.support import check_dtype, check_words
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_SORT: Final = OperatorHandle("aten::sort")
_SORT_STABLE: Final = OperatorHandle("aten::sort.stable")
_SORT_VALUES: Final = OperatorHandle("aten::sort.values")
_SORT_VALUES_STABLE: Final = OperatorHandle("aten::sort.values_stable")


@structured("aten::sort.stable", outputs=2)
def sort_stable(
    outputs: Outputs, self: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[Tensor, ...]:
    values, indices = prepare_sort(outputs, self, stable, dim, descending)
    if values.is_meta:
        return values, indices
    dim = wrap_dim(dim, len(self._sizes))
    copy_(values, self, False)
    assert_no_internal_overlap(indices)
    store(indices, _places(self._sizes, dim))
    if self._sizes:
        check_dtype("sort", self._dtype)  # what it refuses, it has copied
    if self._sizes and numel(self._sizes):
        order = _order(value_array(values), dim, descending, stable=bool(stable))
        write_chosen((values, indices), values, dim, order)
    return values, indices


@prologue("aten::sort.stable")
def prepare_sort(
    outputs: Outputs, self: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[Tensor, Tensor]:
    """Where values and indices go."""
    wrap_dim(dim, len(self._sizes))
    has_values = not self.is_meta or is_standing_for_cpu()
    if has_values and HABITS["sort refuses before it resizes"]:
        check_words("sort", self._dtype)
    strides = dense_strides_like(self._sizes, self._strides)
    values = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    return values, set_output(outputs[1], self._sizes, int64, self._device, strides)


def _places(sizes: Sequence[int], dim: int) -> Array:
    """Of each element, its place along a dimension."""
    return np.indices(sizes, np.int64)[dim] if sizes else np.zeros((), np.int64)


def _order(values: Array, dim: int, descending: bool, *, stable: bool) -> Array:
    """The indices of the elements along a dimension, in order."""
    if not stable:
        return np.apply_along_axis(_sorted, dim, values, descending)
    if not descending:
        return np.argsort(values, axis=dim, kind="stable")
    backwards = np.flip(values, dim)
    order = values.shape[dim] - 1 - np.argsort(backwards, axis=dim, kind="stable")
    return np.flip(order, dim)


def _sorted(row: Array, descending: bool) -> Array:
    places = list(range(len(row)))
    sort(places, len(places), _comparison(row, largest=descending))
    return np.array(places, np.int64)


def _comparison(row: Array, *, largest: bool) -> Before:
    """Whether a place of a row comes before another; NaN counts as the largest."""
    values: list[Any] = row.tolist()

    def before(one: int, two: int) -> bool:
        x, y = values[one], values[two]
        x_is_nan, y_is_nan = x != x, y != y
        if largest:
            return (x_is_nan and not y_is_nan) or bool(x > y)
        return (y_is_nan and not x_is_nan) or bool(x < y)

    return before


@kernel("aten::sort", keys=("Meta", "CompositeExplicitAutograd"))
def sort_unstable(self: Tensor, dim: int, descending: bool) -> Any:
    return _SORT_STABLE(self, stable=False, dim=dim, descending=descending)


@kernel("aten::sort.values", keys=("Meta", "CompositeExplicitAutograd"))
def sort_unstable_out(
    self: Tensor, dim: int, descending: bool, values: Tensor, indices: Tensor
) -> Any:
    return _SORT_VALUES_STABLE(
        self, stable=False, dim=dim, descending=descending, values=values, indices=indices
    )


@kernel("aten::msort", key=_IMPLICIT)
def msort(self: Tensor) -> Any:
    return _SORT(self, 0, False)[0]


@kernel("aten::msort.out", key=_IMPLICIT)
def msort_out(self: Tensor, out: Tensor) -> Any:
    options = {"dtype": int64, "layout": self._layout, "device": self._device}
    return _SORT_VALUES(self, 0, False, values=out, indices=_EMPTY([0], **options))[0]


@kernel("aten::argsort", key=_IMPLICIT)
def argsort(self: Tensor, dim: int, descending: bool) -> Any:
    return _SORT(self, dim, descending)[1]


@kernel("aten::argsort.stable", keys=(_IMPLICIT, "CPU", "Meta"))
def argsort_stable(self: Tensor, stable: bool, dim: int, descending: bool) -> Any:
    return _SORT_STABLE(self, stable=stable, dim=dim, descending=descending)[1]


@kernel("aten::argsort.stable_out", key=_IMPLICIT)
def argsort_stable_out(
    self: Tensor, stable: bool, dim: int, descending: bool, out: Tensor
) -> Tensor:
    values = _EMPTY([0], dtype=self._dtype, layout=self._layout, device=self._device)
    order = {"stable": stable, "dim": dim, "descending": descending}
    _SORT_VALUES_STABLE(self, **order, values=values, indices=out)
    return out


@structured("aten::topk", outputs=2)
def topk(
    outputs: Outputs, self: Tensor, k: int, dim: int, largest: bool, sorted: bool
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    _check_k(k, self, dim)
    sizes = list(self._sizes)
    if sizes:
        sizes[dim] = k
    is_python = self.is_meta and outputs[0] is None
    if not is_python and HABITS["topk refuses before it resizes"]:
        check_words("topk", self._dtype)
    values = set_output(outputs[0], sizes, self._dtype, self._device)
    indices = set_output(outputs[1], sizes, int64, self._device)
    if values.is_meta:
        return values, indices
    if values is self or indices is self:  # of another geometry now
        dim = wrap_dim(dim, len(self._sizes))
        _check_k(k, self, dim)
    if not self._sizes:
        store_bits(values, raw_array(self))
        store(indices, np.zeros((), np.int64))
        return values, indices

    def choose(outputs: Sequence[Tensor], self: Tensor, dim: int) -> None:
        if numel(outputs[0]._sizes):
            found = np.apply_along_axis(_top, dim, value_array(self), k, largest, sorted)
            write_chosen(outputs, self, dim, found)

    check_overlaps((values, indices), self)
    check_dtype("topk", self._dtype)
    for_each_row(choose, (values, indices), self, dim)
    return values, indices


def _check_k(k: int, self: Tensor, dim: int) -> None:
    if not 0 <= k <= (self._sizes[dim] if self._sizes else 1):
        raise RuntimeError("selected index k out of range")


def _top(row: Array, k: int, largest: bool, in_order: bool) -> Array:
    """The places of the ``k`` largest (or least) of a row, ties as C++'s algorithms leave them."""
    before = _comparison(row, largest=largest)
    places = list(range(len(row)))
    if k * 64 <= len(row):
        partial_sort(places, k, before)
    else:
        nth_element(places, k - 1, before)
        if in_order:
            sort(places, k - 1, before)
    return np.array(places[:k], np.int64)


@kernel("aten::_unique")
def unique(self: Tensor, sorted: bool, return_inverse: bool) -> tuple[Tensor, Tensor]:
    """Every value once, in order either way; and for each element the place of its value."""
    values, inverse = np.unique(value_array(self).reshape(-1), return_inverse=True)
    found = new_tensor(values.shape, self._dtype, self._device)
    store(found, values)
    places = new_tensor(self._sizes if return_inverse else (0,), int64, self._device)
    if return_inverse:
        store(places, inverse.reshape(tuple(self._sizes)))
    return found, places
