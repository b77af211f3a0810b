"""Indexing with tensors: ``index`` and ``index_put_``.

Mirrors ``aten/src/ATen/native/TensorAdvancedIndexing.cpp`` and ``IndexingUtils.h``.  Masks become
indices of their nonzero elements, indices broadcast together, and the result has their shape where
they stand, or in front if they do not stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.indexing.plain import picked_from_plain
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import (
    assert_no_internal_overlap,
    assert_no_overlap,
    has_internal_overlap,
)
from mindtorch_v2.kernels.refused import refused
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.kernels.views.strided import expand, permute
from mindtorch_v2.messages import internal_assert, out_of_bounds
from mindtorch_v2.tensor import conversions
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.masks import check_mask
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import view_strides
from mindtorch_v2.warn import warn

Indices: TypeAlias = Sequence[Tensor | None]
Places: TypeAlias = tuple[Array, ...]

_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_CLONE: Final = OperatorHandle("aten::clone")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_INDEX_PUT: Final = OperatorHandle("aten::index_put")
_INDEX_PUT_: Final = OperatorHandle("aten::index_put_")
_INDEX_PUT_IMPL_: Final = OperatorHandle("aten::_index_put_impl_")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_NONZERO: Final = OperatorHandle("aten::nonzero")
_SELECT: Final = OperatorHandle("aten::select.int")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")

_LONG, _INT, _BYTE, _BOOL = (DTYPES[name] for name in ("int64", "int32", "uint8", "bool"))
_ITERATED: Final = Config(
    check_mem_overlap=False, check_all_same_dtype=False, check_all_same_device=False
)
"""Indices on the CPU go to wherever the tensor is."""
_WRITTEN: Final = _ITERATED._replace(resize_outputs=False)


@dataclass(frozen=True)
class AdvancedIndex:
    """A tensor and indices of its dimensions, those that are indexed standing together.

    ``shape`` is that of the result; ``restrided`` is the tensor as if it had that shape, with a
    stride of 0 where it is indexed.
    """

    source: Tensor
    indices: tuple[Tensor | None, ...]
    restrided: Tensor
    reshaped: tuple[Tensor, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.restrided._sizes)

    @property
    def first(self) -> int:
        """The first dimension that is indexed."""
        return next(place for place, index in enumerate(self.indices) if index is not None)

    @property
    def count(self) -> int:
        """How many dimensions are indexed."""
        return len(self.reshaped)

    @property
    def rank(self) -> int:
        """How many dimensions of the result stand for those that are indexed."""
        return next(len(index._sizes) for index in self.indices if index is not None)

    def grid(self) -> list[Array]:
        """Of each dimension where the elements are, as arrays to be broadcast to ``shape``."""
        found = []
        for dim, index in enumerate(self.indices):
            if index is not None:
                after = len(self.indices) - self.first - self.count
                found.append(value_array(index).reshape((*index._sizes, *(1,) * after)))
                continue
            place = dim if dim < self.first else dim - self.count + self.rank
            after = len(self.shape) - 1 - place
            found.append(np.arange(self.source._sizes[dim]).reshape((-1, *(1,) * after)))
        return found

    def places(self) -> tuple[Any, ...]:
        """NumPy's index for the elements."""
        return tuple(slice(None) if each is None else value_array(each) for each in self.indices)

    def is_inside(self) -> bool:
        """Whether there are all elements."""
        return not any(_outside(index, size).any() for index, size in self._indexed())

    def _indexed(self) -> list[tuple[Array, int]]:
        """Indices, with the sizes of what they index."""
        pairs = zip(self.indices, self.source._sizes, strict=True)
        return [(value_array(each), size) for each, size in pairs if each is not None]

    def reached(self, loops: Sequence[int]) -> tuple[Places, Places, IndexError]:
        """Of the elements before the first that there is not, in the order of the loops: where they
        are, and where in the result; and what is raised then."""

        def in_loops(each: Array) -> Array:
            turned: Array = np.broadcast_to(each, self.shape).transpose(loops)
            return turned.reshape(-1)

        grid = [in_loops(each) for each in self.grid()]
        wrong = [_outside(*each) for each in zip(grid, self.source._sizes, strict=True)]
        count = int(np.argmax(np.logical_or.reduce(wrong)))
        dim = next(dim for dim, each in enumerate(wrong) if each[count])
        number = sum(each is not None for each in self.indices[:dim])
        results = map(in_loops, np.indices(self.shape, sparse=True))
        return (
            tuple(each[:count] for each in grid),
            tuple(each[:count] for each in results),
            IndexError(out_of_bounds(grid[dim][count], number, self.source._sizes[dim])),
        )


