"""``torch.storage``: storages, and how one is written down."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.legacy_storages import NAMES
from mindtorch_v2.tensor.legacy_storages import _LegacyStorage as _LegacyStorage
from mindtorch_v2.tensor.storage import UntypedStorage, typename
from mindtorch_v2.tensor.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


def _dtype_to_storage_type_map() -> dict[DType, str]:
    return dict(NAMES)


def _storage_type_to_dtype_map() -> dict[str, DType]:
    return {name: dtype for dtype, name in NAMES.items()}


def _load_from_bytes(b: bytes) -> TypedStorage:
    """A storage from the name of its dtype, a line's end, and its bytes.

    The form is this package's own, not that of ``torch.save``.
    """
    name, _, data = b.partition(b"\n")
    storage = UntypedStorage(len(data))
    if data:
        storage._bytes[:] = np.frombuffer(data, np.uint8)  # type: ignore[index]
    return TypedStorage._of(storage, DTYPES[name.decode()])


def _reduce(self: Any) -> Any:
    """AttributeError for a storage without a dtype, KeyError for a dtype without a name."""
    if isinstance(self, UntypedStorage):
        raise AttributeError(f"type object '{typename(self)}' has no attribute 'dtype'")
    if self.dtype not in NAMES:
        raise KeyError(f"dtype {self.dtype} is not recognized")
    name = str(self.dtype).rpartition(".")[2]
    data = bytes(self._untyped_storage)
    return _load_from_bytes, (name.encode() + b"\n" + data,)


UntypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
TypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
