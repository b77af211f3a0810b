"""Untyped storages: the bytes that a tensor and its views share.

Mirrors ``c10/core/StorageImpl.h``, ``torch/csrc/StorageMethods.cpp`` and the class
``UntypedStorage`` of ``torch/storage.py``.  A storage on meta has a size and no bytes; so has that
of a functional tensor, which refuses more.  Sharing between processes, pinning and files are left
out.  A storage on an accelerator has memory that the host cannot read
(:mod:`~mindtorch_v2.tensor.device_memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import seen_storages
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.device_memory import DeviceMemory, accelerator, allocated_on
from mindtorch_v2.tensor.made_in_c import NamedAsInC
from mindtorch_v2.tensor.pending import Pending, Settling, settling
from mindtorch_v2.tensor.scalars import type_name, unpack_byte, unpack_long
from mindtorch_v2.tensor.support import HABITS, worded

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes: TypeAlias = "npt.NDArray[np.uint8]"

_new: Final = object.__new__

_NOT_ALLOCATED: Final = (
    "The tensor has a non-zero number of elements, but its data is not allocated yet.\nIf you're "
    "using torch.compile/export/fx, it is likely that we are erroneously tracing into a custom "
    "kernel. To fix this, please wrap the custom kernel into an opaque custom op. Please see the "
    "following for details: https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html\n"
    "If you're using Caffe2, Caffe2 uses a lazy allocation, so you will need to call "
    "mutable_data() or raw_mutable_data() to actually allocate memory."
)


def _positional(size: int = 0, device: Device | None = None) -> tuple[int | None, Any, Any]:
    return size, None, device


ARGUMENTS: Final[list[Callable[[Any, Any], tuple[int | None, Any, Device | None]]]] = [
    lambda args, kwargs: _positional(*args, **kwargs)
]
"""Reads of what a storage is made; the Python binding puts its own here, which refuses."""
COPIED: Final[list[Callable[[Any, Any], Any]]] = [lambda args, kwargs: args[0]]
"""The same of what is copied into one: a storage, typed or not."""


class UntypedStorage(metaclass=NamedAsInC):
    """A buffer of bytes on a device.  There is one object for it, however often it is asked for."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_is_exported",
        "_nbytes",
        "_pending",
        "_raw_bytes",
        "_resizable",
        "device",
    )
    __module__ = "mindtorch_v2.storage"
    is_sparse: Final = False
    is_sparse_csr: Final = False

    _bytes: Settling[Bytes | DeviceMemory | None] = settling("_raw_bytes")
    """None on meta, and of a functional tensor."""
    _raw_bytes: Bytes | DeviceMemory | None
    _is_exported: bool
    """Whether others than storages know the memory, and may read or change it at any time."""
    _pending: Pending | None
    _nbytes: int
    device: Device

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Of ``size`` bytes, none if nobody says, or with the bytes of a ``sequence``."""
        size, sequence, device = ARGUMENTS[0](args, kwargs)
        where = device or Device("cpu")
        if size is not None:
            self._allocate(size, where)
            return
        items = _items(sequence)
        self._allocate(len(items), where)
        if self._bytes is not None:
            self._put(0, np.array(items, np.uint8))

    def _allocate(self, nbytes: int, device: Device) -> None:
        self.device, self._nbytes, self._resizable = allocated_on(device), nbytes, True
        self._is_exported, self._pending = False, None
        if device.type == EXTENSION_DEVICE:
            self._bytes = accelerator().allocate(nbytes, self.device)
        else:
            self._bytes = None if device.type == "meta" else _allocated(nbytes)

    @classmethod
    def _of(cls, nbytes: int, device: Device) -> UntypedStorage:
        self = cls.__new__(cls)
        self._allocate(nbytes, device)
        return self

    @classmethod
    def _on_device(cls, memory: DeviceMemory, device: Device) -> UntypedStorage:
        """A storage of new memory of an accelerator."""
        self = cls.__new__(cls)
        self.device, self._nbytes, self._resizable = device, memory.nbytes, True
        self._raw_bytes, self._is_exported, self._pending = memory, False, None
        return self

    @classmethod
    def _owning(cls, memory: Bytes, device: Device) -> UntypedStorage:
        """A storage of new memory that nobody else knows."""
        self = _new(cls)
        self.device, self._nbytes, self._resizable = device, memory.size, True
        self._raw_bytes, self._is_exported, self._pending = memory, False, None
        return self

    @classmethod
    def _around(cls, memory: Bytes, *, resizable: bool = False) -> UntypedStorage:
        """A storage of memory that somebody else has allocated."""
        self = cls.__new__(cls)
        self.device, self._nbytes = Device("cpu"), memory.size
        self._raw_bytes, self._resizable, self._is_exported = memory, resizable, True
        self._pending = None
        return self

    @classmethod
    def _without_memory(cls, nbytes: int, device: Device) -> UntypedStorage:
        """A storage that has a size, on a device, and nothing to read or write."""
        self = cls.__new__(cls)
        self.device, self._nbytes = device, nbytes
        self._raw_bytes, self._resizable, self._is_exported = None, True, False
        self._pending = None
        return self

    # --- questions ----------------------------------------------------------------------------

    @property
    def _cdata(self) -> int:
        """The address of the StorageImpl, which this object is: a number that others have not."""
        return id(self)

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def __len__(self) -> int:
        return self._nbytes

    def nbytes(self) -> int:
        return self._nbytes

    def size(self) -> int:
        return self._nbytes

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        """The address; 0 where there are no bytes.  RuntimeError where there should be some."""
        if self._bytes is None and self._nbytes and self.device.type != "meta":
            raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")
        return self._address()

    def _address(self) -> int:
        if self._bytes is None or not self._nbytes:
            return 0
        if not isinstance(self._bytes, np.ndarray):
            return self._bytes.address
        address: int = self._bytes.__array_interface__["data"][0]
        return address

    def resizable(self) -> bool:
        return self._resizable

    def get_device(self) -> int | None:
        return self.device.index

    def is_pinned(self, device: Device | str = "cuda") -> bool:
        return False

    def is_shared(self) -> bool:
        return False

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_hpu(self) -> bool:
        return self.device.type == "hpu"

    def type(self) -> str:
        return typename(self)

    def untyped(self) -> UntypedStorage:
        return self

    # --- bytes --------------------------------------------------------------------------------

    def _memory(self) -> Bytes:
        """The bytes; of an accelerator's memory a copy, which nobody can write to."""
        if isinstance(self._bytes, np.ndarray):
            return self._bytes
        return self._span(0, self._nbytes)

    def _span(self, start: int, stop: int) -> Bytes:
        """Some of them: all for memory of the host."""
        if self._bytes is None:
            raise RuntimeError(_NOT_ALLOCATED)
        if isinstance(self._bytes, np.ndarray):
            return self._bytes[start:stop]
        copied = self._bytes.read(start, stop)
        copied.flags.writeable = False
        return copied

    def _put(self, start: int, data: Bytes) -> None:
        """Write bytes, into whatever memory there is."""
        if isinstance(self._bytes, np.ndarray):
            self._bytes[start : start + data.size] = data
        elif self._bytes is not None:
            self._bytes.write(start, data)

    def _refuse_meta(self) -> None:
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")

    def _check_valid(self, name: str) -> None:
        """RuntimeError for a method of a storage that has a size, and should have memory."""
        if self._bytes is None and self._nbytes and self.device.type != "meta":
            raise RuntimeError(f"Attempted to call {name}() on an invalid python storage.")

    def __getitem__(self, index: Any) -> Any:
        self._refuse_meta()
        if isinstance(index, slice):
            return self._part(index)
        place = self._place(index)
        memory = seen_storages.bytes_of(self)
        if memory is not None:
            return seen_storages.read_byte(memory, place)
        return int(self._memory()[place])

    def _place(self, index: Any) -> int:
        """The position that an index means; IndexError out of range."""
        if not _is_index(index):
            raise TypeError(_NO_INDEX.format(type_name(index)))
        place = int(index)
        place += self._nbytes if place < 0 else 0
        if not 0 <= place < self._nbytes:
            raise IndexError(f"index {place} out of range for storage of size {self._nbytes}")
        return place

    def _part(self, index: slice) -> UntypedStorage:
        """A view of some of the bytes."""
        start, stop, step = index.indices(self._nbytes)
        if step != 1:
            raise _refusal(
                _NO_STEP.format(step),
                f"<method-wrapper '__getitem__' of torch.storage.UntypedStorage object at "
                f"{id(self):#x}>",
            )
        if self._bytes is None:
            return UntypedStorage._without_memory(max(stop - start, 0), self.device)
        if not isinstance(self._bytes, np.ndarray):
            part = self._bytes.part(start, max(start, stop))
            return UntypedStorage._on_device(part, self.device)
        return UntypedStorage._around(self._memory()[start : max(start, stop)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            raise _refusal(
                f"can only set storage content with a int types, but got {type_name(value)} instead"
            )
        if isinstance(index, slice):
            start, stop, step = index.indices(self._nbytes)
            if step == 1 and seen_storages.are_seen():
                for place in range(start, stop):
                    self._write(place, unpack_byte(value))
            elif step == 1:
                self._put(start, np.full(max(stop - start, 0), unpack_byte(value), np.uint8))
            elif _REFUSES:  # a release that does not leaves the bytes as they are
                raise RuntimeError(_NO_STEP.format(step))
        elif not _is_index(index):
            raise _refusal(_NO_INDEX.format(type_name(index)))
        elif not 0 <= index < self._nbytes:
            raise RuntimeError("out of bounds")
        else:
            self._write(int(index), unpack_byte(value))

    def _write(self, place: int, value: int) -> None:
        memory = seen_storages.bytes_of(self)
        if memory is not None:
            seen_storages.write_byte(memory, place, value)
        else:
            self._put(place, np.array([value], np.uint8))

    def __iter__(self) -> Iterator[int]:
        return (self[place] for place in range(self.size()))

    def tolist(self) -> list[int]:
        return list(self)

    def __repr__(self) -> str:
        info = f"[{typename(self)}(device={self.device}) of size {len(self)}]"
        if self.device.type == "meta":
            return "...\n" + info
        if seen_storages.are_seen():
            items = list(self)
        else:
            items = self._memory().tolist() if self._nbytes else []
        return " " + "\n ".join(map(str, items)) + "\n" + info

    # --- changes ------------------------------------------------------------------------------

    def fill_(self, value: Any) -> UntypedStorage:
        self._check_valid("fill_")
        if isinstance(value, bool) or not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {type_name(value)}")
        memory = seen_storages.bytes_of(self)
        if memory is not None:
            seen_storages.call("aten::fill_.Scalar", self=memory, value=unpack_byte(value))
        elif self._bytes is not None:
            self._put(0, np.full(self._nbytes, unpack_byte(value), np.uint8))
        return self

    def copy_(self, *args: Any, **kwargs: Any) -> UntypedStorage:
        """Take the bytes of ``src``, a storage of the same size."""
        return self._with_bytes_of(COPIED[0](args, kwargs).untyped())

    def _with_bytes_of(self, source: UntypedStorage) -> UntypedStorage:
        for each in (self, source):
            each._check_valid("copy_")
        if self._nbytes != source._nbytes:
            raise RuntimeError(
                f"size does not match, self was {self._nbytes} bytes "
                f"but src was {source._nbytes} bytes"
            )
        if self.device.type != "meta" and source.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        memory, read = map(seen_storages.bytes_of, (self, source))
        if memory is not None:
            seen_storages.call("aten::copy_", self=memory, src=read)
        elif self._bytes is not None and self._nbytes:
            self._put(0, source._memory())
        return self

    def resize_(self, size: Any) -> UntypedStorage:
        """Make it larger or smaller; what was there stays."""
        self._check_valid("resize_")
        if not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type_name(size)}")
        nbytes = unpack_long(size)
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        if isinstance(self._bytes, np.ndarray):
            grown = _allocated(nbytes)
            kept = min(nbytes, self._nbytes)
            grown[:kept] = self._bytes[:kept]
            self._bytes = grown
        elif self._bytes is not None:
            self._bytes = self._bytes.resized(nbytes)
        self._nbytes = nbytes
        return self

    def new(self) -> UntypedStorage:
        return UntypedStorage._of(0, self.device)

    def clone(self) -> UntypedStorage:
        return UntypedStorage._of(self._nbytes, self.device)._with_bytes_of(self)

    def to(self, *, device: Device | str, non_blocking: bool = False) -> UntypedStorage:
        """The same bytes on a device, in a storage of their own unless they are there."""
        device = Device(device)
        if self.device == device:
            return self
        if device.type == "cpu":
            return self.cpu()
        if device.type == "meta":  # which has no module of devices
            raise AssertionError("META device module is not loaded")
        return UntypedStorage._of(self._nbytes, device)._with_bytes_of(self)

    def cpu(self) -> UntypedStorage:
        if self.device.type == "cpu":
            return self
        return UntypedStorage._of(self._nbytes, Device("cpu"))._with_bytes_of(self)

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        copies = memo.setdefault("torch", {})
        if id(self) not in copies:
            copies[id(self)] = self.clone()
        copy: UntypedStorage = copies[id(self)]
        return copy


def _allocated(nbytes: int) -> Bytes:
    if nbytes < 0:
        unsigned = str(nbytes + (1 << 64))
        raise worded("allocate less than nothing", **{str((1 << 64) - 1): unsigned})
    try:
        return np.zeros(nbytes, np.uint8)
    except MemoryError:
        raise worded("allocate more than there is", **{str(1 << 62): str(nbytes)}) from None


def _items(data: Any) -> list[int]:
    """The bytes that a sequence of integers gives."""
    kind = type(data)
    if not hasattr(kind, "__getitem__") or issubclass(kind, (dict, TensorBase)):
        raise RuntimeError(
            f"torch.UntypedStorage(): Expected a sequence type, but got {type_name(data)}"
        )
    items = list(data)
    for item in items:
        if not isinstance(item, int):
            raise _refusal(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type_name(data)}), but one of the items was of type {type_name(item)} "
                "instead of int",
                "<class 'torch.storage.UntypedStorage'>",
            )
    return [unpack_byte(item) for item in items]


UntypedStorage.to.__qualname__ = "_StorageBase.to"  # a base class that torch has in Python

_NO_INDEX: Final = "can't index a torch.UntypedStorage with {}"
_NO_STEP: Final = "Trying to slice with a step of {}, but only a step of 1 is supported"
_REFUSES: Final = HABITS["refusals of storages reach Python"]


def _is_index(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _refusal(words: str, caller: str = "") -> Exception:
    """What a check raises whose words some releases take for its condition, which holds.

    Then C answers NULL and has set no exception; CPython says so of ``caller``.
    """
    if _REFUSES:
        return RuntimeError(words)
    if not caller:
        return SystemError("error return without exception set")
    return SystemError(f"{caller} returned NULL without setting an exception")


def typename(value: object) -> str:
    """``torch.typename``: as torch's repr of the class, module and all."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
