"""``torch.Stream``: a queue of work on a device, which is three numbers.

Mirrors ``torch/csrc/Stream.cpp`` as far as operators take streams as arguments.
"""

from __future__ import annotations

from mindtorch_v2.tensor.device import NO_INDEX, Device
from mindtorch_v2.tensor.made_in_c import MadeInC


class Stream(metaclass=MadeInC):
    """The default stream of a device, the CPU if none is named."""

    __slots__ = ("__weakref__", "_device", "_stream_id")
    __module__ = "mindtorch_v2"

    def __init__(self, device: Device | str = "cpu") -> None:
        self._device = Device(device)
        self._stream_id = 0

    @property
    def device(self) -> Device:
        return self._device

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
        index = NO_INDEX if self.device.index is None else self.device.index
        return (
            f"torch.Stream device_type={self.device.type}, device_index={index}, "
            f"stream_id={self.stream_id}"
        )
