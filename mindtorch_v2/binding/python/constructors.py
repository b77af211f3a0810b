"""Tensors from data: ``torch.tensor``, ``as_tensor``, ``asarray``, ``frombuffer``, ``new_tensor``.

Mirrors ``torch/csrc/utils/tensor_new.cpp`` and ``nested.cpp`` up to the first operator that they
call; of objects that speak DLPack only capsules are taken.  What tensors hold in the end is
computed by :mod:`mindtorch_v2.tensor.construct`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import Runner, call_operator, is_absent, value
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.call_site import level_of_python
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, PYTHON_KEYS, functionality_bit
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import construct, dlpack, numpy_bridge
from mindtorch_v2.tensor.absent_devices import is_absent as is_nowhere
from mindtorch_v2.tensor.absent_devices import maybe_initialize_device
from mindtorch_v2.tensor.construct import compute_sizes, infer_dtype
from mindtorch_v2.tensor.cuda_array import refuse_cuda_array
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, strided
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage
from mindtorch_v2.warn import warn_once

_COPIES_TO_RECEIVER: Final = HABITS["new_tensor copies a tensor to the receiver's device"]
_COPY_ADVICE: Final[str] = profile.active().argument_parser["copy_advice"]
_STRIDED: Final = enum_value(strided)
BY_NUMBER: Final = {enum_value(dtype): dtype for dtype in DTYPES.values()}


def new_from_data(
    data: Any,
    dtype: int,
    device: Device | None,
    *,
    copy_tensors: bool,
    copy_arrays: bool,
    infer: bool,
    pin_memory: bool = False,
    default_device: Device | None = None,
) -> Any:
    """``internal_new_from_data``: ``dtype`` counts unless it is to be inferred from the data.

    ``default_device`` is where a tensor of numbers is made that ``device`` puts nowhere.
    """
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(data)}'")
    if isinstance(data, Tensor):
        if pin_memory:
            raise RuntimeError("Can't pin tensor constructed from a variable")
        source = call_operator("aten::detach", self=data) if copy_tensors else data
        wanted = enum_value(data.dtype) if infer else dtype
        maybe_initialize_device(device)
        return _moved(source, device or data.device, wanted, copy_tensors)
    refuse_cuda_array(data, pin_memory)
    if isinstance(data, np.ndarray):
        if pin_memory:
            raise RuntimeError("Can't pin tensor constructed from numpy")
        shared = tensor_from_numpy(data, warn=not copy_arrays)
        wanted = enum_value(shared.dtype) if infer else dtype
        maybe_initialize_device(device)
        return _moved(shared, device or default_device or Device("cpu"), wanted, copy_arrays)
    imported = construct.imported(data)
    if imported is not None:
        wanted = enum_value(imported.dtype) if infer else dtype
        maybe_initialize_device(device)
        return _moved(imported, device or imported.device, wanted, copy_tensors)
    where = device or default_device or Device("cpu")
    if is_stopping():
        return _from_sequence(data, dtype, where, infer, pin_memory)
    kind = None if infer else BY_NUMBER[dtype]
    first = Device("cpu") if is_nowhere(where) else where
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _WHILE_STORED):
        made = construct.new_from_data(data, kind, first, copy=True, pin_memory=pin_memory)
    if first is not where:
        maybe_initialize_device(where)
        return _moved(made, where, enum_value(made.dtype), copy=False)
    if where.type == "meta" and not HABITS["a new tensor on meta is lifted"]:
        return made
    return call_operator("aten::lift_fresh", self=made)


_WHILE_STORED: Final = PYTHON_KEYS | AUTOGRAD_KEYS | functionality_bit(DispatchKey.ADInplaceOrView)
"""Excluded while numbers are stored in a new tensor: nobody sees that."""


def _moved(source: Any, device: Device, dtype: int, copy: bool) -> Any:
    return call_operator("aten::to.device", self=source, device=device, dtype=dtype, copy=copy)


def _from_sequence(data: Any, dtype: int, device: Device, infer: bool, pin_memory: bool) -> Any:
    """A tensor on the CPU, whatever the device, unless that has no memory at all."""
    if isinstance(data, (TypedStorage, UntypedStorage)):
        return _from_storage(data, dtype, infer, pin_memory)
    sizes = list(compute_sizes(data))
    options = {"dtype": enum_value(infer_dtype(data)) if infer else dtype, "layout": _STRIDED}
    if device.type == "meta":
        return empty(sizes, device=device, **options)
    return empty(sizes, device=Device("cpu"), pin_memory=pin_memory, **options)


def _from_storage(
    data: TypedStorage | UntypedStorage, dtype: int, infer: bool, pin_memory: bool
) -> Any:
    """As from a sequence, none of whose items can be read without an operator.

    C++ divides the length by the size of an element, typed or not.
    """
    if len(data) // BY_NUMBER[dtype].itemsize:
        raise ValueError(f"could not determine the shape of object type '{type_name(data)}'")
    if isinstance(data, TypedStorage):
        kind = enum_value(data.dtype)
        if not infer and kind != dtype:
            raise RuntimeError(
                f"Expected a Storage of type {CPP_NAMES[BY_NUMBER[dtype]]} or an UntypedStorage, "
                f"but got {CPP_NAMES[data.dtype]}"
            )
        dtype = kind
    return empty([0], dtype=dtype, layout=_STRIDED, device=data.device, pin_memory=pin_memory)


def check_storage(storage: Any, dtype: DType, shown: str) -> None:
    """RuntimeError for a storage of elements of another dtype, which is ``shown`` so."""
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        raise RuntimeError(
            f"Expected a Storage of type {shown} or an UntypedStorage, but got type "
            f"{CPP_NAMES[storage.dtype]} for argument 1 'storage'"
        )


def empty(size: list[Any], **options: Any) -> Any:
    return call_operator("aten::empty.memory_format", size=size, **options)


def tensor_from_numpy(array: Any, *, warn: bool = True) -> Any:
    """A tensor of an array's memory, lifted into whatever mode is active."""
    if not isinstance(array, np.ndarray):
        raise type_error(f"expected np.ndarray (got {type_name(array)})")
    return call_operator("aten::lift_fresh", self=around_array(array, warn=warn))


