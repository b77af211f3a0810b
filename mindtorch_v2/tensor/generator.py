"""``torch.Generator``: the state of a random number generator.  No kernel draws from one yet.

Mirrors ``torch/csrc/Generator.cpp`` as far as operators take generators as arguments.
"""

from __future__ import annotations

from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.made_in_c import MadeInC


class Generator(metaclass=MadeInC):
    """A generator on a device, the CPU if none is named."""

    __slots__ = ("__weakref__", "_device")
    __module__ = "mindtorch_v2._C"

    def __init__(self, device: Device | str = "cpu") -> None:
        self._device = Device(device)

    @property
    def device(self) -> Device:
        return self._device
