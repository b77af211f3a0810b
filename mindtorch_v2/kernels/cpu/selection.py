"""Elements by their rank or their frequency: ``kthvalue`` and ``mode``.

Mirrors ``kthvalue_out_impl_cpu`` of ``aten/src/ATen/native/Sorting.cpp``, ``quick_select_template``
of ``SortingUtils.h``, ``mode_out`` of ``TensorCompare.cpp`` and its kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.along_dim import (
    Run,
    compare_base_kernel,
    drop_dim,
    keep_dim,
    unsqueeze,
    write_chosen,
)
from mindtorch_v2.kernels.cpu.extremes import check_not_empty
from mindtorch_v2.kernels.cpu.reductions import reduced_shape
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.libstdcxx import sort
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import raw_array, store, store_bits
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_KTHVALUE_OUT: Final = OperatorHandle("aten::kthvalue.values")
_MODE_OUT: Final = OperatorHandle("aten::mode.values")

Two = tuple[Tensor, Tensor]


def _choose(find: Callable[[Array], int]) -> Run:
    """Of each row the element at the place that ``find`` answers, and the place."""

    def run(outputs: Sequence[Tensor], self: Tensor, dim: int) -> None:
        places = np.apply_along_axis(find, dim, as_array(self, self._dtype))
        write_chosen(outputs, self, dim, np.expand_dims(places, dim))

    return run


# --- kthvalue ---------------------------------------------------------------------------------


@prologue("aten::kthvalue")
def _prepare_kthvalue(
    outputs: Sequence[Tensor], self: Tensor, k: int, dim: int, keepdim: bool
) -> None:
    dim = wrap_dim(dim, len(self._sizes))
    _allocate_kthvalue(outputs, self, k, dim, keepdim)
    drop_dim(outputs, dim, keepdim=keepdim)


def _allocate_kthvalue(
    outputs: Sequence[Tensor], self: Tensor, k: int, dim: int, keepdim: bool
) -> None:
    """Checks outputs and gives them the shape in which the dimension is kept."""
    rank = len(self._sizes)
    check_not_empty("kthvalue()", self, dim)
    if not 1 <= k <= (self._sizes[dim] if rank else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    values, indices = outputs
    assert_no_overlap(self, values)
    if (values._dtype, values._device) != (self._dtype, self._device):
        raise RuntimeError("output values must be of same type as input")
    kept = reduced_shape(self._sizes, (dim,) if rank else (), keepdim=True)
    _keep_dim(values, rank, dim, kept, keepdim=keepdim)
    if indices._dtype is not int64:
        raise RuntimeError("output indices must be of scalar type Long")
    if indices._device != self._device:
        raise RuntimeError("output indices must be on same device as input")
    _keep_dim(indices, rank, dim, kept, keepdim=keepdim)


def _keep_dim(output: Tensor, rank: int, dim: int, kept: Sequence[int], *, keepdim: bool) -> None:
    """``_reduction_with_indices_allocate_or_resize_output``."""
    if not keepdim and len(output._sizes) == rank - 1:
        unsqueeze(output, dim)
    resize_output(output, kept)


@kernel("aten::kthvalue.values")
def kthvalue_out(
    self: Tensor, k: int, dim: int, keepdim: bool, values: Tensor, indices: Tensor
) -> Two:
    outputs = (values, indices)
    dim = wrap_dim(dim, len(self._sizes))
    _allocate_kthvalue(outputs, self, k, dim, keepdim)
    if not self._sizes:
        store_bits(values, raw_array(self))
        store(indices, np.asarray(0))
        return outputs
    for output in outputs:
        assert_no_internal_overlap(output)
    dispatch("kthvalue_cpu", self._dtype)
    if numel(values._sizes):
        copy = new_tensor(self._sizes, self._dtype, self._device)
        store_bits(copy, raw_array(self))
        _choose(lambda row: _kth(row, k - 1))(outputs, copy, dim)
    drop_dim(outputs, dim, keepdim=keepdim)
    return outputs


@kernel("aten::kthvalue", key="CompositeExplicitAutograd")
def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> Any:
    return _KTHVALUE_OUT(self, k, dim, keepdim, **_made(self))


@kernel("aten::kthvalue", key="Meta")
def kthvalue_on_meta(self: Tensor, k: int, dim: int, keepdim: bool) -> Two:
    made = _made(self)
    outputs = (made["values"], made["indices"])
    _prepare_kthvalue(outputs, self, k, dim, keepdim)
    return outputs


def _made(self: Tensor) -> dict[str, Tensor]:
    """Outputs that are resized later."""
    return {
        "values": new_tensor((0,), self._dtype, self._device),
        "indices": new_tensor((0,), int64, self._device),
    }


def _kth(row: Array, k: int) -> int:
    """``quick_select_template``: which of equal elements it is, is the algorithm's affair."""
    values: list[Any] = row.tolist()
    places = list(range(len(values)))

    def greater(one: int, two: int) -> bool:
        x, y = values[places[one]], values[places[two]]
        return bool((x != x and y == y) or x > y)

    def swap(one: int, two: int) -> None:
        places[one], places[two] = places[two], places[one]

    left, right = 0, len(places) - 1
    while right > left + 1:
        swap(left + (right - left) // 2, left + 1)
        for one, two in ((left + 1, right), (left, right), (left + 1, left)):
            if greater(one, two):
                swap(one, two)
        low, high = left + 1, right
        while True:
            low += 1
            while greater(left, low):
                low += 1
            high -= 1
            while greater(high, left):
                high -= 1
            if high < low:
                break
            swap(low, high)
        swap(left, high)
        if high <= k:
            left = low
        if high >= k:
            right = high - 1
    if right == left + 1 and greater(left, right):
        swap(left, right)
    return places[k]


# --- mode -------------------------------------------------------------------------------------


@prologue("aten::mode")
def _prepare_mode(outputs: Sequence[Tensor], self: Tensor, dim: int, keepdim: bool) -> None:
    _check_mode(outputs, self)
    rank = len(self._sizes)
    dim = wrap_dim(dim, rank)
    if not rank:
        for output in outputs:
            set_sizes(output, ())
    elif numel(self._sizes):
        keep_dim(outputs, self, dim, keepdim=keepdim)
        drop_dim(outputs, dim, keepdim=keepdim)
    else:
        check_not_empty("mode()", self, dim)
        shape = reduced_shape(self._sizes, (dim,), keepdim=keepdim)
        for output in outputs:
            resize_output(output, shape)


def _check_mode(outputs: Sequence[Tensor], self: Tensor) -> None:
    for name, output in zip(("values", "indices"), outputs, strict=True):
        if output._device != self._device:
            raise RuntimeError(
                f"expected device '{self._device}' but got '{output._device}' for {name} output"
            )
    for name, output, dtype in zip(
        ("values", "indices"), outputs, (self._dtype, int64), strict=True
    ):
        if output._dtype is not dtype:
            raise RuntimeError(
                f"expected scalar type '{CPP_NAMES[dtype]}' but got '{CPP_NAMES[output._dtype]}' "
                f"for {name} output"
            )


@kernel("aten::mode.values", key="CompositeExplicitAutograd")
def mode_out(self: Tensor, dim: int, keepdim: bool, values: Tensor, indices: Tensor) -> Two:
    outputs = (values, indices)
    _check_mode(outputs, self)
    dim = wrap_dim(dim, len(self._sizes))
    if not self._sizes:
        for output in outputs:
            set_sizes(output, ())
        store_bits(values, raw_array(self))
        store(indices, np.asarray(0))
    elif numel(self._sizes):
        dispatch("mode_cpu", self._dtype)
        compare_base_kernel(_choose(_most_frequent), outputs, self, dim, keepdim=keepdim)
    else:
        _prepare_mode(outputs, self, dim, keepdim)
    return outputs


@kernel("aten::mode")
def mode(self: Tensor, dim: int, keepdim: bool) -> Two:
    return mode_out(self, dim, keepdim, **_made(self))


@kernel("aten::mode", key="Meta")
def mode_on_meta(self: Tensor, dim: int, keepdim: bool) -> Two:
    made = _made(self)
    outputs = (made["values"], made["indices"])
    _prepare_mode(outputs, self, dim, keepdim)
    return outputs


def _most_frequent(row: Array) -> int:
    """Of the least of the most frequent elements the place that sorting puts last."""
    values: list[Any] = row.tolist()
    places = list(range(len(values)))
    sort(places, len(places), lambda one, two: bool(values[one] < values[two]))
    found, most, count = places[0], 0, 0
    for rank, place in enumerate(places):
        count += 1
        is_last = rank == len(places) - 1 or values[place] != values[places[rank + 1]]
        if is_last:
            if count > most:
                found, most = place, count
            count = 0
    return found
