"""``torch.library``: registration from Python.

Mirrors ``torch/library.py``.
"""

from __future__ import annotations

from typing import NoReturn


def fallthrough_kernel() -> NoReturn:
    """Registered in place of a kernel, it has dispatch pass over the key."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")
