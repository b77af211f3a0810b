"""Devices and the strings that name them.

Mirrors ``c10/core/Device.cpp`` and ``DeviceType.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindtorch_v2 import profile
from mindtorch_v2.call_site import hands_over_keywords, is_called_by_cpp
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.tensor.made_in_c import METH_NOARGS, MadeInC, final
from mindtorch_v2.torch_function import handle_torch_function, is_mode_enabled
from mindtorch_v2.warn import is_warned_of, warn_once

DEVICE_TYPES: Final = profile.active().keys.devices
"""torch's device types, in the order in which its message lists them."""
EXTENSION_DEVICE: Final = "npu"
TYPES_BY_NUMBER: Final[tuple[str, ...]] = (
    *("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan"),
    *("metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone"),
)
"""In the order of ``c10::DeviceType``."""
TYPE_NUMBERS: Final = {
    **{name: number for number, name in enumerate(TYPES_BY_NUMBER)},
    EXTENSION_DEVICE: TYPES_BY_NUMBER.index("privateuseone"),
}
NO_INDEX: Final = -1

_DEVICE_STRING: Final = re.compile(r"([A-Za-z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)
_LARGEST_INT: Final = (1 << 31) - 1


def parse_device_string(text: str, *, in_python: bool = True) -> tuple[str, int]:
    """The type and index of a device string such as ``cpu`` or ``cuda:1``.

    The index is ``NO_INDEX`` without one.  C++ keeps it in eight bits: ``cpu:255`` is ``cpu``.
    Raises RuntimeError for what names no device.  Unless ``in_python``, C++ itself prints what it
    warns of.
    """
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _DEVICE_STRING.fullmatch(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, digits = match.groups()
    index = NO_INDEX
    if digits is not None:
        if int(digits) > _LARGEST_INT:
            raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
        index = _as_int8(int(digits))
    if name not in DEVICE_TYPES and name != EXTENSION_DEVICE:
        raise RuntimeError(
            f"Expected one of {', '.join(DEVICE_TYPES)} device type "
            f"at start of device string: {name}"
        )
    if name == "mkldnn" and is_warned_of("parse_type"):
        warn_once("parse_type", WARNING_TEXTS["parse_type"], in_python=in_python)
    return name, index


def _as_int8(value: int) -> int:
    return (value + 128) % 256 - 128


def _positional(type: Any, index: int | None = None) -> tuple[Any, int | None]:
    return type, index


ARGUMENTS: Final[list[Callable[[Any, Any], tuple[Any, int | None]]]] = [
    lambda args, kwargs: _positional(*args, **kwargs)
]
"""Reads what a device is made of; the Python binding puts its own here, which refuses."""

PARSE: Final[list[Callable[[Any, Any], object]]] = [lambda args, kwargs: None]
"""Refuses arguments by their types alone; likewise."""

_PACKAGE: Final = __name__.partition(".")[0]


@final
class device(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """Where a tensor lives: a type and, if it has one, an index."""

    __slots__ = ("_index", "_type")
    __module__ = "mindtorch_v2"

    _type: str
    _index: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Of a device, or of a ``type`` and an ``index``; a mode that overrides functions may
        answer something else.

        TypeError for other arguments, RuntimeError for a type or an index that there is not.
        """
        if OBSERVERS.count and is_mode_enabled() and not is_called_by_cpp():
            PARSE[0](args, kwargs)  # which refuses first
            keywords = kwargs if kwargs or hands_over_keywords(_PACKAGE) else None
            return handle_torch_function(device, "torch.device", [], args, keywords)
        return cls._made(*args, **kwargs)

    @classmethod
    def _made(cls, *args: Any, **kwargs: Any) -> device:
        """As C++ makes one, which no mode sees; for modules whose names do not say that they stand
        for C++ (see Note [C++ asks no override] in :mod:`mindtorch_v2.call_site`)."""
        self = object.__new__(cls)
        self._set(args, kwargs)
        return self

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def _set(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given: Any = args[0] if len(args) == 1 and not kwargs else None
        index: int | None = None
        is_one = type(given) is str or isinstance(given, device)
        if not is_one:
            given, index = ARGUMENTS[0](args, kwargs)
        if isinstance(given, device):
            self._type, self._index = given.type, given._index
            return
        self._type, self._index = parse_device_string(given)
        if is_one:
            return
        if self._index != NO_INDEX:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed "
                f"explicitly: {given}"
            )
        if index is None:
            return
        if index < 0:
            raise RuntimeError("Device index must not be negative")
        self._index = _as_int8(index)

    if TYPE_CHECKING:

        @property
        def type(self) -> str: ...
    else:
        type = property(attrgetter("_type"))  # it is asked often, and this is no call of Python's

    @property
    def index(self) -> int | None:
        return None if self._index == NO_INDEX else self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self._type, self._index) == (other._type, other._index)

    def _refuse_order(self, other: object) -> Any:
        if not isinstance(other, device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    def __hash__(self) -> int:
        """``std::hash<c10::Device>``: the number of the type, and the index in eight bits."""
        return TYPE_NUMBERS[self._type] << 16 | self._index & 0xFF

    @METH_NOARGS
    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self._type,) if self._index == NO_INDEX else (self._type, self._index)

    def __str__(self) -> str:
        return self._type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index % (1 << 16)}"
        return f"device(type={self._type!r}{index})"


Device: TypeAlias = device
"""The class under a name that no parameter called ``device`` hides."""


def device_type_for_key(text: str) -> str:
    """The device type of a string that may not carry an index (_dispatch_key_for_device)."""
    name, index = parse_device_string(text, in_python=False)
    if index != NO_INDEX:
        raise RuntimeError(f"Expected device_type string to not have a device index; got {text}")
    return name
