"""What tensors and storages ask of the NPU: memory, and the copies and fills within it.

See :class:`mindtorch_v2.tensor.device_memory.Accelerator`.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from mindtorch_v2.kernels.npu import copies, runtime
from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.copies import Bytes
from mindtorch_v2.kernels.npu.executor import Launch
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.streams import Queue
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor

_lock: Final = threading.RLock()


class TensorMemory(Memory):
    """The memory of a storage (:class:`mindtorch_v2.tensor.device_memory.DeviceMemory`)."""

    __slots__ = ()

    def read(self, start: int, stop: int) -> Bytes:
        return copies.read(self, start, stop)

    def write(self, start: int, data: Bytes) -> None:
        copies.write(self, start, data)

    def part(self, start: int, stop: int) -> TensorMemory:
        return _Part(self, start, stop)

    def resized(self, nbytes: int) -> TensorMemory:
        grown = TensorMemory(nbytes, self.device)
        copies.write(grown, 0, self.read(0, min(nbytes, self.nbytes)))
        return grown


class _Part(TensorMemory):
    """Some of the bytes of other memory."""

    __slots__ = ("_whole",)

    def __init__(self, whole: TensorMemory, start: int, stop: int) -> None:
        self._whole, self._block = whole, None
        self.nbytes, self.device = stop - start, whole.device
        self.address = whole.address + start if stop > start else 0

    def used_on(self, queue: Queue) -> None:
        self._whole.used_on(queue)


class NpuAccelerator:
    """The NPUs of this machine.  Kernels are registered with the first use of one."""

    def __init__(self) -> None:
        self._is_ready = False

    def current_device(self) -> Device:
        self.prepare()
        return Device(EXTENSION_DEVICE, runtime.current_device())

    def allocate(self, nbytes: int, device: Device) -> TensorMemory:
        self.prepare()
        assert device.index is not None
        runtime.use_device(device.index)
        return TensorMemory(nbytes, device.index)

    def prepare(self) -> None:
        """Start the runtime and register the kernels; RuntimeError where there is no NPU."""
        if self._is_ready and runtime.is_started():
            return
        with _lock:
            runtime.start()
            if not self._is_ready:
                from mindtorch_v2.kernels.npu import install

                install.register()
                self._is_ready = True

    def copy(self, target: Tensor, source: Tensor) -> bool:
        if not _can_copy(target, source):
            return False
        return _launched("InplaceCopy", target, source)

    def fill(self, target: Tensor, value: Any) -> bool:
        if target._lazy_bits() or has_internal_overlap(target):
            return False
        return _launched("InplaceFillScalar", target, value)


def _can_copy(target: Tensor, source: Tensor) -> bool:
    """Not what is to be conjugated, or lies in the same memory, or on two devices.  Complex numbers
    go to dense tensors alone."""
    return (
        not has_internal_overlap(target)
        and target._lazy_bits() == source._lazy_bits()
        and target._device == source._device
        and target._storage is not source._storage
        and (not target._dtype.is_complex or is_contiguous(target._sizes, target._strides))
        and (target._dtype.is_complex or not source._dtype.is_complex)
    )


def _launched(name: str, target: Tensor, value: Any) -> bool:
    assert target._device.index is not None
    try:
        Launch(name, (target, value), target._device.index).run()
    except UnsupportedError:
        return False
    return True


ACCELERATOR: Final = NpuAccelerator()
