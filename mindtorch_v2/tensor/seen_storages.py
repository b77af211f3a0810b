"""The tensors through which storages work while somebody sees calls.

torch's storages have no code of their own for elements: C++ makes a tensor of a storage's bytes,
``TypedStorage`` one of its elements (:mod:`mindtorch_v2.storage`), and what reads or writes is a
call of that tensor.  Only modes can tell, so that storages here work with their memory else.

Mirrors ``torch/csrc/StorageMethods.cpp``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.torch_function import is_mode_enabled

if TYPE_CHECKING:
    from mindtorch_v2.tensor.storage import UntypedStorage

_PACKAGE: Final = __name__.partition(".")[0]


def are_seen() -> bool:
    """Whether a mode or a transform sees the calls of this thread."""
    seen = import_module(f"{_PACKAGE}.binding.python.seen")
    return is_mode_enabled() or seen.operators_are_seen()


def bytes_of(storage: UntypedStorage) -> Any:
    """The tensor of a storage's bytes that C++ makes; None while nobody sees it."""
    if not are_seen():
        return None
    enum_value = import_module(f"{_PACKAGE}.binding.convert").enum_value
    dtype = enum_value(DTYPES["uint8"])
    empty = call("aten::empty.memory_format", size=[0], dtype=dtype, device=storage.device)
    return call("aten::set_.source_Storage", self=empty, source=storage)


def python() -> Any:
    """The module of what torch does in Python; None while nobody sees it."""
    return import_module(f"{_PACKAGE}.storage") if are_seen() else None


def call(operator: str, **arguments: Any) -> Any:
    """Have C++ call an operator."""
    manual = import_module(f"{_PACKAGE}.binding.python.manual")  # which comes after storages
    return manual.call_operator(operator, **arguments)


def read_byte(memory: Any, place: int) -> int:
    """``self_t[idx].item<uint8_t>()``."""
    return int(call("aten::item", self=call("aten::select.int", self=memory, dim=0, index=place)))


def write_byte(memory: Any, place: int, value: int) -> None:
    """``self_t[idx].fill_(value)``."""
    element = call("aten::select.int", self=memory, dim=0, index=place)
    call("aten::fill_.Scalar", self=element, value=value)
