"""Tensors from Python data: nested sequences, numbers, arrays and other tensors.

Mirrors ``torch/csrc/utils/tensor_new.cpp``.  Arguments are parsed already.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.call_site import level_of_python
from mindtorch_v2.dispatch.tls import is_inference_mode_enabled
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import numpy_bridge
from mindtorch_v2.tensor.absent_devices import is_absent
from mindtorch_v2.tensor.copying import store_bits, warn_of_cast
from mindtorch_v2.tensor.cuda_array import refuse_cuda_array
from mindtorch_v2.tensor.default_dtype import default_complex_dtype, get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.plain import is_host, of_array
from mindtorch_v2.tensor.scalars import has_slot, pack_numbers, type_name, unpack_scalar
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, promoted, worded
from mindtorch_v2.tensor.symbolic import SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.usual_lists import usual_array
from mindtorch_v2.warn import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable

_CPU: Final = Device("cpu")
_USUAL: Final = (list, float, int, bool)
_MAX_DIMS: Final = 128
_TAKES_DLPACK: Final[bool] = HABITS["tensors are made of what exports DLPack"]
_OF_ARRAYS: Final = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)
_COPY_ADVICE: Final[str] = profile.active().argument_parser["copy_advice"]


def tensor_from_data(
    data: Any,
    dtype: DType | None = None,
    device: Device | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``torch.tensor``: a copy, and a leaf."""
    if isinstance(data, Tensor):
        warnings.warn(
            f"To copy construct from a tensor, it is recommended to use {_COPY_ADVICE} or "
            f"{_COPY_ADVICE}.requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=level_of_python(),
        )
    made = new_from_data(data, dtype, device, copy=True, pin_memory=pin_memory)
    made._set_requires_grad(requires_grad)
    return made