def _outside(index: Array, size: int) -> Array:
    outside: Array = (index < -size) | (index >= size)
    return outside


def make_info(self: Tensor, given: Indices) -> AdvancedIndex:
    """``make_info``; IndexError for indices that do not suit."""
    self, indices, shape = _arranged(self, given)
    indices = [
        _TO(index, _LONG) if index is not None and index._dtype is _INT else index
        for index in indices
    ]
    return _restrided(self, indices, shape)


def _arranged(self: Tensor, given: Indices) -> tuple[Tensor, list[Tensor | None], tuple[int, ...]]:
    """What is indexed, one index for each of its dimensions, and the shape that these share."""
    for index in given:
        if index is not None and index._dtype not in (_LONG, _INT, _BYTE, _BOOL):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    indices = _expanded(self, given)
    shape = _common_shape(indices)
    indices = [None if index is None else expand(index, shape, False) for index in indices]
    indices += [None] * (len(self._sizes) - len(indices))
    if not stand_together(indices):
        self, indices = _transposed_to_front(self, indices)
    return self, indices, shape


def _expanded(self: Tensor, given: Indices) -> list[Tensor | None]:
    """Masks as the indices of their nonzero elements (``expandTensors``)."""
    found: list[Tensor | None] = []
    for index in given:
        if index is None or index._dtype not in (_BYTE, _BOOL):
            found.append(index)
            continue
        if index._dtype is _BYTE:
            warn(
                "expandTensors",
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                "torch.bool instead.",
            )
        check_mask(self, index, len(found))
        nonzero = _NONZERO(index)
        found += [_SELECT(nonzero, 1, dim) for dim in range(len(index._sizes))]
    return found


def _common_shape(indices: Indices) -> tuple[int, ...]:
    shapes = [tuple(index._sizes) for index in indices if index is not None]
    found: tuple[int, ...] = ()
    try:
        for shape in shapes:
            found = infer_size(found, shape)
    except RuntimeError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(shape)) for shape in shapes)
        ) from None
    return found


def stand_together(indices: Indices) -> bool:
    """``hasContiguousSubspace``: whether no dimension between those indexed is left alone."""
    places = [place for place, index in enumerate(indices) if index is not None]
    return not places or places[-1] - places[0] == len(places) - 1


def _transposed_to_front(self: Tensor, indices: Indices) -> tuple[Tensor, list[Tensor | None]]:
    order = sorted(range(len(indices)), key=lambda dim: indices[dim] is None)
    return permute(self, order), [indices[dim] for dim in order]


def _restrided(self: Tensor, indices: Indices, shape: tuple[int, ...]) -> AdvancedIndex:
    places = [place for place, index in enumerate(indices) if index is not None]
    before = places[0] if places else len(indices)
    after = len(indices) - 1 - places[-1] if places else 0
    indexed = [self._sizes[place] for place in places]
    if 0 in indexed and 0 not in shape:
        raise IndexError("index is out of bounds for dimension with size 0")
    rest = len(indices) - after
    restrided = self._as_view(
        (*self._sizes[:before], *shape, *self._sizes[rest:]),
        (*self._strides[:before], *(0,) * len(shape), *self._strides[rest:]),
        self._storage_offset,
    )
    reshaped = tuple(
        _reshaped(index, (*(1,) * before, *index._sizes, *(1,) * after))
        for index in indices
        if index is not None
    )
    return AdvancedIndex(self, tuple(indices), restrided, reshaped)


