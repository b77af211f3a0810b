"""``inference_mode``: new tensors have no autograd keys, and autograd is passed over.

Mirrors ``torch/autograd/grad_mode.py`` and ``c10/core/InferenceMode.h``.
"""

from __future__ import annotations

from mindtorch_v2.dispatch import tls


class inference_mode:  # noqa: N801 (torch's name)
    """Context manager that switches inference mode on, or off again with ``mode=False``."""

    __module__ = "mindtorch_v2.autograd.grad_mode"

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self._guard = tls.InferenceModeGuard(self.mode)

    def __exit__(self, *exception: object) -> None:
        self._guard.close()