def as_tensor(data: Any, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """``torch.as_tensor``: without a copy where it can be."""
    return new_from_data(data, dtype, device, copy=False)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares an array's memory."""
    storage, strides, dtype = numpy_bridge.storage_of(array)
    return Tensor._make(array.shape, dtype, storage=storage, strides=strides)


def new_from_data(
    data: Any,
    dtype: DType | None,
    device: Device | None,
    *,
    copy: bool,
    pin_memory: bool = False,
) -> Tensor:
    """``internal_new_from_data``; without ``dtype`` it is inferred."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(data)}'")
    if isinstance(data, Tensor):
        if pin_memory:
            raise RuntimeError("Can't pin tensor constructed from a variable")
        where, wanted = device or data.device, dtype or data.dtype
        if copy:
            warn_of_cast(data.dtype, wanted)
            return _moved(data._detached(), where, wanted, copy=True)
        recorded: Any = data  # ``to`` is an operator, whose history the new tensor has
        converted: Tensor = recorded.to(where, wanted)
        return converted
    if type(data) in _USUAL and not pin_memory:
        usual = usual_array(data, dtype)
        if usual is not None:
            if (device is None or is_host(device)) and not is_inference_mode_enabled():
                return of_array(Tensor, *usual)
            return _holding(*usual, device or _CPU)
    refuse_cuda_array(data, pin_memory)
    if isinstance(data, np.ndarray):
        if pin_memory:
            raise RuntimeError("Can't pin tensor constructed from numpy")
        storage, strides, found = numpy_bridge.storage_of(data, warn=not copy)
        shared = Tensor._make(data.shape, found, storage=storage, strides=strides)
        warn_of_cast(found, dtype or found)
        return _moved(shared, device or _CPU, dtype or found, copy=copy)
    exported: Any = imported(data)
    if exported is not None:
        moved: Tensor = exported.to(device or exported.device, dtype or exported.dtype, copy=copy)
        return moved
    held = _storage_of(data)
    if held is not None:
        return _around_storage(data, held, dtype, device)
    sizes = compute_sizes(data)
    found_dtype = dtype or infer_dtype(data)
    if pin_memory and not (device and device.type == "meta"):
        raise worded("pin_memory")
    return _from_sequence(data, sizes, found_dtype, device or _CPU)


def imported(data: Any) -> Tensor | None:
    """A tensor of any library that exports it by DLPack; it shares its memory."""
    if not _TAKES_DLPACK or not hasattr(data, "__dlpack__"):
        return None
    from mindtorch_v2.utils.dlpack import from_dlpack  # made of tensors

    found: Tensor = from_dlpack(data)
    return found


def _holding(array: Array, dtype: DType, device: Device) -> Tensor:
    """A new tensor with values that are as it stores them."""
    if device.type == "meta":
        return Tensor._make(array.shape, dtype, device=device)
    made = Tensor._make(array.shape, dtype)
    store_bits(made, array)
    return _moved(made, device, dtype)


def _moved(made: Tensor, device: Device, dtype: DType, *, copy: bool = False) -> Tensor:
    """Where it is to be; raises what ``to`` does of a device that is not there."""
    if is_absent(device):
        refused: Any = made
        refused.to(device, dtype)
    return made._converted(device, dtype, copy=copy)


def _storage_of(data: Any) -> UntypedStorage | None:
    """The storage itself, or the one that a typed storage holds."""
    if isinstance(data, UntypedStorage):
        return data
    held = getattr(data, "__dict__", {}).get("_untyped_storage")
    return held if isinstance(held, UntypedStorage) else None


def _around_storage(
    data: Any, storage: UntypedStorage, dtype: DType | None, device: Device | None
) -> Tensor:
    """A tensor over all of a storage, once its items have been looked at as those of a list."""
    wanted = dtype or get_default_dtype()
    if len(data) // wanted.itemsize:
        compute_sizes(data)
    inferred = dtype or infer_dtype(data)
    held = inferred if data is storage else data.dtype
    if data is not storage and held is not wanted:
        raise RuntimeError(
            f"Expected a Storage of type {CPP_NAMES[wanted]} or an UntypedStorage, but got "
            f"{CPP_NAMES[held]}"
        )
    sizes = (storage.nbytes() // held.itemsize,)
    made = Tensor._make(sizes, held, device=storage.device, storage=storage)
    where = device or _CPU
    if made.is_meta and where.type != "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return _moved(made, where, inferred)


def _from_sequence(data: Any, sizes: tuple[int, ...], dtype: DType, device: Device) -> Tensor:
    if device.type == "meta":
        return Tensor._make(sizes, dtype, device=device)
    if not numel(sizes):
        return _moved(Tensor._make(sizes, dtype), device, dtype)
    numbers: list[Any] = []
    _collect(data, sizes, 0, lambda item: numbers.append(unpack_scalar(item, dtype)))
    return _holding(pack_numbers(numbers, dtype).reshape(sizes), dtype, device)


def is_sequence(value: object) -> bool:
    """``PySequence_Check``: whether a type has a slot for items by number.

    dicts do not count, nor do tensors and NumPy's numbers, which have one for mappings alone.
    """
    if isinstance(value, (dict, type, Tensor)):
        return False
    if isinstance(value, np.generic) and not isinstance(value, (np.character, np.void)):
        return False
    return has_slot(value, "__getitem__")


def compute_sizes(data: Any) -> tuple[int, ...]:
    """The lengths of the first item, of its first item, and so on."""
    sizes: list[int] = []
    while is_sequence(data):
        sizes.append(len(data))
        if len(sizes) > _MAX_DIMS:
            raise ValueError(f"too many dimensions '{type_name(data)}'")
        if not sizes[-1]:
            break
        try:
            data = data[0]
        except Exception:
            raise ValueError(
                f"could not determine the shape of object type '{type_name(data)}'"
            ) from None
    return tuple(sizes)


def _collect(data: Any, sizes: Sequence[int], dim: int, store: Callable[[Any], None]) -> None:
    """Hand every number to ``store``, in order; ValueError where a length differs."""
    if dim == len(sizes):
        store(data)
        return
    try:
        items = data if isinstance(data, (list, tuple)) else list(data)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(items) != sizes[dim]:
        raise ValueError(
            f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(items)})"
        )
    for item in items:
        if isinstance(item, np.ndarray):
            warn_once("recursive_store", _OF_ARRAYS)
        _collect(item, sizes, dim + 1, store)


def infer_dtype(data: Any) -> DType:
    """The dtype to which every number of nested sequences promotes; RuntimeError for none."""
    found = infer_scalar_type(data)
    if found is None:
        raise RuntimeError("unsupported scalarType")
    return found


def infer_scalar_type(data: Any) -> DType | None:
    """The same, or None for ``ScalarType::Undefined``, which whoever asks may not mind."""
    if isinstance(data, SymInt):
        return int64
    if isinstance(data, SymFloat):
        return get_default_dtype()
    if isinstance(data, (np.ndarray, np.generic)):
        return numpy_bridge.dtype_of(np.asarray(data))
    if isinstance(data, bool):
        return DTYPES["bool"]
    if isinstance(data, float):
        return get_default_dtype()
    if isinstance(data, int):
        return int64
    if isinstance(data, complex):
        return default_complex_dtype()
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(data)}'")
    if is_sequence(data):
        return _infer_of_items(data)
    raise RuntimeError(f"Could not infer dtype of {type_name(data)}")


def _infer_of_items(data: Any) -> DType | None:
    length = len(data)
    found: DType | None = None if length else get_default_dtype()
    for place in range(length):
        item = data[place]
        if item is data:
            raise TypeError("new(): self-referential lists are incompatible")
        kind = infer_scalar_type(item)
        if place == 0:
            found = kind
        elif found is not None:
            found = None if kind is None else promoted(found, kind)
        if found is DTYPES["complex128"]:
            break
    return found
