"""``torch.Stream``: a queue of work on a device, which is three numbers.

Mirrors ``torch/csrc/Stream.cpp`` as far as operators take streams as arguments.
"""

from __future__ import annotations

from typing import Any, Final, overload

from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.absent_devices import check_linked, is_absent
from mindtorch_v2.tensor.device import NO_INDEX, TYPE_NUMBERS, TYPES_BY_NUMBER, Device
from mindtorch_v2.tensor.made_in_c import MadeInC


class Stream(metaclass=MadeInC):
    """A stream by its device, or by three numbers: its own, the device's index, the device's type.

    A device alone has its default stream; without one it is the CPU's.  RuntimeError for a number
    that is no device's type.
    """

    __slots__ = ("__weakref__", "_device", "_stream_id")
    __module__ = "mindtorch_v2"

    @overload
    def __init__(self, device: Device | str | None = None, *, priority: int = 0) -> None: ...

    @overload
    def __init__(
        self, stream_id: int, device_index: int, device_type: int, *, priority: int = 0
    ) -> None: ...

    def __init__(self, *args: Any, priority: int = 0, **kwargs: Any) -> None:
        if len(args) + len(kwargs) == len(_NUMBERS):
            given = dict(zip(_NUMBERS, args, strict=False)) | kwargs
            self._stream_id: int = given["stream_id"]
            self._device = _numbered(given["device_type"], given["device_index"])
        else:
            self._device, self._stream_id = _named(*args, **kwargs), 0

    @property
    def device(self) -> Device:
        return self._device

    @property
    def device_index(self) -> int:
        return NO_INDEX if self._device.index is None else self._device.index

    @property
    def device_type(self) -> int:
        return TYPE_NUMBERS[self._device.type]

    @property
    def stream_id(self) -> int:
        return self._stream_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id}"
        )


_NUMBERS: Final = ("stream_id", "device_index", "device_type")


def _numbered(device_type: int, index: int) -> Device:
    if not 0 <= device_type < len(TYPES_BY_NUMBER):
        raise RuntimeError(expected("isValidDeviceType(device_type)"))
    name = TYPES_BY_NUMBER[device_type]
    return Device(name) if index == NO_INDEX else Device(name, index)


def _named(device: Device | str | None = None) -> Device:
    where = Device("cpu" if device is None else device)
    check_linked(where)
    if is_absent(where):
        raise RuntimeError("Backend doesn't support create a new Stream.")
    return where