def _reshaped(index: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """``reshape_indexer``: dimensions of size 1 have strides as a view gives them, which count
    where another size of the result is 0."""
    strides = view_strides(index._sizes, index._strides, sizes)
    assert strides is not None  # as only such dimensions are new
    return index._as_view(sizes, strides, index._storage_offset)


# --- reading ----------------------------------------------------------------------------------


@structured("aten::index.Tensor")
def index(outputs: Outputs, self: Tensor, indices: Indices) -> tuple[Tensor, ...]:
    _check_count(self, indices)
    if not indices and HABITS["index takes at least one index"]:
        raise IndexError("at least one index must be provided")
    _check_devices(self, indices)
    (given,) = outputs
    if given is None and (picked := picked_from_plain(self, indices)) is not None:
        return (picked,)
    if given is not None:
        _check_given(given, self, indices)
    info = make_info(self, indices)
    operands = (info.restrided, *info.reshaped)
    iterator = TensorIterator(_ITERATED, (), operands)
    output = set_output(given, iterator.shape, self._dtype, self._device, iterator.strides)
    if output.is_meta:
        return (output,)
    dispatch("index_cpu", self._dtype)
    if numel(output._sizes):
        _check_indexed(info)
        if not info.is_inside():
            loops = TensorIterator(_WRITTEN, (output,), operands).loops
            places, results, error = info.reached(loops)
            raw_array(output)[results] = raw_array(info.source)[places]
            raise refused(error, output, results)
        store_bits(output, raw_array(info.source)[info.places()])
    return (output,)


def _check_indexed(info: AdvancedIndex) -> None:
    """``is_constant_index``, which the kernels ask about an index that there must be."""
    if not info.reshaped:
        raise RuntimeError(internal_assert("ntensor >= 3", "is_constant_index"))


def _check_count(self: Tensor, indices: Indices) -> None:
    if len(indices) > len(self._sizes):
        raise IndexError(
            f"too many indices for tensor of dimension {len(self._sizes)} (got {len(indices)})"
        )


def _check_devices(self: Tensor, indices: Indices) -> None:
    wrong = [
        index
        for index in indices
        if index is not None and index._device.type != "cpu" and index._device != self._device
    ]
    if wrong:
        raise RuntimeError(
            "indices should be either on cpu or on the same device as the indexed tensor "
            f"({self._device})"
        )


def _check_given(given: Tensor, self: Tensor, indices: Indices) -> None:
    if given._dtype is not self._dtype:
        raise RuntimeError(
            f"index_out: self ({CPP_NAMES[self._dtype]}) and result ({CPP_NAMES[given._dtype]}) "
            "must have the same scalar type"
        )
    assert_no_internal_overlap(given)
    assert_no_overlap(given, self)
    for each in indices:
        if each is not None:
            assert_no_overlap(given, each)


# --- writing ----------------------------------------------------------------------------------


@kernel("aten::_index_put_impl_", key="Meta")
def index_put_impl_on_meta(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool, unsafe: bool
) -> Tensor:
    """Nothing is looked at."""
    return self


@kernel("aten::_index_put_impl_")
def index_put_impl_(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool, unsafe: bool
) -> Tensor:
    _check_count(self, indices)
    if has_internal_overlap(self):
        warn(
            "index_put_",
            "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[indices] = tensor",
        )
    if not accumulate and not self.is_meta:
        fills, mask = _mask_to_fill(self, indices, values)
        if fills and mask is None:  # an undefined one, in C++
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype nullptr "
                "(uninitialized)"
            )
        if fills:
            _MASKED_FILL_(self, mask, conversions.item(values))
            return self
    assert_no_overlap(self, values)
    for each in indices:
        if each is not None:
            assert_no_overlap(self, each)
    info = make_info(self, indices)
    _check_values(info, values)
    if not self.is_meta:
        dispatch("index_put", self._dtype)
        _put(self, info, values, accumulate)
    return self


def _mask_to_fill(self: Tensor, indices: Indices, value: Tensor) -> tuple[bool, Tensor | None]:
    """``canDispatchToMaskedFill``: whether one number goes to where at most a mask says, and it."""
    if numel(value._sizes) != 1 or not value.is_cpu:
        return False, None
    mask, dims = None, 0
    for each in indices:
        if each is None:
            dims += 1
            continue
        if each._dtype not in (_BYTE, _BOOL) or each._device != self._device or mask is not None:
            return False, None
        mask = each
        check_mask(self, each, dims)
        dims += len(each._sizes)
    for _ in range(len(self._sizes) - dims):
        if mask is None:
            raise RuntimeError("sym_strides() called on an undefined Tensor")
        mask = _UNSQUEEZE(mask, -1)
    return True, mask


