"""An accelerator that is none: its memory is the host's, and it copies and fills nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.device_memory import Bytes
from mindtorch_v2.tensor.tensor import Tensor


class Memory:
    def __init__(self, nbytes: int) -> None:
        self.nbytes, self._data = nbytes, np.zeros(nbytes, np.uint8)
        self.address: int = self._data.ctypes.data

    def read(self, start: int, stop: int) -> Bytes:
        return self._data[start:stop].copy()

    def write(self, start: int, data: Bytes) -> None:
        self._data[start : start + data.size] = data

    def resized(self, nbytes: int) -> Memory:
        grown = Memory(nbytes)
        grown.write(0, self.read(0, min(nbytes, self.nbytes)))
        return grown


class Accelerator:
    def current_device(self) -> Device:
        return Device("npu")

    def allocate(self, nbytes: int, device: Device) -> Memory:
        return Memory(nbytes)

    def copy(self, target: Tensor, source: Tensor) -> bool:
        return False

    def fill(self, target: Tensor, value: Any) -> bool:
        return False
