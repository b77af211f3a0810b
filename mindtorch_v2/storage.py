"""``torch.storage``: storages, and how one is written down."""

from __future__ import annotations

from typing import Any

import mindtorch_v2 as torch
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.legacy_storages import NAMES
from mindtorch_v2.tensor.legacy_storages import _LegacyStorage as _LegacyStorage
from mindtorch_v2.tensor.made_in_c import tp_name
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


def _dtype_to_storage_type_map() -> dict[DType, str]:
    return dict(NAMES)


def _storage_type_to_dtype_map() -> dict[str, DType]:
    return {name: dtype for dtype, name in NAMES.items()}


def _load_from_bytes(b: bytes) -> TypedStorage:
    """A storage from the name of its dtype, a line's end, and its bytes.

    The form is this package's own, not that of ``torch.save``.  AttributeError for a storage
    without a dtype, which torch writes as well and cannot read.
    """
    name, _, data = b.partition(b"\n")
    if not name:
        raise AttributeError(f"type object '{tp_name(UntypedStorage)}' has no attribute 'dtype'")
    storage = UntypedStorage(len(data))
    if data:
        storage._bytes[:] = np.frombuffer(data, np.uint8)  # type: ignore[index]
    return TypedStorage._of(storage, DTYPES[name.decode()])


# --- what a typed storage does while somebody sees it -------------------------------------------


def _device(device: Any) -> Any:
    return torch.device(device)


def _tensor_of(storage: TypedStorage, dtype: DType) -> Any:
    """All elements, read as of a dtype."""
    made = torch.tensor([], dtype=dtype, device=storage._untyped_storage.device)
    return made.set_(storage if dtype is storage.dtype else _wrapped(storage, dtype))


def _wrapped(storage: TypedStorage, dtype: DType) -> TypedStorage:
    return TypedStorage._of(storage._untyped_storage, dtype)


def _get_item(storage: TypedStorage, dtype: DType, index: int) -> Any:
    return _tensor_of(storage, dtype)[index].item()


def _set_item(storage: TypedStorage, dtype: DType, index: int | slice, value: Any) -> None:
    _tensor_of(storage, dtype)[index] = value


def _to(storage: TypedStorage, dtype: DType) -> TypedStorage:
    converted: TypedStorage = _tensor_of(storage, storage.dtype).to(dtype)._typed_storage()
    return converted.clone() if converted.data_ptr() == storage.data_ptr() else converted


def _of_sequence(sequence: Any, dtype: DType, device: Any) -> UntypedStorage:
    made: Any = torch.tensor(sequence, dtype=dtype, device=device)
    storage: UntypedStorage = made._typed_storage()._untyped_storage
    return storage


# --- pickles ------------------------------------------------------------------------------------


def _reduce(self: Any) -> Any:
    """KeyError for a dtype without a name, NotImplementedError for a storage on meta."""
    name, storage = b"", self
    if isinstance(self, TypedStorage):
        if self.dtype not in NAMES:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        name, storage = str(self.dtype).rpartition(".")[2].encode(), self.untyped()
    if storage.device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return _load_from_bytes, (name + b"\n" + bytes(storage),)


UntypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
TypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
