"""The different elements of a tensor, or the different slices along a dimension.

Mirrors ``aten/src/ATen/native/Unique.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

import numpy as np

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

Found = tuple[Tensor, Tensor, Tensor]
"""What is different, which of these each element is, and how often each comes."""


@kernel("aten::_unique2", key="CPU")
def unique2(self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool) -> Found:
    """Sorted whether or not that is asked for; a NaN is no other's equal."""
    dispatch("unique", self._dtype)
    values = value_array(self).reshape(-1)
    order = np.argsort(values, kind="stable")
    return _of_all(self, order, return_inverse=return_inverse, return_counts=return_counts)


@kernel("aten::unique_consecutive", key="CPU")
def unique_consecutive(
    self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None
) -> Found:
    if dim is None or (dim == 0 and len(self._sizes) == 1):
        dispatch("unique", self._dtype)
        size = value_array(self).size
        output, inverse, counts = _of_all(
            self, np.arange(size), return_inverse=return_inverse, return_counts=return_counts
        )
        counts = _in_room_for(size, counts) if return_counts else counts
        return _in_room_for(size, output), inverse, counts
    dispatch("unique_dim", self._dtype)
    return _of_slices(self, dim, is_sorted=False)


@kernel("aten::unique_dim", key="CPU")
def unique_dim(
    self: Tensor, dim: int, sorted: bool, return_inverse: bool, return_counts: bool
) -> Found:
    dispatch("unique_dim", self._dtype)
    return _of_slices(self, dim, is_sorted=True)


@kernel("aten::unique_dim_consecutive", key="CPU")
def unique_dim_consecutive(
    self: Tensor, dim: int, return_inverse: bool, return_counts: bool
) -> Found:
    dispatch("unique_dim", self._dtype)
    return _of_slices(self, dim, is_sorted=False)


def _of_all(self: Tensor, order: Array, *, return_inverse: bool, return_counts: bool) -> Found:
    """Of elements in an order in which equal ones are neighbours."""
    values = value_array(self).reshape(-1)[order]
    first = np.append(True, values[1:] != values[:-1])[: values.size]
    starts = np.flatnonzero(first)
    output = new_tensor((len(starts),), self._dtype, self._device)
    store_bits(output, raw_array(self).reshape(-1)[order][starts])
    inverse, counts = _numbers(self, 0), _numbers(self, 0)
    if return_inverse:
        inverse = _numbers(self, *self._sizes)
        places = np.empty(values.size, np.int64)
        places[order] = np.cumsum(first) - 1
        store(inverse, places.reshape(tuple(self._sizes)))
    if return_counts:
        counts = _numbers(self, len(starts))
        store(counts, np.diff(np.append(starts, values.size)))
    return output, inverse, counts


def _of_slices(self: Tensor, dim: int, *, is_sorted: bool) -> Found:
    """Counts and places are there whether or not they are asked for."""
    size = size_at(self, dim)
    dim = wrap_dim(dim, len(self._sizes))
    empty = list(self._sizes).count(0)
    if not size:
        if empty != 1:
            raise RuntimeError(
                "Number of zero sized dimensions is more than one, so unique cannot be applied "
            )
        output = new_tensor(self._sizes, self._dtype, self._device)
        return output, _numbers(self, 0), _numbers(self, 0)
    if empty:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    bits = np.moveaxis(raw_array(self), dim, 0) if self._sizes else raw_array(self).reshape(1)
    rows = value_array(self)
    rows = np.moveaxis(rows, dim, 0).reshape(size, -1) if self._sizes else rows.reshape(1, 1)

    def compared(one: int, two: int) -> int:
        return _compared(rows[one], rows[two])

    order = list(range(size))
    if is_sorted:
        order.sort(key=cmp_to_key(compared))
    starts = [0]
    inverse = np.zeros(size, np.int64)
    for place in range(1, size):
        if not np.array_equal(rows[order[place]], rows[order[starts[-1]]]):
            starts.append(place)
        inverse[order[place]] = len(starts) - 1
    chosen = bits[[order[place] for place in starts]]
    counts = _in_room_for(size, _stored(_numbers(self, len(starts)), np.diff([*starts, size])))
    return _moved(self, chosen, dim), _stored(_numbers(self, size), inverse), counts


def _compared(one: Array, two: Array) -> int:
    """By the first elements of which one is less than the other."""
    less, more = one < two, one > two
    places = np.flatnonzero(less | more)
    if not len(places):
        return 0
    return -1 if less[places[0]] else 1


def _moved(self: Tensor, rows: Array, dim: int) -> Tensor:
    """Slices that lie one after the other, as a tensor with their dimension where it was."""
    if not self._sizes:
        output = new_tensor((), self._dtype, self._device)
        store_bits(output, rows.reshape(()))
        return output
    strides = list(contiguous_strides(rows.shape))
    strides.insert(dim, strides.pop(0))
    sizes = list(rows.shape)
    sizes.insert(dim, sizes.pop(0))
    output = new_tensor(sizes, self._dtype, self._device, tuple(strides))
    store_bits(output, np.moveaxis(rows, 0, dim))
    return output


def _numbers(self: Tensor, *sizes: int) -> Tensor:
    return new_tensor(sizes, int64, self._device)


def _in_room_for(size: int, found: Tensor) -> Tensor:
    """The same in memory for as many elements as there might have been."""
    room = new_tensor((size,), found._dtype, found._device)
    store_bits(room, np.zeros_like(raw_array(room)))
    part = room._as_view(tuple(found._sizes), (1,), 0)
    store_bits(part, raw_array(found))
    return part


def _stored(output: Tensor, values: Array | Sequence[int]) -> Tensor:
    store(output, np.asarray(values))
    return output
