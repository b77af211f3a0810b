"""DLPack capsules: tensors as other libraries take them, and those that they give.

Mirrors ``aten/src/ATen/DLConvertor.cpp`` and ``tensor_fromDLPack`` for the host's memory, which is
all that there is to share.  NumPy makes the capsules and takes them over: its C code, and not a
callback into Python, gives memory back, at the interpreter's end too.  The structure of
``dlpack.h`` in a capsule is read, and its dtype written, through ``ctypes``, for NumPy knows fewer
dtypes than DLPack.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any, Final, cast

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.copying import raw_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, storage_bytes
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

IS_VERSIONED: Final = HABITS["what DLPack cannot tell is a BufferError"]
"""Whether the release speaks DLPack 1.0 besides 0.8."""
Refusal: Final[type[Exception]] = BufferError if IS_VERSIONED else RuntimeError

CPU: Final = 1
"""``kDLCPU``."""
_UINT: Final = 1
_NAMES: Final = (b"dltensor", b"dltensor_versioned") if IS_VERSIONED else (b"dltensor",)
_WHOLE: Final = {
    "bool": (6, 8, 1),
    **{f"uint{bits}": (_UINT, bits, 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": (0, bits, 1) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits, 1) for bits in (16, 32, 64)},
    **{f"complex{bits}": (5, bits, 1) for bits in (32, 64, 128)},
    "bfloat16": (4, 16, 1),
}
"""By dtype: code, bits and lanes."""
_NEWER: Final = {
    "float8_e4m3fn": (10, 8, 1),
    "float8_e4m3fnuz": (11, 8, 1),
    "float8_e5m2": (12, 8, 1),
    "float8_e5m2fnuz": (13, 8, 1),
    "float8_e8m0fnu": (14, 8, 1),
    "float4_e2m1fn_x2": (17, 4, 2),
}
"""What came with 1.0, or soon after."""
_PARTS_OF_BYTES: Final = {
    f"{kind}{bits}": (code, 8, 1)
    for kind, code in (("uint", _UINT), ("int", 0))
    for bits in range(1, 8)
}
"""What goes out as whole bytes, and comes back as such."""
_COMING: Final = {**_WHOLE, **(_NEWER if HABITS["DLPack has floats of eight bits"] else {})}
_GOING: Final = {**_COMING, **_PARTS_OF_BYTES}
_DTYPE_OF: Final = {number: DTYPES[name] for name, number in _COMING.items() if name in DTYPES}
_KINDS: Final = {0: "kInt", _UINT: "kUInt", 2: "kFloat", 4: "kFloat", 5: "kFloat", 6: "kDLBool"}
"""Codes, and what messages call them."""


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """``DLManagedTensorVersioned``; one without a version begins with its tensor."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", _DLTensor),
    )


_is_valid: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _opened(capsule: Any) -> _DLTensor | None:
    """What a capsule holds that nobody has taken."""
    for name in _NAMES:
        if _is_valid(capsule, name):
            address = _pointer(capsule, name)
            if name == _NAMES[0]:
                return _DLTensor.from_address(address)
            found = _Versioned.from_address(address).dl_tensor
            return cast("_DLTensor", found)
    return None


def is_capsule(value: Any) -> bool:
    """Whether it is one that nobody has taken, of the oldest kind."""
    return bool(_is_valid(value, _NAMES[0]))


# --- out ------------------------------------------------------------------------------------------


def to_dlpack(tensor: Tensor, *, versioned: bool = False) -> Any:
    """A capsule that shares the tensor's memory; bits of conjugates and negatives are not told.

    :raises RuntimeError, BufferError: by the release, for a device or a dtype without a number.
    """
    device, dtype = tensor.device, tensor.dtype
    if device.type != "cpu":
        raise Refusal(f"Cannot pack tensors on {device}")
    number = _number_or_refuse(dtype)
    if _is_to_be_normalised(tensor):
        tensor = _with_strides_of_one(tensor)
    if tensor._storage is None:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    if is_zero_tensor(tensor):
        raise BufferError("a tensor of zeros that are not stored has no memory: share its clone()")
    tensor._untyped_storage()._is_exported = True
    array = raw_array(tensor)
    numbers = array.view(f"u{array.itemsize}") if array.itemsize <= 8 else array
    numbers = numbers.view(_with_strides())
    options: dict[str, Any] = {"max_version": (1, 0)} if versioned else {}
    capsule = numbers.__dlpack__(**options)
    opened = _opened(capsule)
    assert opened is not None
    opened.code, opened.bits, opened.lanes = number
    if not opened.strides:  # as older releases have it where elements lie row by row
        numbers.told = (ctypes.c_int64 * opened.ndim)()
        opened.strides = ctypes.cast(numbers.told, ctypes.POINTER(ctypes.c_int64))
    for dim, stride in enumerate(tensor._strides):  # which NumPy's are not where nothing is
        opened.strides[dim] = stride
    return capsule


