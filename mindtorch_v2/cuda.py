"""``torch.cuda`` as it is where there is no such device: what portable programs ask first.

Mirrors ``torch/cuda/__init__.py`` of a build without CUDA.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.tensor.absent_devices import maybe_initialize_device
from mindtorch_v2.tensor.device import Device


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def device_count() -> int:
    return 0


def _lazy_init() -> None:
    """Raises what everything does that asks the device something."""
    maybe_initialize_device(Device("cuda"))


def init() -> None:
    _lazy_init()


def current_device() -> Any:
    _lazy_init()


def synchronize(device: Any = None) -> None:
    _lazy_init()


def get_device_name(device: Any = None) -> Any:
    _lazy_init()


def get_device_properties(device: Any = None) -> Any:
    _lazy_init()


def manual_seed(seed: int) -> None:
    """For when there is a device, which there is not."""


def manual_seed_all(seed: int) -> None:
    """For when there is a device, which there is not."""


def empty_cache() -> None:
    """There is none."""
