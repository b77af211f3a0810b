"""``torch.cuda`` as it is where there is no such device: what portable programs ask first.

Mirrors ``torch/cuda/__init__.py`` of a build without CUDA.
"""

from __future__ import annotations


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """For when there is a device, which there is not."""


def manual_seed_all(seed: int) -> None:
    """For when there is a device, which there is not."""


def empty_cache() -> None:
    """There is none."""
