"""Devices that there is nothing for: every type but the CPU, meta and our own accelerator.

Mirrors ``torch/csrc/utils/device_lazy_init.cpp``, ``getDeviceGuardImpl`` in
``c10/core/impl/DeviceGuardImplInterface.h`` and ``ensure_has_index`` in
``aten/src/ATen/native/TensorConversions.cpp``.  Torch refuses such a device in one of three
places, whichever a call comes to first: the device's Python module cannot be initialized, which the
Python binding sees to; the current device cannot be asked for, which who needs an index does; or
no kernel makes a tensor there, which the dispatcher says.

This is a build without CUDA, and speaks as the wheels for the CPU do, in every release.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.device_memory import with_index
from mindtorch_v2.tensor.support import exception_of

_FACTS: Final[dict[str, Any]] = profile.active().devices
_PRESENT: Final = frozenset(("cpu", "meta", EXTENSION_DEVICE))
_UNLINKED: Final = frozenset(_FACTS["unlinked"].split())
_WITHOUT_STRIDES: Final = frozenset(_FACTS["without_strides"].split())


def is_absent(device: Device | None) -> bool:
    """Whether nothing can be made there."""
    return device is not None and device._type not in _PRESENT


def maybe_initialize_device(device: Device | None) -> None:
    """Raise what the Python module of the device does, if it has one that comes first."""
    if device is not None and device._type in _FACTS["initialized"]:
        raise exception_of(*_FACTS["initialized"][device._type])


def initialized(device: Device) -> Device:
    """The device, once :func:`maybe_initialize_device` has nothing against it."""
    maybe_initialize_device(device)
    return device


def check_linked(device: Device) -> None:
    """RuntimeError for a device whose runtime cannot be asked anything (a device guard)."""
    if device._type in _UNLINKED:
        raise RuntimeError(f"PyTorch is not linked with support for {device._type} devices")


def ensure_has_index(device: Device) -> Device:
    """The device, or the current one of its type if it says none; RuntimeError without any."""
    if device.index is None:
        check_linked(device)
    return with_index(device)


def check_storage(device: Device) -> None:
    """Raise what the constructor of storages does of a device that has no memory."""
    if device._type in _FACTS["storages"]:
        raise exception_of(*_FACTS["storages"][device._type])


def supports_as_strided(device: Device) -> bool:
    """Whether a tensor there may have strides of its own."""
    return device._type not in _WITHOUT_STRIDES
