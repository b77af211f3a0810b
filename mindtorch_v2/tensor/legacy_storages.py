"""Typed storages by the name of their dtype: ``torch.FloatStorage`` and its like.

Mirrors ``_LegacyStorage`` of ``torch/storage.py`` and its subclasses in ``torch/__init__.py``.
Nothing is an object of these classes: they make typed storages, and know those of their dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from mindtorch_v2 import profile
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.typed_storage import TypedStorage, warn_typed_storage_removal

_CALLS: Final = (
    "{}.__new__ received an invalid combination of arguments. Expected one of:\n"
    " * no arguments\n"
    " * (int size)\n"
    " * (Sequence data)\n"
    " * (*, UntypedStorage wrap_storage)"
)

_IN_ORDER: Final = (
    *("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"),
    *("bfloat16", "complex128", "complex64", "qint8", "qint32", "quint8", "quint4x2", "quint2x4"),
)
_WRITTEN: Final = profile.active().values["storage_types"]

NAMES: Final[dict[DType, str]] = {
    DTYPES[name]: f"{CPP_NAMES[DTYPES[name]]}Storage"
    for name in sorted(_WRITTEN, key=_IN_ORDER.index)
}
"""``_dtype_to_storage_type_map``: dtypes that a storage is written down with."""


class _LegacyStorageMeta(type(TypedStorage)):  # type: ignore[misc]
    """The class of these classes."""

    __module__ = "mindtorch_v2.storage"
    _dtype: DType

    @property
    def dtype(cls) -> DType:
        warn_typed_storage_removal()
        return cls._dtype

    def __instancecheck__(cls, instance: object) -> bool:
        if type(instance) is not TypedStorage:
            return False
        return instance.device.type == "cpu" and instance.dtype is cls._dtype


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    __module__ = "mindtorch_v2.storage"

    def __new__(
        cls,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: DType | None = None,
        device: Any = None,
    ) -> Any:
        warn_typed_storage_removal()
        if cls is _LegacyStorage:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        if device is not None:
            cls._refuse(RuntimeError, "Keyword argument 'device' cannot be specified")
        if dtype is not None:
            cls._refuse(RuntimeError, "Keyword argument 'dtype' cannot be specified")
        if wrap_storage is not None:
            return cls._around(args, wrap_storage)
        if len(args) > 1:
            cls._refuse(RuntimeError, "Too many positional arguments")
        if args and not isinstance(args[0], (int, np.integer, Sequence)):
            cls._refuse(TypeError, f"Argument type not recognized: {type(args[0])}")
        return TypedStorage(*args, dtype=cls._dtype)

    @classmethod
    def _around(cls, args: tuple[Any, ...], storage: Any) -> TypedStorage:
        if args:
            cls._refuse(
                RuntimeError,
                "No positional arguments should be given when using 'wrap_storage'",
            )
        if not isinstance(storage, UntypedStorage):
            cls._refuse(
                TypeError,
                f"Argument 'wrap_storage' must be UntypedStorage, but got {type(storage)}",
            )
        where = storage.device.type
        if where != "cpu":
            cls._refuse(RuntimeError, f"Device of 'wrap_storage' must be cpu, but got {where}")
        return TypedStorage._of(storage, cls._dtype)

    @classmethod
    def _refuse(cls, error: type[Exception], why: str) -> NoReturn:
        raise error(f"{_CALLS.format(cls)}\n{why}")


CLASSES: Final[dict[str, type]] = {
    name: _LegacyStorageMeta(
        name, (_LegacyStorage,), {"__module__": "mindtorch_v2", "_dtype": dtype}
    )
    for dtype, name in NAMES.items()
}
"""What ``torch`` has, by name."""


def class_of(dtype: DType, device: Device) -> type | None:
    """``_get_legacy_storage_class``: None where a release has no class for that."""
    return CLASSES.get(NAMES.get(dtype, "")) if device.type == "cpu" else None
