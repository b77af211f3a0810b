"""How calls about untyped storages are read, and storages of the bytes of a buffer.

Mirrors ``THPStorage_pynew`` in ``torch/csrc/Storage.cpp``, and ``THPStorage_copy_`` and
``THPStorage_fromBuffer`` in ``torch/csrc/StorageMethods.cpp``.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.python.manual import is_absent, value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import storage
from mindtorch_v2.tensor.absent_devices import check_storage
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import CPP_NAMES

_NAME: Final = "torch.UntypedStorage"


@cache
def _constructor() -> ArgParser:
    options = "*, int64_t allocator=None, Device device=None"
    return ArgParser(
        [
            f"{_NAME}({options})",
            f"{_NAME}(int64_t size, {options})",
            f"{_NAME}(PyObject* sequence, {options})",
        ]
    )


@cache
def _copying() -> ArgParser:
    return ArgParser(["copy_(Storage src, bool? non_blocking=None)"])


def _arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int | None, Any, Device | None]:
    """A size in bytes or a sequence of them, and a device."""
    parsed = _constructor().parse(None, args, kwargs)
    device = None if is_absent(parsed, "device") else value(parsed, "device")
    if not is_absent(parsed, "allocator") and value(parsed, "allocator") is not None:
        if device is not None:
            raise RuntimeError(
                f"{_NAME}(): only one or neither of 'allocator' or 'device' can be given, "
                "but not both"
            )
        raise NotImplementedError("mindtorch_v2 has no allocators at an address")
    if device is not None:
        check_storage(device)
    if parsed.chosen == 2:
        return None, value(parsed, "sequence"), device
    return (value(parsed, "size") if parsed.chosen == 1 else 0), None, device


def _copied(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return value(_copying().parse(None, args, kwargs), "src")


# --- the bytes of a buffer --------------------------------------------------------------------

_ONE_BYTE: Final = tuple(
    DTYPES[name]
    for name in ("uint8", "int8", *(name for name in DTYPES if name.startswith("float8_e")))
    if name != "float8_e8m0fnu"
)
"""Dtypes whose elements have no order of bytes."""
_DECODED: Final = tuple(
    DTYPES[name]
    for name in (
        *("bool", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
        *("complex64", "complex128"),
    )
)
_NOT_GIVEN: Final = object()


def from_buffer(
    buffer: Any,
    byte_order: Any = None,
    count: int = -1,
    offset: int = 0,
    dtype: Any = _NOT_GIVEN,
) -> UntypedStorage:
    """A storage of ``count`` elements of a buffer from a byte on, of all that follow if negative.

    ``byte_order`` is that of the buffer: ``"big"``, ``"little"`` or ``"native"``.  RuntimeError
    for a dtype that has no such elements, ValueError where the buffer has too few.
    """
    if byte_order is not None and not isinstance(byte_order, str):
        raise TypeError(f"argument 2 must be str, not {type_name(byte_order)}")
    if dtype is _NOT_GIVEN:
        raise RuntimeError("argument 'dtype' cannot be None")
    if not isinstance(dtype, DType):
        raise RuntimeError("argument 'dtype' must be of type torch.dtype")
    swaps = dtype not in _ONE_BYTE and _is_swapped(byte_order)
    data = _part(_bytes_of(buffer), count, offset, dtype)
    if dtype not in (*_ONE_BYTE, *_DECODED):
        raise RuntimeError(f"Unknown type: {CPP_NAMES[dtype]}")
    if dtype is DTYPES["bool"]:
        data = (data != 0).astype(np.uint8)
    elif swaps:
        width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        data = data.reshape(-1, width)[:, ::-1].ravel()
    made = UntypedStorage._of(data.size, Device("cpu"))
    made._put(0, data)
    return made


def _is_swapped(byte_order: str | None) -> bool:
    if byte_order is None:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in ("big", "little", "native"):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    return byte_order not in ("native", sys.byteorder)


def _bytes_of(buffer: Any) -> storage.Bytes:
    try:
        return np.frombuffer(bytes(memoryview(buffer)), np.uint8)
    except TypeError:
        raise TypeError(f"a bytes-like object is required, not '{type_name(buffer)}'") from None


def _part(data: storage.Bytes, count: int, offset: int, dtype: DType) -> storage.Bytes:
    """The bytes of the elements that are asked for."""
    length, width = data.size, dtype.itemsize
    if not 0 <= offset <= length:
        raise ValueError(
            "offset must be non-negative and no greater than buffer length "
            f"({offset}) , but got {length}"
        )
    if count < 0:
        if (length - offset) % width:
            raise ValueError(f"buffer size ({length}) must be a multiple of element size ({width})")
        count = (length - offset) // width
    if offset + count * width > length:
        raise ValueError(
            f"buffer has only {length - offset} elements after offset {offset}, "
            f"but specified a size of {count}"
        )
    return data[offset : offset + count * width]


def install() -> None:
    """Have storages be made and copied as the binding reads their arguments."""
    storage.ARGUMENTS[0] = _arguments
    storage.COPIED[0] = _copied
    UntypedStorage.from_buffer = staticmethod(from_buffer)  # type: ignore[attr-defined]
