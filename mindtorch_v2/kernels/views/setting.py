"""``set_``: give a tensor another storage, and a geometry over it.

Mirrors the functions ``set_…`` of ``aten/src/ATen/native/TensorShape.cpp``, ``checkSetStorage`` of
``Resize.h``, and ``ShallowCopyData.cpp``.  What is refused late has changed the tensor already, as
in torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import maybe_resize_storage, set_sizes, set_sizes_and_strides
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import (
    check_in_bounds_for_storage,
    check_offset,
    unsigned_nbytes,
)
from mindtorch_v2.tensor.geometry import contiguous_strides, is_contiguous, symbolic_nbytes
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

_BACKENDS: Final = ("CPU", "Meta")
_CHECKS_BOUNDS: Final = HABITS["set_ looks whether a storage is large enough"]
_SET: Final = OperatorHandle("aten::set_.source_Storage_storage_offset")


@kernel("aten::set_.source_Storage_storage_offset", keys=_BACKENDS)
def set_storage_(
    self: Tensor,
    source: UntypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
) -> Tensor:
    """An empty ``stride`` is that of a row-major tensor, or its own if it has that size."""
    if stride and len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    same = tuple(self._sizes) == tuple(size) and (not stride or self._strides == tuple(stride))
    itemsize = self._dtype.itemsize
    if _CHECKS_BOUNDS:  # before it takes the storage
        check_offset(storage_offset)
        if same and not self.is_meta:  # a geometry that stays, for which no storage is made larger
            needed = unsigned_nbytes(size, stride or contiguous_strides(size), itemsize)
            available = source.nbytes()
            check_in_bounds_for_storage(size, stride, storage_offset, itemsize, needed, available)
    check_set_storage(self, source, storage_offset)
    if self.is_meta:
        stride = stride or _symbolic_strides(size)
        set_sizes_and_strides(self, size, stride, storage_offset)
        maybe_resize_storage(self, symbolic_nbytes(size, stride, itemsize))
        return self
    forget(self)._storage_offset = storage_offset
    if not stride:
        set_sizes(self, size)
    elif not same:
        set_sizes_and_strides(self, size, stride)
        maybe_resize_storage(self, unsigned_nbytes(size, stride, itemsize))
    return self


def check_set_storage(self: Tensor, source: UntypedStorage, storage_offset: int) -> None:
    """Put a storage in the place of a tensor's own, and leave everything else; RuntimeError if it
    is on another device, or if nothing can be there.
    """
    current = self._untyped_storage()
    if current is not source:
        if current.device != source.device:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{current.device}" to a '
                f'storage on different device "{source.device}".  This is no longer allowed; the '
                "devices must match."
            )
        self._storage = source
    check_offset(storage_offset)


def _symbolic_strides(sizes: Sequence[int]) -> list[int]:
    """Row-major strides of what can be symbols: a dimension of no size counts as that."""
    strides = [1] * len(sizes)
    for dim in range(len(sizes) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * sizes[dim + 1]
    return strides


@kernel("aten::set_.source_Storage", keys=_BACKENDS)
def set_whole_storage_(self: Tensor, source: UntypedStorage) -> Tensor:
    return set_storage_(self, source, 0, [source.nbytes() // self._dtype.itemsize], ())


@kernel("aten::set_.source_Tensor", keys=_BACKENDS)
def set_tensor_(self: Tensor, source: Tensor) -> Tensor:
    if self is source:
        return self
    return set_storage_(
        self, source._untyped_storage(), source._storage_offset, source._sizes, source._strides
    )


@kernel("aten::set_.source_Tensor_storage_offset", key="CompositeImplicitAutograd")
def set_tensor_part_(
    self: Tensor,
    source: Tensor,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
) -> Any:
    if not is_contiguous(source._sizes, source._strides):
        raise RuntimeError("passed in tensor to be used as storage must be contiguous")
    offset = storage_offset + source._storage_offset
    return _SET(self, source._untyped_storage(), offset, list(size), list(stride))


@kernel("aten::is_set_to")
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same elements of one storage, whatever they count as."""
    return self._storage is tensor._storage and (
        (self._storage_offset, self._sizes, self._strides)
        == (tensor._storage_offset, tensor._sizes, tensor._strides)
    )


@kernel("aten::set_", keys=_BACKENDS)
def set_(self: Tensor) -> Tensor:
    """Without elements."""
    return set_storage_(self, UntypedStorage._of(0, self._device), 0, [0], ())


@kernel("aten::shallow_copy_data_", key="CompositeExplicitAutograd")
def shallow_copy_data_(self: Tensor, source: Tensor) -> Tensor:
    """``variable.set_data``, which is to Python an attribute."""
    self.data = source  # type: ignore[misc]  # autograd makes it writable
    return self
