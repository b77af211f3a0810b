"""Operators that write to a dimension at the places of an index: ``index_fill``, ``index_copy``.

Mirrors ``aten/src/ATen/native/TensorAdvancedIndexing.cpp`` and ``cpu/IndexKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import element
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import (
    assert_no_internal_overlap,
    assert_no_overlap,
    has_internal_overlap,
)
from mindtorch_v2.kernels.refused import refused
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, structured
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.messages import out_of_bounds
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_CLONE: Final = OperatorHandle("aten::clone")
_INDEX_FILL_: Final = OperatorHandle("aten::index_fill_.int_Scalar")
_INDEX_FILL_TENSOR_: Final = OperatorHandle("aten::index_fill_.int_Tensor")
_ITEM: Final = OperatorHandle("aten::item")
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]


def _write(
    self: Tensor,
    dim: int,
    index: Tensor,
    made: Callable[[], Array],
    name: str,
    least: int,
    switch: str,
) -> None:
    """Put values to the places of an index, whose dimension is the first of those ``made``.

    IndexError, after ``name``, for a place below ``least`` times the size of the dimension or
    beyond it, once those before it are written.  ``switch`` knows the dtypes.
    """
    sizes, strides = tuple(self._sizes) or (1,), tuple(self._strides) or (1,)
    places, size = value_array(index).reshape(-1).tolist(), sizes[dim]
    others, steps = _without(sizes, dim), _without(strides, dim)
    _AS_STRIDED(self, _with(sizes, dim, len(places)), _with(strides, dim, 0))  # which may not fit
    dispatch(switch, self._dtype)
    values = made()
    if not numel(others) or not places:
        return
    for place, value in zip(places, values, strict=True):
        if not least * size <= place < size:
            raise refused(IndexError(name + out_of_bounds(place, dim, size)), self)
        offset = self._storage_offset + place % size * strides[dim]
        store(_AS_STRIDED(self, others, steps, offset), value)


def _with(sizes: Sequence[int], dim: int, size: int) -> list[int]:
    """Sizes with another in a dimension."""
    return [*sizes[:dim], size, *sizes[dim + 1 :]]


def _without(sizes: Sequence[int], dim: int) -> list[int]:
    """Sizes without that of a dimension."""
    return [*sizes[:dim], *sizes[dim + 1 :]]


# --- index_fill -----------------------------------------------------------------------------------


@kernel("aten::index_fill_.int_Scalar")
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    if index._dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    assert_no_overlap(self, index)
    if has_internal_overlap(self):
        warn(
            "index_fill_",
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[mask] = scalar",
        )
    if isinstance(value, complex) and not self._dtype.is_complex:
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    sizes = tuple(self._sizes) or (1,)
    dim = wrap_dim(dim, len(sizes))
    if len(index._sizes) > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    shape = (numel(index._sizes), *_without(sizes, dim))

    def filled() -> Array:
        return np.broadcast_to(element(value, self._dtype), shape)

    _write(self, dim, index, filled, "", -1, "index_fill_cpu")
    return self


@kernel("aten::index_fill_.int_Tensor")
def index_fill_tensor_(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Any:
    if value._sizes:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{len(value._sizes)} dimension(s)."
        )
    return _INDEX_FILL_(self, dim, index, _ITEM(value))


@kernel("aten::index_fill.int_Scalar", key="CompositeExplicitAutograd")
def index_fill(self: Tensor, dim: int, index: Tensor, value: Number) -> Any:
    return _INDEX_FILL_(_CLONE(self, memory_format=_PRESERVE), dim, index, value)


@kernel("aten::index_fill.int_Tensor", key="CompositeExplicitAutograd")
def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Any:
    return _INDEX_FILL_TENSOR_(_CLONE(self, memory_format=_PRESERVE), dim, index, value)


# --- index_copy -----------------------------------------------------------------------------------


@structured("aten::index_copy")
def index_copy(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, source: Tensor
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    (given,) = outputs
    output = set_output(
        given, self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    if given is not None:
        assert_no_internal_overlap(output)
        assert_no_overlap(output, index)
        assert_no_overlap(output, source)
    _check_copied(self, dim, index, source)
    if output.is_meta:
        return (output,)
    if output is not self:
        copy_(output, self, False)

    def copied() -> Array:
        return np.moveaxis(np.array(value_array(source), ndmin=1), dim, 0)

    _write(output, dim, index, copied, "index_copy_(): ", 0, "index_copy_cpu")
    return (output,)


def _check_copied(self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """``TORCH_PRECOMPUTE_META_FUNC(index_copy)``."""
    rank, given, count = len(self._sizes), len(source._sizes), numel(index._sizes)
    if len(index._sizes) > 1:
        raise IndexError(
            f"index_copy_(): Index should have dimension 1 or 0 (got {len(index._sizes)})"
        )
    if not given and count != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {count})"
        )
    if given != rank and given and rank:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({given}), destination dimensionality ({rank})"
        )
    if index._dtype is not int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {CPP_NAMES[index._dtype]}"
        )
    if self._dtype is not source._dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{CPP_NAMES[self._dtype]} and (source) {CPP_NAMES[source._dtype]}"
        )
    if not self._device == source._device == index._device:
        raise RuntimeError(
            "index_copy_(): self, index and source expected to be in the same device, but got "
            f"(self) {self._device}, (index) {index._device}, and (source) {source._device}"
        )
    kept, copied = _without(self._sizes, dim), _without(source._sizes, dim)
    if kept != copied:
        destination, given_shape = (" ".join(map(str, each)) for each in (kept, copied))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {destination} at dimension {dim} and source slice shape: {given_shape} "
            "at dimension 0."
        )
    if given and count != source._sizes[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
            f"({source._sizes[dim]})"
        )