def around_array(array: Any, *, warn: bool) -> Tensor:
    storage, strides, dtype = numpy_bridge.storage_of(array, warn=warn)
    return Tensor._make(array.shape, dtype, storage=storage, strides=strides)


# --- the functions ----------------------------------------------------------------------------


def default_scalar_type() -> int:
    return enum_value(get_default_dtype())


def scalar_type(parsed: Parsed, default: int) -> int:
    """``scalartypeWithDefault`` of the parameter ``dtype``."""
    return default if is_absent(parsed, "dtype") else value(parsed, "dtype")


def _tensor(receiver: None, parsed: Parsed) -> Any:
    data = value(parsed, "data")
    if isinstance(data, Tensor):
        _warn_of_copying("torch.tensor(sourceTensor)")
    value(parsed, "device")
    made = new_from_data(
        data,
        scalar_type(parsed, default_scalar_type()),
        value(parsed, "device"),
        copy_tensors=True,
        copy_arrays=True,
        infer=is_absent(parsed, "dtype"),
        pin_memory=value(parsed, "pin_memory"),
    )
    return _leaf(made, value(parsed, "requires_grad"))


def _new_tensor(receiver: Tensor, parsed: Parsed) -> Any:
    data = value(parsed, "data")
    if isinstance(data, Tensor):
        _warn_of_copying("tensor.new_tensor(sourceTensor)")
    device = value(parsed, "device")
    check_has_device(receiver)
    own = Device(receiver.device.type)
    if device is None and isinstance(data, Tensor) and _COPIES_TO_RECEIVER:
        device = own
    made = new_from_data(
        data,
        scalar_type(parsed, enum_value(receiver.dtype)),
        device,
        copy_tensors=True,
        copy_arrays=True,
        infer=False,
        default_device=own,
    )
    return _leaf(made, value(parsed, "requires_grad"))


_TRANSFORM: Final = functionality_bit(DispatchKey.FuncTorchDynamicLayerFrontMode)
"""Included within a transform, which sees that a new tensor is made a leaf; autograd hides it."""


def _leaf(made: Any, requires_grad: bool) -> Any:
    """What comes of the data; RuntimeError where a mode answered that nothing does."""
    if made is None:
        raise RuntimeError("cannot call get_autograd_meta() on undefined tensor")
    if tls.local_dispatch_key_set().included & _TRANSFORM:
        call_operator("aten::detach_", self=made)
    made._set_requires_grad(requires_grad)
    return made


def check_has_device(tensor: Tensor) -> None:
    """RuntimeError for a tensor whose highest key is one of values that are not as they are kept.

    A tensor like another is made for that key (``legacyExtractDispatchKey``).
    """
    for key in (DispatchKey.ZeroTensor, DispatchKey.Negative, DispatchKey.Conjugate):
        if tensor._keys & functionality_bit(key):
            raise RuntimeError(f"DispatchKey {key_name(key)} doesn't correspond to a device")


