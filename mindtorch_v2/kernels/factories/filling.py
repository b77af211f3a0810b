"""Operators that put values into a tensor: ``copy_``, ``fill_``, ``zero_``.

Mirrors ``aten/src/ATen/native/Copy.cpp`` and ``Fill.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import Operand, number_dtype
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator, iteration_order
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.overlap import (
    MemOverlapStatus,
    get_overlap_status,
    may_overlap_itself,
    rows_of,
)
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import called
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.geometry import dense_strides_like, numel
from mindtorch_v2.tensor.scalar_ops import scalar_tensor_static
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

_CLONE: Final = OperatorHandle("aten::clone")
COPY: Final = OperatorHandle("aten::copy_")
_FILL: Final = OperatorHandle("aten::fill_.Scalar")
_FILL_TENSOR: Final = OperatorHandle("aten::fill_.Tensor")
_ITEM: Final = OperatorHandle("aten::item")

_COPIED: Final = Config(
    check_all_same_dtype=False, check_all_same_device=False, resize_outputs=False
)


@kernel("aten::copy_", key="CompositeExplicitAutograd")
def copy_(self: Tensor, src: Operand, non_blocking: bool) -> Tensor:
    if is_zero_tensor(self):
        raise RuntimeError(
            "ZeroTensors are immutable. Please materialize the tensor using `.clone()`, if you "
            "want a mutable zero tensor."
        )
    if self is src:
        return self
    if not isinstance(src, Tensor):  # a number, which C++ has in a tensor that is copied like any
        src = scalar_tensor_static(src, number_dtype(src))
    if self.is_meta:
        check_broadcast(self, src)
        return self
    if src.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if _is_plain(self, src):
        copying.warn_of_cast(src._dtype, self._dtype)
        copying.copy_values(self, src)
        return self
    if _is_same_data(self, src):
        return self
    TensorIterator(_COPIED, (self,), (src,))
    if not numel(self._sizes):
        return self
    copying.warn_of_cast(src._dtype, self._dtype)
    if _shares_places(self, src):
        _copy_in_order(self, src)
    elif _writes_onto_itself(self):
        _copy_in_rows(self, src)
    else:
        copying.copy_values(self, src)
    return self


def _is_plain(self: Tensor, src: Tensor) -> bool:
    """Whether both are plain, of one shape, and each has memory of its own."""
    return (
        self._array is not None
        and src._array is not None
        and self._sizes == src._sizes
        and get_overlap_status(self, src) is MemOverlapStatus.NO
    )


def _shares_places(self: Tensor, src: Tensor) -> bool:
    """Whether an element may be read after it has been written, of one dtype as they are."""
    return (
        self._storage is src._storage
        and self._storage is not None
        and self._dtype is src._dtype
        and self._lazy_bits() == src._lazy_bits()
        and not copying.is_on_accelerator(self)
        and np.shares_memory(copying.raw_array(self), copying.raw_array(src))
    )


def _copy_in_order(self: Tensor, src: Tensor) -> None:
    """One element after the other, innermost dimension first, as the iterator goes through them."""
    order = iteration_order(tuple(self._sizes), (self, src))
    itemsize = self._dtype.itemsize
    memory = self._bytes()
    memory = memory[: len(memory) // itemsize * itemsize].view(elements_of(self._dtype).raw)
    pairs = zip(_places(self, self, order), _places(src, self, order), strict=True)
    for written, read in pairs:
        memory[written] = memory[read]


def _writes_onto_itself(self: Tensor) -> bool:
    """Whether it matters which element is written last."""
    return (
        may_overlap_itself(self) and not self._lazy_bits() and not copying.is_on_accelerator(self)
    )


def _copy_in_rows(self: Tensor, src: Tensor) -> None:
    """Onto elements that share memory: the last that the iterator writes stays."""
    wanted = new_tensor(self._sizes, self._dtype, self._device)
    copying.copy_values(wanted, src)
    bits = copying.raw_array(wanted)
    order = iteration_order(tuple(self._sizes), (self, src))
    for row, index in rows_of(self, order[::-1]):
        copying.store_bits(row, bits[index])


def _places(tensor: Tensor, like: Tensor, order: Sequence[int]) -> list[int]:
    """Where the elements of a tensor, broadcast to another's shape, are in the storage."""
    places = np.array(tensor._storage_offset)
    missing = len(like._sizes) - len(tensor._sizes)
    for dim in reversed(order):
        is_repeated = dim < missing or tensor._sizes[dim - missing] == 1
        stride = 0 if is_repeated else tensor._strides[dim - missing]
        places = places[..., None] + np.arange(like._sizes[dim]) * stride
    found: list[int] = places.ravel().tolist()
    return found


def _is_same_data(self: Tensor, src: Tensor) -> bool:
    """Whether a copy would write what is there: these may even overlap within themselves."""
    return (
        self._storage is src._storage
        and self._storage is not None
        and self._storage_offset == src._storage_offset
        and tuple(self._strides) == tuple(src._strides)
        and tuple(self._sizes) == tuple(src._sizes)
        and self._dtype is src._dtype
        and self._lazy_bits() == src._lazy_bits()
    )


def check_broadcast(self: Tensor, src: Tensor) -> None:
    """RuntimeError for a source that does not fit into a tensor's shape."""
    shape = infer_size(tuple(self._sizes), tuple(src._sizes))
    if tuple(shape) != tuple(self._sizes):
        raise RuntimeError(
            f"output with shape {list(self._sizes)} doesn't match the broadcast shape {list(shape)}"
        )


@kernel("aten::fill_.Scalar", keys=("CPU", "Meta"))
def fill_(self: Tensor, value: Any) -> Tensor:
    copying.fill(self, value)
    return self


@kernel("aten::fill_.Tensor", keys=("CPU", "Meta"))
def fill_tensor(self: Tensor, value: Tensor) -> Any:
    _check_scalar("fill_", value)
    if self._device != value._device:
        return _FILL(self, _ITEM(value))
    is_alias = self._storage is not None and self._storage is value._storage
    return COPY(self, _CLONE(value) if is_alias else value, False)


def _check_scalar(name: str, value: Tensor) -> None:
    if value._sizes:
        raise RuntimeError(
            f"{name} only supports 0-dimension value tensor but got tensor with "
            f"{len(value._sizes)} dimensions."
        )


@kernel("aten::fill.Scalar", "aten::fill.Tensor", keys=("Meta", "CompositeExplicitAutograd"))
def fill(self: Tensor, value: Any) -> Any:
    strides = dense_strides_like(self._sizes, self._strides)
    filled = new_tensor(self._sizes, self._dtype, self._device, strides)
    if isinstance(value, Tensor):
        return called(_FILL_TENSOR, fill_tensor, filled, value)
    return called(_FILL, fill_, filled, value)


@kernel("aten::zero_", keys=("CPU", "Meta"))
def zero_(self: Tensor) -> Tensor:
    copying.zero(self)
    return self