@cache
def _with_strides() -> type[Any]:
    """The class of an array that a capsule keeps, and so the strides that it tells.

    Made when NumPy is needed first, which is imported then.
    """
    return type("WithStrides", (np.ndarray,), {"told": None})


def _number_or_refuse(dtype: DType) -> tuple[int, int, int]:
    name = str(dtype).removeprefix("torch.")
    number = _GOING.get(name)
    if number is not None:
        return number
    if dtype._is_quantized:
        raise Refusal("QUInt/QInt types are not supported by dlpack")
    if name == "bcomplex32":
        raise Refusal("BComplex32 type is not supported by dlpack")
    few = re.match("float[48]", name)
    raise Refusal(f"{few.group() if few else 'Bit'} types are not supported by dlpack")


def _is_to_be_normalised(tensor: Tensor) -> bool:
    """Whether a dimension that has no second element is told with a stride of one.

    Once it always was; for a while only where that stride is not the contiguous one, which is
    looked at from the last dimension on.
    """
    if HABITS["DLPack tells the stride of one element"]:
        return False
    if not HABITS["DLPack leaves strides that are contiguous"]:
        return True
    contiguous = 1
    sizes: Any = tensor.size()
    strides: Any = tensor.stride()
    for size, stride in reversed(tuple(zip(sizes, strides, strict=True))):
        if stride != contiguous and size < 2:
            return True
        contiguous *= size
    return False


def _with_strides_of_one(tensor: Any) -> Any:
    """Strides of dimensions that have no second element are normalised."""
    pairs = zip(tensor.size(), tensor.stride(), strict=True)
    strides = [1 if size < 2 else stride for size, stride in pairs]
    return tensor.as_strided(tensor.size(), strides, tensor.storage_offset())


# --- in -------------------------------------------------------------------------------------------


def from_dlpack(capsule: Any) -> Tensor:
    """A tensor that shares the memory of a capsule, which it takes.

    :raises RuntimeError: for what is no such capsule, or was taken already.
    :raises RuntimeError, BufferError: by the release, for a device or a dtype that is none here.
    """
    opened = _opened(capsule)
    if opened is None:
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
            "only once, so you might have already constructed a tensor from it once."
        )
    if opened.device_type != CPU:
        raise Refusal(f"Unsupported device_type: {opened.device_type}")
    dtype = _dtype_or_refuse(opened)
    shape = tuple(opened.shape[dim] for dim in range(opened.ndim))
    strides = _strides_of(opened, shape)
    first = (opened.data or 0) + opened.byte_offset
    if dtype.itemsize <= 8:  # unsigned, NumPy knows them all
        opened.code, opened.bits, opened.lanes = _UINT, 8 * dtype.itemsize, 1
    owner = np.from_dlpack(_Given(capsule))
    count = storage_bytes(shape, strides, 0, dtype.itemsize) if numel(shape) else 0
    memory = _memory(first, count, owner)
    return Tensor._make(shape, dtype, storage=UntypedStorage._around(memory), strides=strides)


def _dtype_or_refuse(opened: _DLTensor) -> DType:
    dtype = _DTYPE_OF.get((opened.code, opened.bits, opened.lanes))
    if dtype is not None:
        return dtype
    if opened.lanes != 1:
        raise Refusal("ATen does not support lanes != 1")
    if opened.code not in _KINDS:
        raise Refusal(f"Unsupported code {opened.code}")
    raise Refusal(f"Unsupported {_KINDS[opened.code]} bits {opened.bits}")


def _strides_of(opened: _DLTensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    if opened.strides:
        return tuple(opened.strides[dim] for dim in range(opened.ndim))
    strides = [1]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * max(size, 1))
    return tuple(strides) if shape else ()


class _Given:
    """A capsule as the producer that NumPy asks for it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0


def _memory(address: int, count: int, owner: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes that may be written, whatever NumPy says of ``owner``, which they keep alive."""
    if not count:
        return np.empty(0, np.uint8)
    held = (ctypes.c_uint8 * count).from_address(address)
    held.owner = owner  # type: ignore[attr-defined]
    memory: np.ndarray[Any, np.dtype[np.uint8]] = np.frombuffer(memoryview(held), np.uint8)
    return memory