def _warn_of_copying(call: str) -> None:
    warnings.warn(
        f"To copy construct from a tensor, it is recommended to use {_COPY_ADVICE} or "
        f"{_COPY_ADVICE}.requires_grad_(True), rather than {call}.",
        UserWarning,
        stacklevel=level_of_python(),
    )


def _as_tensor(receiver: None, parsed: Parsed) -> Any:
    return new_from_data(
        value(parsed, "data"),
        scalar_type(parsed, default_scalar_type()),
        value(parsed, "device"),
        copy_tensors=False,
        copy_arrays=False,
        infer=is_absent(parsed, "dtype"),
    )


def _from_numpy(receiver: None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return tensor_from_numpy(*args)


def _nested_tensor(receiver: None, parsed: Parsed) -> Any:
    """Each tensor of a list is detached, each nested sequence becomes a tensor."""
    data = value(parsed, "data")
    if not isinstance(data, list):
        raise TypeError(
            "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor"
        )
    dtype, device = scalar_type(parsed, default_scalar_type()), value(parsed, "device")
    tensors = [_nested_element(item, dtype, is_absent(parsed, "dtype")) for item in data]
    first = tensors[0] if tensors else None
    return call_operator(
        "aten::_nested_tensor_from_tensor_list",
        list=tensors,
        dtype=dtype if first is None or not is_absent(parsed, "dtype") else first.dtype,
        device=device or (Device("cpu") if first is None else first.device),
        pin_memory=value(parsed, "pin_memory"),
    )


def _nested_element(item: Any, dtype: int, infer: bool) -> Any:
    if isinstance(item, Tensor):
        return call_operator("aten::detach", self=item)
    return new_from_data(item, dtype, None, copy_tensors=True, copy_arrays=True, infer=infer)


# --- memory of other objects ------------------------------------------------------------------


def _frombuffer(receiver: None, parsed: Parsed) -> Any:
    buffer = value(parsed, "buffer")
    dtype = BY_NUMBER[value(parsed, "dtype")]
    count, offset = value(parsed, "count"), value(parsed, "offset")
    if not has_buffer(buffer):
        raise ValueError("object does not implement Python buffer protocol.")
    return tensor_frombuffer(buffer, dtype, count, offset, value(parsed, "requires_grad"))


def has_buffer(value: Any) -> bool:
    """``PyObject_CheckBuffer``."""
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def tensor_frombuffer(
    buffer: Any, dtype: DType, count: int, offset: int, requires_grad: bool
) -> Tensor:
    """``count`` elements of a buffer from a byte on; all to its end if the count is negative."""
    memory = (
        np.frombuffer(buffer, np.uint8)
        if len(memoryview(buffer).tobytes())
        else np.empty(0, np.uint8)
    )
    if not memory.flags.writeable:
        warn_once(
            "tensor_frombuffer",
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. "
            "This means you can write to the underlying (supposedly non-writable) buffer using the "
            "tensor. You may want to copy the buffer to protect its data or make it writable "
            "before converting it to a tensor. This type of warning will be suppressed for the "
            "rest of this program.",
        )
    length, itemsize = memory.size, dtype.itemsize
    _check_range(length, itemsize, count, offset)
    count = (length - offset) // itemsize if count < 0 else count
    if offset + count * itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({length} bytes)"
        )
    storage = UntypedStorage._around(memory[offset : offset + count * itemsize])
    return Tensor._make((count,), dtype, storage=storage, requires_grad=requires_grad)


def _check_range(length: int, itemsize: int, count: int, offset: int) -> None:
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({itemsize})"
        )


