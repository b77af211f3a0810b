"""Modules of dropout.

Mirrors ``torch/nn/modules/dropout.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.module import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """Zeros here and there while it is trained."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
