"""Modules of shapes.

Mirrors ``torch/nn/modules/flatten.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn.modules.module import Module

__all__ = ["Flatten"]


class Flatten(Module):
    """Some dimensions as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
