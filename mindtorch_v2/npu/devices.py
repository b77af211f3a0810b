"""Devices: how many there are, which one a thread uses, and waiting for one."""

from __future__ import annotations

from types import TracebackType
from typing import TypeAlias

from mindtorch_v2.kernels.npu import chips, runtime
from mindtorch_v2.pipeline import flush
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device

AnyDevice: TypeAlias = Device | str | int | None
"""What names a device: itself, ``"npu:0"``, its index, or None for the current one."""


def index_of(device: AnyDevice) -> int:
    """ValueError for a device that is no NPU."""
    if device is None:
        return runtime.current_device()
    if isinstance(device, int):
        return device if device >= 0 else runtime.current_device()
    named = Device._made(device)
    if named.type != EXTENSION_DEVICE:
        raise ValueError(f"Expected a npu device, but got: {named}")
    return runtime.current_device() if named.index is None else named.index


def is_available() -> bool:
    """Whether there is an NPU that can be used: CANN can be loaded, and sees a device."""
    return device_count() > 0


def device_count() -> int:
    """How many NPUs there are; 0 where none can be used, for whatever reason."""
    return runtime.device_count()


def is_initialized() -> bool:
    """Whether anything has been loaded yet."""
    return runtime.is_started()


def current_device() -> int:
    """The index of the device that this thread uses where none is named."""
    runtime.start()
    return runtime.current_device()


def set_device(device: AnyDevice) -> None:
    """Have this thread use a device where none is named; RuntimeError for one there is not."""
    index = index_of(device)
    flush("another device")
    runtime.choose_device(index)


def get_device_name(device: AnyDevice = None) -> str:
    """The chip, as ACL names it."""
    runtime.use_device(index_of(device))
    return chips.chip().name


def synchronize(device: AnyDevice = None) -> None:
    """Wait for all work of a device; AclError for the first that failed."""
    flush("a device's synchronize")
    runtime.use_device(index_of(device))
    runtime.call("aclrtSynchronizeDevice")


class device:  # noqa: N801 (torch's name)
    """A block in which another device is used where none is named."""

    def __init__(self, device: AnyDevice) -> None:
        self.idx = index_of(device)

    def __enter__(self) -> device:
        self._outer = runtime.current_device()
        set_device(self.idx)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            flush("another device")
        finally:
            runtime.choose_device(self._outer)
