"""Typed storages: a storage seen as elements of a dtype.

Mirrors the class ``TypedStorage`` of ``torch/storage.py``, which torch deprecates; its legacy
subclasses, sharing and files are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mindtorch_v2.by_position import by_position
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import construct, seen_storages
from mindtorch_v2.tensor.absent_devices import check_storage
from mindtorch_v2.tensor.conversions import item
from mindtorch_v2.tensor.copying import fill
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.made_in_c import NamedAsInC
from mindtorch_v2.tensor.storage import UntypedStorage, typename
from mindtorch_v2.tensor.support import CPP_NAMES, check_dtype
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import get_item

_READ_AS: Final = {
    DTYPES["quint8"]: DTYPES["uint8"],
    DTYPES["quint4x2"]: DTYPES["uint8"],
    DTYPES["quint2x4"]: DTYPES["uint8"],
    DTYPES["qint32"]: DTYPES["int32"],
    DTYPES["qint8"]: DTYPES["int8"],
}
"""What the elements of a quantized storage look like."""

_CALLS: Final = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)"
)

_warned: list[bool] = []


def warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Once in a process, at the caller of who calls this; further up with a higher level."""
    if not _warned:
        _warned.append(True)
        warnings.warn(
            "TypedStorage is deprecated. It will be removed in the future and "
            "UntypedStorage will be the only storage class. This should only matter to you if "
            "you are using storages directly.  To access UntypedStorage directly, use "
            "tensor.untyped_storage() instead of tensor.storage()",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


class TypedStorage(metaclass=NamedAsInC):
    """Elements of a dtype in an untyped storage."""

    __module__ = "mindtorch_v2.storage"
    is_sparse: Final = False

    dtype: DType
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
    ) -> None:
        warn_typed_storage_removal()
        if wrap_storage is not None:
            self._wrap(args, wrap_storage, dtype, device)
            return
        self.dtype = dtype or get_default_dtype()
        python = seen_storages.python()
        where = Device(device or "cpu") if python is None else python._device(device or "cpu")
        if not args or isinstance(args[0], (int, np.integer)):
            check_storage(where)
        if not args:
            self._untyped_storage = UntypedStorage._of(0, where)
        elif len(args) > 1:
            raise RuntimeError(_CALLS + "\nToo many positional arguments")
        elif isinstance(args[0], (int, np.integer)):
            self._untyped_storage = UntypedStorage._of(int(args[0]) * self._element_size(), where)
        elif not isinstance(args[0], Sequence):
            raise TypeError(_CALLS + f"\nArgument type not recognized: {type(args[0])}")
        else:
            if python is not None:
                self._untyped_storage = python._of_sequence(args[0], self._read_as, where)
            else:
                data = construct.new_from_data(args[0], self._read_as, where, copy=True)
                self._untyped_storage = data.untyped_storage()

    def _wrap(
        self,
        args: tuple[Any, ...],
        storage: Any,
        dtype: DType | None,
        device: Device | str | None,
    ) -> None:
        if args:
            raise RuntimeError(
                _CALLS + "\nNo positional arguments should be given when using 'wrap_storage'"
            )
        if dtype is None:
            raise RuntimeError(_CALLS + "\nArgument 'dtype' must be specified")
        if not isinstance(dtype, DType):
            raise TypeError(_CALLS + f"\nArgument 'dtype' must be torch.dtype, not {type(dtype)}")
        if device is not None:
            raise RuntimeError(
                _CALLS + "\nArgument 'device' should not be specified when 'wrap_storage' is given"
            )
        if not isinstance(storage, UntypedStorage):
            raise TypeError(
                _CALLS
                + f"\nArgument 'wrap_storage' must be UntypedStorage, but got {type(storage)}"
            )
        self.dtype, self._untyped_storage = dtype, storage

    @classmethod
    def _of(cls, storage: UntypedStorage, dtype: DType) -> TypedStorage:
        self = cls.__new__(cls)
        self.dtype, self._untyped_storage = dtype, storage
        return self

    # --- questions ----------------------------------------------------------------------------

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    @property
    def device(self) -> Device:
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        return self._untyped_storage.is_cuda

    def _element_size(self) -> int:
        """By way of ``finfo`` and ``iinfo``, which do not take every dtype."""
        dtype = self.dtype
        if not (dtype.is_floating_point or dtype.is_complex or dtype is DTYPES["bool"]):
            check_dtype("iinfo", dtype)
        return dtype.itemsize

    def element_size(self) -> int:
        return self._element_size()

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        return self._untyped_storage.nbytes() // self._element_size()

    def __len__(self) -> int:
        return self.size()

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def resizable(self) -> bool:
        return self._untyped_storage.resizable()

    def get_device(self) -> int | None:
        return self._untyped_storage.get_device()

    def pickle_storage_type(self) -> str:
        return f"{CPP_NAMES[self.dtype]}Storage"

    def type(self) -> str:
        """The name of the legacy class for such storages, or of this one if there is none."""
        return (
            f"torch.{self.pickle_storage_type()}" if self.device.type == "cpu" else typename(self)
        )

    def is_shared(self) -> bool:
        return False

    def is_pinned(self, device: Device | str = "cuda") -> bool:
        return False

    # --- elements -----------------------------------------------------------------------------

    def _tensor(self) -> Tensor:
        """All elements, as a tensor of them."""
        size, storage = self.size(), self.untyped()
        return Tensor._make((size,), self._read_as, device=self.device, storage=storage)

    @property
    def _read_as(self) -> DType:
        return _READ_AS.get(self.dtype, self.dtype)

    def _check_index(self, index: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")

    def __getitem__(self, index: Any) -> Any:
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        self._check_index(index)
        if type(index) is not int:
            raise TypeError(f"can't index a {type(self)} with {type(index)}")
        size = self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        python = seen_storages.python()
        if python is not None:
            return python._get_item(self, self._read_as, index % size)
        return item(get_item(self._tensor(), index % size))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_index(index)
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._set_item(index, value)

    def _set_item(self, index: int | slice, value: Any) -> None:
        python = seen_storages.python()
        if python is not None:
            python._set_item(self, self._read_as, index, value)
        else:
            fill(get_item(self._tensor(), index), value)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(self.size()))

    def tolist(self) -> list[Any]:
        return list(self)

    def __repr__(self) -> str:
        info = f"[{typename(self)}(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
        if self.device.type == "meta":
            return "...\n" + info
        return " " + "\n ".join(map(str, self)) + "\n" + info

    # --- changes and copies -------------------------------------------------------------------

    def fill_(self, value: Any) -> TypedStorage:
        self._set_item(slice(0, self.size()), value)
        return self

    def copy_(
        self, source: TypedStorage | UntypedStorage, non_blocking: bool | None = None
    ) -> TypedStorage:
        held = source._untyped_storage if isinstance(source, TypedStorage) else source
        self._untyped_storage.copy_(held, non_blocking)
        return self

    def resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self._element_size())

    def clone(self) -> TypedStorage:
        return TypedStorage._of(self._untyped_storage.clone(), self.dtype)

    def to(self, *, device: Device | str, non_blocking: bool = False) -> TypedStorage:
        moved = self._untyped_storage.to(device=device, non_blocking=non_blocking)
        return TypedStorage._of(moved, self.dtype)

    def cpu(self) -> TypedStorage:
        return TypedStorage._of(self._untyped_storage.cpu(), self.dtype)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return TypedStorage._of(self._untyped_storage.__deepcopy__(memo), self.dtype)

    def _to(self, dtype: DType) -> TypedStorage:
        python = seen_storages.python()
        converted: TypedStorage
        converted = convert(self._tensor(), dtype) if python is None else python._to(self, dtype)
        return converted

    def __eq__(self, other: object) -> bool:
        """Whether both are the same storage seen as the same dtype."""
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype is other.dtype and self._untyped_storage is other._untyped_storage

    __hash__ = object.__hash__


