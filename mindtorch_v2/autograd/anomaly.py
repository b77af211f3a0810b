"""Whether backward looks for the operation that went wrong.

Mirrors ``torch/csrc/autograd/anomaly_mode.h``.
"""

from __future__ import annotations


class _Mode:
    enabled = False
    check_nan = True


def is_enabled() -> bool:
    return _Mode.enabled


def should_check_nan() -> bool:
    return _Mode.check_nan


def set_enabled(enabled: bool, check_nan: bool = True) -> None:
    _Mode.enabled, _Mode.check_nan = enabled, check_nan