def _asarray(receiver: None, parsed: Parsed) -> Any:
    data, copy = value(parsed, "obj"), value(parsed, "copy")
    dtype = None if is_absent(parsed, "dtype") else value(parsed, "dtype")
    device, requires_grad = value(parsed, "device"), value(parsed, "requires_grad")
    if requires_grad is None:  # where the signature has no default of its own
        requires_grad = isinstance(data, Tensor) and data.requires_grad
        if requires_grad:
            warn_once(
                "asarray",
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad "
                "instead of False. Pass requires_grad=False explicitly to get the old behavior "
                "and silence this warning.",
            )
    if isinstance(data, (np.ndarray, np.generic)):
        tensor, copy = _of_numpy(data, copy)
    else:
        tensor = _shared(data, dtype, requires_grad)
    if tensor is not None:
        found = _copied_if_needed(tensor, dtype, device, copy)
        if found is tensor and isinstance(data, np.ndarray):
            numpy_bridge.warn_if_not_writable(data)
        if not found.is_leaf and not requires_grad:
            return call_operator("aten::detach", self=found)
        return _requiring(found, requires_grad)
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    made = new_from_data(
        data,
        default_scalar_type() if dtype is None else dtype,
        device,
        copy_tensors=False,
        copy_arrays=False,
        infer=dtype is None,
    )
    return _requiring(made, requires_grad)


def _requiring(tensor: Tensor, requires_grad: bool) -> Tensor:
    tensor._set_requires_grad(requires_grad)
    return tensor


def _of_numpy(data: Any, copy: bool | None) -> tuple[Any, bool | None]:
    """A tensor of an array's memory, and whether it must be copied still.

    What has no dimensions counts as a scalar, and is copied already.
    """
    if isinstance(data, np.generic) and copy is False:
        raise RuntimeError(
            "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. "
        )
    tensor = tensor_from_numpy(np.asarray(data), warn=False)
    if np.ndim(data):
        return tensor, copy
    return call_operator("aten::clone", self=tensor), None if copy is None else False


def _shared(data: Any, dtype: int | None, requires_grad: bool) -> Any:
    """A tensor of the object's own memory; None if it has none to share."""
    if isinstance(data, Tensor):
        return data
    if dlpack.is_capsule(data):
        return dlpack.from_dlpack(data)
    if has_buffer(data):
        kind = _dtype_of_buffer(data) if dtype is None else BY_NUMBER[dtype]
        return tensor_frombuffer(data, kind, -1, 0, requires_grad)
    return None


def _dtype_of_buffer(data: Any) -> DType:
    """What its format says, in releases that read it; ValueError for one of no dtype."""
    refusal = profile.active().messages.get("unknown_buffer_format")
    if refusal is None:
        return get_default_dtype()
    form = memoryview(data).format or "B"
    if form[0] in ">!":  # NumPy alone makes those here, and this machine's order is the other
        raise ValueError(
            f"buffer has non-native byte order (format '{form}'), which torch.asarray cannot "
            "reinterpret without copying. Convert the buffer to native byte order first "
            "(e.g. with numpy's arr.byteswap().view(arr.dtype.newbyteorder()))."
        )
    found = _BUFFER_DTYPES.get(form.lstrip("@=<"))
    if found is None:
        raise ValueError(refusal.replace("{}", form))
    return DTYPES[found]


_BUFFER_DTYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys("cB", "uint8"),
    "b": "int8",
    "?": "bool",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    **dict.fromkeys("lqn", "int64"),
    **dict.fromkeys("LQN", "uint64"),
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "Zf": "complex64",
    "Zd": "complex128",
}
"""By the format, as the module ``struct`` writes it."""


def _copied_if_needed(
    tensor: Tensor, dtype: int | None, device: Device | None, copy: bool | None
) -> Any:
    """The tensor itself if nothing speaks against it; ValueError if it must be and cannot."""
    wrong_device = device is not None and device != tensor.device
    wrong_dtype = dtype is not None and dtype != enum_value(tensor.dtype)
    if copy or (copy is None and (wrong_device or wrong_dtype)):
        if not (wrong_device or wrong_dtype):
            return call_operator("aten::clone", self=tensor)
        wanted = enum_value(tensor.dtype) if dtype is None else dtype
        return _moved(tensor, device or tensor.device, wanted, bool(copy))
    if wrong_device:
        raise ValueError(f"can't alias tensor from device '{tensor.device}' to '{device}'.")
    if wrong_dtype and dtype is not None:
        raise ValueError(
            f"can't alias tensor with dtype '{CPP_NAMES[tensor.dtype]}' into dtype "
            f"'{CPP_NAMES[BY_NUMBER[dtype]]}'."
        )
    return tensor


RUNNERS: Final[Mapping[str, Runner]] = {
    "tensor": _tensor,
    "as_tensor": _as_tensor,
    "asarray": _asarray,
    "frombuffer": _frombuffer,
    "new_tensor": _new_tensor,
    "nested_tensor": _nested_tensor,
}
"""By the name of the C function."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {"from_numpy": _from_numpy}
"""Functions that take their arguments as CPython hands them over."""
