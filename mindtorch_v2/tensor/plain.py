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
    counter, which starts at nought, is made for who asks, and what autograd keeps with a view of a
    tensor without history: ``_view_of`` says what that will be.

    Who gives a tensor another geometry or other keys has it `forget` its array before; a storage
    that is set does that itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.autograd_meta import AutogradMeta, ViewInfo
from mindtorch_v2.tensor.device import NO_INDEX, Device
from mindtorch_v2.tensor.dtype import DType, strided
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import contiguous_strides, storage_bytes
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.pending import AWAY, come_back
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.version import VersionCounter

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

KEYS: Final = tensor_keyset(mask_of(DispatchKey.CPU))
"""Those of a dense tensor of the CPU that is nothing else."""

_CPU: Final = Device("cpu")
_SMALL: Final = 1 << 16
"""In bytes: what is larger asks for its memory as any tensor does."""
_lock: Final = Lock()


def _most_dims() -> int:
    """Of NumPy's arrays."""
    return 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


@lru_cache(maxsize=1000)
def _form(
    dtype: DType, sizes: Size, strides: tuple[int, ...]
) -> tuple[tuple[int, ...], np.dtype[Any], int] | None:
    """Shape, NumPy's dtype and its size in bytes, of elements whose bits are the values, that lie
    row by row; None for others."""
    elements = elements_of(dtype)
    if elements.raw != elements.computed or 0 in sizes or strides != contiguous_strides(sizes):
        return None
    if len(sizes) > _most_dims():
        return None
    return tuple(sizes), elements.raw, elements.raw.itemsize


def array_of(tensor: Tensor) -> Array | None:
    """The array of a plain tensor, which keeps it from now on; None for any other."""
    if (
        tensor._keys != KEYS
        or tensor._custom is not None
        or tensor._layout is not strided
        or tensor._device._index != NO_INDEX
    ):
        return None
    form = _form(tensor._dtype, tensor._sizes, tensor._strides)
    if form is None:
        return None
    storage = tensor._storage if tensor._raw_storage is AWAY else tensor._raw_storage
    assert storage is not None
    memory = storage._bytes if storage._raw_bytes is AWAY else storage._raw_bytes
    if not isinstance(memory, np.ndarray):
        return None
    shape, raw, itemsize = form
    try:
        array: Array = np.ndarray(shape, raw, memory, tensor._storage_offset * itemsize)
    except (TypeError, ValueError):  # a part of it is beyond the bytes that there are
        return None
    tensor._array, tensor._memory = array, memory
    return array


@lru_cache(maxsize=10_000)
def _form_of_new(
    dtype: DType, sizes: tuple[int, ...]
) -> tuple[Size, tuple[int, ...], np.dtype[Any]] | None:
    """Sizes, strides and NumPy's dtype of a small new tensor that is plain; None if it is not."""
    if dtype._is_quantized or min(sizes, default=1) < 1:
        return None
    strides = contiguous_strides(sizes)
    form = _form(dtype, sizes, strides)
    if form is None or storage_bytes(sizes, strides, 0, dtype.itemsize) > _SMALL:
        return None
    return Size._of(sizes), strides, form[1]


def is_host(device: Device) -> bool:
    """Whether it is the CPU, called by no number."""
    return device._type == "cpu" and device._index == NO_INDEX


def new_plain(
    cls: type[Tensor], sizes: Sequence[int], dtype: DType, strides: tuple[int, ...] | None
) -> Tensor | None:
    """A small new tensor of zeros outside of inference mode; None for one that is not plain."""
    form = _form_of_new(dtype, tuple(sizes))
    if form is None or (strides is not None and strides != form[1]):
        return None
    return with_array(cls, np.zeros(form[0], form[2]), dtype, form[0], form[1])


def of_array(cls: type[Tensor], array: Array, dtype: DType) -> Tensor:
    """A new tensor outside of inference mode around an array that nobody else has.

    The array has an element at least, and lies as tensors of the dtype do that are plain.
    """
    form = _form_of_new(dtype, array.shape)
    if form is None:  # for it is not small
        sizes, strides = Size._of(array.shape), contiguous_strides(array.shape)
    else:
        sizes, strides, _ = form
    return with_array(cls, array, dtype, sizes, strides)


def with_array(
    cls: type[Tensor], array: Array, dtype: DType, sizes: Size, strides: tuple[int, ...]
) -> Tensor:
    """The same for who knows the array's geometry."""
    made = object.__new__(cls)
    made._sizes, made._strides = sizes, strides
    made._dtype, made._layout, made._device = dtype, strided, _CPU
    made._array, made._memory = array, None
    made._storage_offset, made._keys = 0, KEYS
    made._raw_storage = made._raw_versions = AWAY
    made._content = made._functional = made._custom = None
    made._raw_autograd = made._pending = None
    return made


def kept_array(tensor: Tensor) -> Array | None:
    """The array that a tensor has kept, if it is good: writing to it changes the tensor."""
    array = tensor._array
    if array is None:
        return None
    memory = tensor._memory
    is_good = memory is None or memory is tensor._raw_storage._raw_bytes  # type: ignore[union-attr]
    return array if is_good else None


def storage_of(tensor: Tensor, slot: str) -> Any:
    """The storage of a tensor that has been computed, which is made now."""
    with _lock:  # two threads may ask at once
        array = tensor._array
        if tensor._raw_storage is AWAY and array is not None:
            memory = tensor._memory = array.reshape(-1).view(np.uint8)
            tensor._raw_storage = UntypedStorage._owning(memory, _CPU)
    return come_back(tensor, slot)


def forget(tensor: Tensor) -> Tensor:
    """A tensor that is about to be another one, and has no array any more."""
    if tensor._raw_storage is AWAY:
        storage_of(tensor, "_raw_storage")
    tensor._array = None
    return tensor


def set_strides(tensor: Tensor, strides: tuple[int, ...]) -> None:
    """Have a new tensor lie otherwise."""
    if strides != tensor._strides:
        forget(tensor)._strides = strides


def counter_of(tensor: Tensor, slot: str) -> Any:
    """The version counter of a tensor whose changes nobody has counted yet, which is made now."""
    with _lock:
        if tensor._raw_versions is AWAY and tensor._pending is None:
            tensor._raw_versions = VersionCounter()
    return come_back(tensor, slot)


def meta_of_view(tensor: Tensor, slot: str) -> Any:
    """What autograd keeps with a view of a tensor that had no history, which is made now."""
    with _lock:
        if tensor._raw_autograd is AWAY and tensor._pending is None:
            assert tensor._view_of is not None
            meta, (base, count) = AutogradMeta(), tensor._view_of
            meta.view, meta.attr_version = ViewInfo(base), count
            tensor._raw_autograd, tensor._view_of = meta, None
    return come_back(tensor, slot)
