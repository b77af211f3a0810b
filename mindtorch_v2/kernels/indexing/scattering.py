"""Operators that put values at places: ``index_add``, ``put_``, ``masked_scatter`` and their like.

Mirrors ``aten/src/ATen/native/TensorAdvancedIndexing.cpp`` and the ``fill_diagonal_`` of
``Fill.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from mindtorch_v2.context import alert_not_deterministic
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.refused import refused
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, structured
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.messages import out_of_bounds
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn

_CLONE: Final = OperatorHandle("aten::clone")
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_EXPAND: Final = OperatorHandle("aten::expand")
_MASKED_SCATTER_: Final = OperatorHandle("aten::masked_scatter_")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_CAT: Final = OperatorHandle("aten::cat")
_FILL: Final = OperatorHandle("aten::fill_.Scalar")
_MASKED_SELECT: Final = OperatorHandle("aten::masked_select")
_SCATTER: Final = OperatorHandle("aten::scatter.src")
_SCATTER_: Final = OperatorHandle("aten::scatter_.src")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_NEW_ZEROS: Final = OperatorHandle("aten::new_zeros")
_PUT_: Final = OperatorHandle("aten::put_")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS: Final = OperatorHandle("aten::zeros")

_INDEX_DTYPES: Final = (int64, DTYPES["int32"])
_LOOPED: Final = Config(check_mem_overlap=False, check_all_same_dtype=False)


@structured("aten::index_add")
def index_add(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    check_rows("index_add", self, dim, index, source)
    given = outputs[0]
    output = set_output(
        given, self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    if output.is_meta:
        return (output,)
    if given is not None:
        assert_no_internal_overlap(output)
        assert_no_overlap(output, index)
        assert_no_overlap(output, source)
    if output is not self:
        copy_(output, self, False)
    is_flat = len(self._sizes) < 2
    if not is_flat and not (numel(self._sizes) and numel(index._sizes)):
        return (output,)
    is_scattered = _is_scattered(self, dim, index, alpha)
    places = value_array(index).reshape(-1)
    size = self._sizes[dim] if self._sizes else 1
    outside = np.flatnonzero((places < 0) | (places >= size))
    if is_flat or is_scattered or not (len(outside) and outside[0] == 0):
        _check_added_dtype(self, is_scattered)
    inside = places[: outside[0]] if len(outside) else places
    with np.errstate(all="ignore"):
        found = np.array(as_array(output, self._dtype), ndmin=1)
        added = np.array(as_array(source, self._dtype), ndmin=1)
        if is_flat or alpha != 1:
            added = rounded(added * element(alpha, self._dtype), self._dtype)
        rows, changes = np.moveaxis(found, dim, 0), np.moveaxis(added, dim, 0)[: len(inside)]
        if len(outside) and is_scattered and dim:  # the first row is as far as it gets
            first: tuple[Any, ...] = (slice(None), *(0,) * (rows.ndim - 1))
            rows, changes = rows[first], changes[first]
        if is_scattered:  # into a buffer that is rounded at the end
            np.add.at(rows, inside, changes)
        else:
            add_in_turn(rows, inside, changes, self._dtype)
        store(output, rounded(found.reshape(tuple(output._sizes)), self._dtype))
    if len(outside):
        error: Exception = IndexError("index out of range in self")
        if is_scattered:
            error = RuntimeError(out_of_bounds(places[outside[0]], dim, size))
        raise refused(error, output)
    return (output,)


def _check_added_dtype(self: Tensor, is_scattered: bool) -> None:
    """What the kernel says that does the work: a loop, that of ``scatter_add`` or of ``add``."""
    if len(self._sizes) < 2:
        dispatch("index_add_", self._dtype)
    elif is_scattered and not self._dtype.is_complex:
        dispatch("scatter_gather_tensor_cpu", self._dtype)
    elif not is_scattered:
        check_implemented("aten::add.Tensor", self._dtype)


def _is_scattered(self: Tensor, dim: int, index: Tensor, alpha: Number) -> bool:
    """Whether rows are added by ``scatter_add``, which works on several of them at once."""
    is_outermost = len(self._sizes) > 1 and dim in (0, len(self._sizes) - 1)
    is_plain = not isinstance(alpha, bool) and alpha == 1 and index._dtype is int64
    return is_outermost and is_plain and self._dtype is not DTYPES["complex32"]


def check_rows(name: str, self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """``index_func_meta_impl``."""
    if len(index._sizes) > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: "
            f"{len(index._sizes)} with type: {CPP_NAMES[index._dtype]} and size: "
            f"{list(index._sizes)}"
        )
    if index._dtype not in _INDEX_DTYPES:
        raise RuntimeError(
            f"{name}_(): Expected dtype int32/int64 for index but got: {CPP_NAMES[index._dtype]}"
        )
    if self._dtype is not source._dtype:
        raise RuntimeError(
            f"{name}_(): self ({CPP_NAMES[self._dtype]}) and source "
            f"({CPP_NAMES[source._dtype]}) must have the same scalar type"
        )
    if not HABITS["index_add takes an index from elsewhere"] and not (
        self._device == index._device == source._device
    ):
        raise RuntimeError(
            f"{name}(): self, index and source expected to be in the same device, but got "
            f"(self) {self._device}, (index) {index._device}, and (source) {source._device}"
        )
    rank = len(source._sizes)
    if dim and dim >= rank:
        raise RuntimeError(
            f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {rank}"
        )
    size = source._sizes[dim] if rank else 1
    if numel(index._sizes) != size:
        if not rank:  # whose size the message asks for
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(
            f"{name}_(): Number of indices ({numel(index._sizes)}) should be equal to "
            f"source.size(dim): ({size}), for dim: {dim}"
        )
    sizes = [list(each._sizes) for each in (self, source)]
    if all(sizes):
        sizes = [each[:dim] + each[dim + 1 :] for each in sizes]
    if sizes[0] != sizes[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {list(self._sizes)} source.shape = "
            f"{list(source._sizes)}"
        )


@kernel("aten::put_", keys=("CPU", "Meta"))
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    if not accumulate:  # of values for one place, any may be the last
        alert_not_deterministic("put_")
    if index._dtype is not int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {CPP_NAMES[index._dtype]}"
        )
    if self._dtype is not source._dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{CPP_NAMES[self._dtype]} and source.dtype = {CPP_NAMES[source._dtype]}"
        )
    given, wanted = numel(source._sizes), numel(index._sizes)
    if given != wanted:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {given}, index.numel() = {wanted}"
        )
    count = numel(self._sizes)
    if not count and wanted:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    if self.is_meta:
        return self
    assert_no_internal_overlap(self)
    assert_no_overlap(self, index)
    assert_no_overlap(self, source)
    if wanted:
        dispatch("take_put_cpu", self._dtype)
        is_shaped = tuple(index._sizes) == tuple(source._sizes)
        _put(self, index if is_shaped else _RESHAPE(index, source._sizes), source, accumulate)
    return self


def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> None:
    """One element after the other, in the order of the loops; IndexError for the first place that
    there is not, once those before it are written."""
    places, values = value_array(index), as_array(source, self._dtype)
    if places.ndim > 1:
        loops = TensorIterator(_LOOPED, (), (source, index)).loops
        places, values = places.transpose(loops), values.transpose(loops)
    places, values = places.reshape(-1), values.reshape(-1)
    count = numel(self._sizes)
    outside = np.flatnonzero((places < -count) | (places >= count))
    inside = places[: outside[0]] if len(outside) else places
    found = np.array(as_array(self, self._dtype)).reshape(-1)
    if accumulate:
        add_in_turn(found, inside, values[: len(inside)], self._dtype)
    else:
        found[inside] = values[: len(inside)]
    store(self, rounded(found.reshape(tuple(self._sizes)), self._dtype))
    if len(outside):
        error = IndexError(
            f"out of range: tried to access index {places[outside[0]]} on a tensor of {count} "
            "elements."
        )
        raise refused(error, self)


@kernel("aten::put", key="CompositeExplicitAutograd")
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Any:
    copy: Tensor = _CLONE(self, memory_format=None)
    return _PUT_(copy, index, source, accumulate)


@kernel("aten::masked_scatter_", keys=("CPU", "Meta"))
def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    if not self.is_meta:
        assert_no_internal_overlap(self)
    if self._dtype is not source._dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{CPP_NAMES[self._dtype]} and {CPP_NAMES[source._dtype]}"
        )
    if not self.is_meta:  # where a mask is looked at first
        mask = _EXPAND(mask, list(self._sizes))
    if mask._dtype is DTYPES["uint8"] and not mask.is_meta:
        warn(
            "masked_scatter_",
            "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now "
            "deprecated,please use a mask with dtype torch.bool instead.",
        )
    if mask._dtype is not DTYPES["bool"]:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{CPP_NAMES[mask._dtype]}"
        )
    if self.is_meta:
        _EXPAND(mask, list(self._sizes))
        return self
    if numel(self._sizes):
        dispatch("masked_scatter", self._dtype)
    found = np.array(value_array(self), order="C")
    chosen = np.broadcast_to(value_array(mask), found.shape)
    values = value_array(source).reshape(-1)
    places = np.nonzero(chosen.reshape(-1))[0]
    reached = places[: values.size]
    if _is_read_from(self, source):
        values = _read_as_written(self, source, values, reached)
    found.reshape(-1)[reached] = values[: len(reached)]
    store(self, found)
    if len(places) > len(reached):
        raise refused(RuntimeError("Number of elements of source < number of ones in mask"), self)
    return self


def _is_read_from(self: Tensor, source: Tensor) -> bool:
    """Whether no copy is made of what is read."""
    return self._storage is source._storage and is_contiguous(source._sizes, source._strides)


def _read_as_written(self: Tensor, source: Tensor, values: Array, places: Array) -> Array:
    """The elements of the source as they are when their turn comes, one place after the other."""
    pairs = zip(self._sizes, self._strides, strict=True)
    steps = [np.arange(size) * stride for size, stride in pairs]
    add: Any = np.add.outer
    offsets = np.asarray(reduce(add, steps, self._storage_offset)).reshape(-1)
    written = {int(offset): at for at, offset in enumerate(offsets[places])}
    values = values.copy()
    for at in range(len(places)):
        earlier = written.get(source._storage_offset + at, at)
        if earlier < at:
            values[at] = values[earlier]
    return values


@kernel("aten::masked_scatter", keys=("CPU", "Meta", "CompositeExplicitAutograd"))
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Any:
    """In a contiguous copy of the shape to which tensor and mask broadcast."""
    sizes = list(infer_size(tuple(mask._sizes), tuple(self._sizes)))
    copy = _CLONE(_EXPAND(self, sizes), memory_format=_CONTIGUOUS)
    return _MASKED_SCATTER_(copy, _EXPAND(mask, sizes), source)


@kernel("aten::masked_scatter_backward", key="CompositeExplicitAutograd")
def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Any:
    """Of elements of the source that were not needed, zeros."""
    selected = _MASKED_SELECT(grad_output, mask)
    missing = numel(sizes) - numel(selected._sizes)
    if missing > 0:
        options = {"dtype": grad_output._dtype, "device": grad_output._device}
        selected = _CAT([selected, _ZEROS([missing], **options, layout=grad_output._layout)], 0)
    return _VIEW(selected, list(sizes))


@kernel("aten::value_selecting_reduction_backward", key="CompositeImplicitAutograd")
def value_selecting_reduction_backward(
    grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool
) -> Any:
    if not keepdim and sizes:
        grad, indices = _UNSQUEEZE(grad, dim), _UNSQUEEZE(indices, dim)
    is_like = is_tensor_subclass_like(grad) or is_tensor_subclass_like(indices)
    if is_like and NEURAL_HABITS["a subclass selects an element's gradient among new zeros"]:
        return _SCATTER(_NEW_ZEROS(grad, list(sizes)), dim, indices, grad)
    options = {"dtype": grad._dtype, "layout": grad._layout, "device": grad._device}
    scatter = _SCATTER if is_like else _SCATTER_
    return scatter(_ZEROS(list(sizes), **options), dim, indices, grad)


@kernel("aten::fill_diagonal_", key="CompositeImplicitAutograd")
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool) -> Tensor:
    sizes = self._sizes
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    height, width = sizes[:2]
    size, stride = min(height, width), sum(self._strides)
    offset = self._storage_offset
    if self._functional is not None and HABITS["fill_diagonal_ asks no value for its offset"]:
        offset = self._functional.storage_offset
    _FILL(_AS_STRIDED(self, [size], [stride], offset), fill_value)
    if wrap and len(sizes) == 2 and height > width + 1:
        step = width + 1
        rest = (numel(sizes) + step - 1) // step - size
        _FILL(_AS_STRIDED(self, [rest], [stride], offset + self._strides[0] * step), fill_value)
    return self