def check_put(self: Tensor, indices: Indices, values: Tensor) -> None:
    """IndexError or RuntimeError for values that do not fit where they are put; without masks this
    computes nothing."""
    _check_count(self, indices)
    _check_values(_restrided(*_arranged(self, indices)), values)


def _check_values(info: AdvancedIndex, values: Tensor) -> None:
    shape = info.shape
    try:
        expandable = infer_size(values._sizes, shape) == shape
    except RuntimeError:
        expandable = False
    if not expandable or len(values._sizes) > len(shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values._sizes)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    if values._dtype is not info.source._dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{CPP_NAMES[info.source._dtype]} for the destination and "
            f"{CPP_NAMES[values._dtype]} for the source."
        )


def _put(self: Tensor, info: AdvancedIndex, values: Tensor, accumulate: bool) -> None:
    if not numel(info.shape):
        return
    _check_indexed(info)
    if not info.is_inside():
        raise refused(_put_reached(info, values, accumulate), self)
    places, dtype = info.places(), info.source._dtype
    found = as_array(values, dtype) if accumulate else raw_array(values)
    if info.rank > 1:
        places, found = _in_loops(info, values, places, found)
    if not accumulate:
        raw_array(info.source)[places] = found
        return
    total = np.array(as_array(info.source, dtype))
    with np.errstate(all="ignore"):
        add_in_turn(total, places, found, dtype)
    store(info.source, total)


def _loops(info: AdvancedIndex, values: Tensor) -> list[int]:
    return TensorIterator(_WRITTEN, (info.restrided,), (values, *info.reshaped)).loops


def _in_loops(
    info: AdvancedIndex, values: Tensor, places: tuple[Any, ...], found: Array
) -> tuple[tuple[Any, ...], Array]:
    """Places and values in the order of the loops, which shows where several go to one place."""
    first, last = info.first, info.first + info.rank
    dims = [dim for dim in _loops(info, values) if first <= dim < last]
    order = [*range(first), *dims, *range(last, len(info.shape))]
    indexed = [dim - first for dim in dims]
    turned = (each if isinstance(each, slice) else each.transpose(indexed) for each in places)
    return tuple(turned), np.broadcast_to(found, info.shape).transpose(order)


def _put_reached(info: AdvancedIndex, values: Tensor, accumulate: bool) -> IndexError:
    """Put what comes before the first place that there is not; answers what is raised then."""
    places, results, error = info.reached(_loops(info, values))
    dtype = info.source._dtype
    total = np.array(as_array(info.source, dtype))
    found = np.broadcast_to(as_array(values, dtype), info.shape)[results]
    if accumulate:
        add_in_turn(total, places, found, dtype)
    else:
        total[places] = found
    store(info.source, total)
    return error


@kernel("aten::index_put_", key="Meta")
def index_put_on_meta(self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Any:
    """Of Python's, which looks at nothing."""
    return self


@kernel("aten::index_put_", key="CompositeExplicitAutograd")
def index_put_(self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Any:
    return _INDEX_PUT_IMPL_(self, indices, values, accumulate, False)


@kernel("aten::index_put", keys=("Meta", "CompositeExplicitAutograd"))
def index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Any:
    copied = _EMPTY_LIKE(self) if self.is_meta else _CLONE(self)
    return _INDEX_PUT_(copied, indices, values, accumulate)


# --- without masks --------------------------------------------------------------------------------


@kernel("aten::_unsafe_index.Tensor", key="CompositeExplicitAutograd")
def unsafe_index(self: Tensor, indices: Indices) -> Any:
    """What is found is as large as the indices say, whatever they hold."""
    for each in indices:
        if each is not None and each._dtype not in (_LONG, _INT):
            found = CPP_NAMES[each._dtype]
            raise RuntimeError(f"_unsafe_index found unexpected index type {found}")
    return _INDEX(self, indices)


@kernel("aten::_unsafe_index_put", key="CompositeExplicitAutograd")
def unsafe_index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Any:
    return _INDEX_PUT(self, indices, values, accumulate)