def convert(elements: Tensor, dtype: DType) -> TypedStorage:
    """A storage of its own, with ``elements`` as another dtype."""
    copy = elements._detached()._fresh(dtype=dtype)
    return TypedStorage._of(copy.untyped_storage(), dtype)


def _converters() -> None:
    """``storage.float()`` and its like, of both kinds of storages."""
    same = [name for name in DTYPES if name.startswith("float8_e") and "m0" not in name]
    same += ["double", "float", "half", "long", "int", "short", "bool", "bfloat16"]
    names = {name: name for name in same}
    names |= {"char": "int8", "byte": "uint8"}
    names |= {"complex_double": "cdouble", "complex_float": "cfloat"}
    for name, target in names.items():
        for cls in (TypedStorage, UntypedStorage):
            setattr(cls, name, _converter(name, cls, DTYPES[target]))


def _converter(name: str, cls: type, dtype: DType) -> Any:
    def convert_storage(self: Any) -> TypedStorage:
        if isinstance(self, TypedStorage):
            return self._to(dtype)
        return TypedStorage._of(self, DTYPES["uint8"])._to(dtype)

    convert_storage.__name__ = name
    convert_storage.__qualname__ = f"{cls.__name__}.{name}"
    return convert_storage


_converters()


def storage(tensor: Tensor) -> TypedStorage:
    """``Tensor.storage``."""
    warn_typed_storage_removal(stacklevel=3)
    return TypedStorage._of(tensor.untyped_storage(), tensor.dtype)


@by_position
def is_storage(obj: object, /) -> bool:
    return isinstance(obj, (TypedStorage, UntypedStorage))
