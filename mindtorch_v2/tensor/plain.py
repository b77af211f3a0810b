"""Plain tensors: dense ones of the CPU that are nothing else, and the arrays of their elements.

Note [Arrays of plain tensors]
    NumPy needs longer to make an array over some bytes than to add a few numbers.  So a tensor may
    keep one, in ``_array``.  That it has one says that it is plain: its keys are those of a dense
    tensor of the CPU outside of inference mode, its elements lie row by row without gaps, there is
    at least one, and NumPy computes with them as they are stored.

    ``_memory`` are the bytes that the array looks at.  Others may have the storage too, and may
    give it other bytes, so an array is good as long as the storage has these.  A tensor that was
    just computed has its array alone: ``_memory`` is None, and the storage is AWAY until somebody
    asks for it.  Most results are used up by the next call, and never have one.  Likewise a version
    counter, which starts at nought, is made for who asks.

    Who gives a tensor another geometry or other keys has it `forget` its array before; a storage
    that is set does that itself.
"""

from __future__ import annotations

from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.tensor.device import NO_INDEX, Device
from mindtorch_v2.tensor.dtype import DType, strided
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import contiguous_strides
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.pending import AWAY, come_back
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.version import VersionCounter

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

KEYS: Final = tensor_keyset(mask_of(DispatchKey.CPU))
"""Those of a dense tensor of the CPU that is nothing else."""

_CPU: Final = Device("cpu")
_BYTES: Final = np.dtype(np.uint8)
_row_major: Final = lru_cache(contiguous_strides)
_lock: Final = Lock()


@cache
def _raw(dtype: DType) -> np.dtype[Any] | None:
    """NumPy's dtype of the elements, if their bits are the values."""
    elements = elements_of(dtype)
    return elements.raw if elements.raw == elements.computed else None


def array_of(tensor: Tensor) -> Array | None:
    """The array of a plain tensor, which keeps it from now on; None for any other."""
    sizes, raw = tensor._sizes, _raw(tensor._dtype)
    if (
        tensor._keys != KEYS
        or raw is None
        or tensor._custom is not None
        or tensor._layout is not strided
        or tensor._device._index != NO_INDEX
        or 0 in sizes
        or tensor._strides != _row_major(sizes)
    ):
        return None
    memory = tensor._untyped_storage()._bytes
    assert isinstance(memory, np.ndarray)
    start = tensor._storage_offset * raw.itemsize
    try:
        array: Array = np.ndarray(tuple(sizes), raw, memory, start)
    except (TypeError, ValueError):  # a part of it is beyond the bytes that there are
        return None
    tensor._array, tensor._memory = array, memory
    return array


def storage_of(tensor: Tensor, slot: str) -> Any:
    """The storage of a tensor that has been computed, which is made now."""
    with _lock:  # two threads may ask at once
        array = tensor._array
        if tensor._raw_storage is AWAY and array is not None:
            memory = tensor._memory = array.reshape(-1).view(_BYTES)
            tensor._raw_storage = UntypedStorage._owning(memory, _CPU)
    return come_back(tensor, slot)


def forget(tensor: Tensor) -> Tensor:
    """A tensor that is about to be another one, and has no array any more."""
    if tensor._raw_storage is AWAY:
        storage_of(tensor, "_raw_storage")
    tensor._array = None
    return tensor


def counter_of(tensor: Tensor, slot: str) -> Any:
    """The version counter of a tensor whose changes nobody has counted yet, which is made now."""
    with _lock:
        if tensor._raw_versions is AWAY and tensor._pending is None:
            tensor._raw_versions = VersionCounter()
    return come_back(tensor, slot)
