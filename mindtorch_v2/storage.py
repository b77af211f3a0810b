"""``torch.storage``: storages, and how one is written down."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2 import profile
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.storage import UntypedStorage, typename
from mindtorch_v2.tensor.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

_WRITTEN: Final = frozenset(profile.active().values["storage_types"])
"""``_dtype_to_storage_type_map``: dtypes that a storage is written down with."""


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
    name = str(self.dtype).rpartition(".")[2]
    if name not in _WRITTEN:
        raise KeyError(f"dtype {self.dtype} is not recognized")
    data = bytes(self._untyped_storage)
    return _load_from_bytes, (name.encode() + b"\n" + data,)


UntypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
TypedStorage.__reduce__ = _reduce  # type: ignore[method-assign]
