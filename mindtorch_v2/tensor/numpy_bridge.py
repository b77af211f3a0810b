"""NumPy arrays and tensors that share memory.

Mirrors ``torch/csrc/utils/tensor_numpy.cpp``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.copying import raw_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, DType, strided
from mindtorch_v2.tensor.elements import Array, dtypes_of_numpy
from mindtorch_v2.tensor.geometry import numel, storage_bytes
from mindtorch_v2.tensor.scalars import type_name
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import check_dtype, worded
from mindtorch_v2.tensor.zeros import is_zero_tensor
from mindtorch_v2.warn import warn_once

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_SUPPORTED: Final = (
    "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
    "uint32, uint16, uint8, and bool"
)
_NATIVE: Final = ("=", "|", "<" if sys.byteorder == "little" else ">")


def to_numpy(tensor: Tensor, *, force: bool = False) -> Array:
    """The array that shares the tensor's memory, or with ``force`` a copy where there is none."""
    check_convertible(tensor, force=force)
    plain = tensor._detached()._converted(Device("cpu"), tensor.dtype)._resolved()
    check_dtype("numpy", plain.dtype)
    if min(plain._sizes, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    if plain._storage is not None:
        plain._storage._resizable = False
        plain._storage._is_exported = True
    return raw_array(plain)


def check_convertible(tensor: Tensor, *, force: bool) -> None:
    """TypeError or RuntimeError unless there is an array for the tensor."""
    if tensor.layout is not strided:
        raise worded("numpy of a sparse tensor", Sparse=CPP_LAYOUTS[tensor.layout])
    if not force:
        _check_shareable(tensor)


def _check_shareable(tensor: Tensor) -> None:
    if tensor.device.type != "cpu":
        raise TypeError(
            f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() to "
            "copy the tensor to host memory first."
        )
    if is_zero_tensor(tensor):  # which earlier releases share, though there is no memory
        raise RuntimeError(
            " Cannot convert a ZeroTensor to numpy. Set force=True if you need the zero array."
        )
    obstacles = (
        (
            tensor.requires_grad and tls.is_grad_enabled(),
            "Tensor that requires grad",
            "detach",
        ),
        (tensor._is_conj(), "Tensor that has conjugate bit set", "resolve_conj"),
        (tensor._is_neg(), "Tensor that has negative bit set", "resolve_neg"),
    )
    for stands, what, way in obstacles:
        if stands:
            raise RuntimeError(f"Can't call numpy() on {what}. Use tensor.{way}().numpy() instead.")


def dtype_of(array: Array) -> DType:
    """The dtype of an array's elements; TypeError for those that tensors do not have."""
    found = dtypes_of_numpy().get(array.dtype.newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {_scalar_name(array.dtype)}. "
            f"The only supported types are: {_SUPPORTED}."
        )
    return found


def _scalar_name(kind: np.dtype[Any]) -> str:
    return f"{kind.type.__module__}.{kind.type.__name__}"


def storage_of(array: Any, *, warn: bool = True) -> tuple[UntypedStorage, tuple[int, ...], DType]:
    """A storage of an array's memory, the strides of the array in elements, and its dtype."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(array)})")
    if warn:
        warn_if_not_writable(array)
    itemsize = array.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. "
            "Copy the numpy array to reallocate the memory."
        )
    strides = tuple(stride // itemsize for stride in array.strides)
    if any(stride < 0 for stride in strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )
    if array.dtype.byteorder not in _NATIVE:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    dtype = dtype_of(array)
    count = storage_bytes(array.shape, strides, 0, itemsize)
    return UntypedStorage._around(_memory(array, count)), strides, dtype


def _memory(array: Array, count: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """``count`` bytes from an array's first element on."""
    if not numel(array.shape):
        return np.empty(0, np.uint8)
    first = np.lib.stride_tricks.as_strided(array, shape=(1,), strides=(array.itemsize,))
    return np.lib.stride_tricks.as_strided(first.view(np.uint8), shape=(count,), strides=(1,))


def warn_if_not_writable(array: np.ndarray[Any, Any]) -> None:
    if not array.flags.writeable:
        warn_once("warn_numpy_not_writeable", WARNING_TEXTS["warn_numpy_not_writeable"])
