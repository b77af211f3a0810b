"""Memory that the host cannot read: what storages on an accelerator have in place of bytes.

The accelerator's runtime stands above this package, so it hands itself in here.  Whoever reads a
tensor gets a copy of its elements that nobody can write to; what writes goes through
:mod:`~mindtorch_v2.tensor.copying`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, NO_INDEX, Device

if TYPE_CHECKING:
    import numpy.typing as npt

    from mindtorch_v2.tensor.tensor import Tensor

Bytes: TypeAlias = "npt.NDArray[np.uint8]"


class DeviceMemory(Protocol):
    """So many bytes on a device."""

    nbytes: int
    address: int

    def read(self, start: int, stop: int) -> Bytes:
        """A copy of some of them, when all work before is done."""

    def write(self, start: int, data: Bytes) -> None:
        """Put bytes where ``start`` says."""

    def part(self, start: int, stop: int) -> DeviceMemory:
        """Some of them, which are the same memory."""

    def resized(self, nbytes: int) -> DeviceMemory:
        """New memory that begins with the same bytes."""


class Accelerator(Protocol):
    """What an accelerator does for tensors and storages."""

    def current_device(self) -> Device:
        """The one that a device without index means; RuntimeError without a usable one."""

    def allocate(self, nbytes: int, device: Device) -> DeviceMemory:
        """RuntimeError for memory that there is not."""

    def copy(self, target: Tensor, source: Tensor) -> bool:
        """Copy values, converted, between two of its tensors; False if it cannot."""

    def fill(self, target: Tensor, value: Any) -> bool:
        """Put a number everywhere; False if it cannot."""


_loaders: Final[list[Callable[[], Accelerator]]] = []
_provided: Final[list[Accelerator]] = []


def provide(load: Callable[[], Accelerator]) -> None:
    """Take what ``load`` answers, which is called when an accelerator is first asked for."""
    _loaders[:] = [load]


def accelerator() -> Accelerator:
    if not _provided:
        _provided[:] = [_loaders[0]()]
    return _provided[0]


def with_index(device: Device) -> Device:
    """The device itself, or of an accelerator without index the current one
    (``ensure_has_index``)."""
    if device.type != EXTENSION_DEVICE or device.index is not None:
        return device
    return accelerator().current_device()


def allocated_on(device: Device) -> Device:
    """Where memory is that is asked for on a device: the host's, and that of meta tensors, which is
    none, is on one without index."""
    if device._index != NO_INDEX and device.type in ("cpu", "meta"):
        return Device(device.type)
    return with_index(device)
