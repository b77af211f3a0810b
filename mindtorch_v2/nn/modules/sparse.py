"""Modules of tables of vectors.

Mirrors ``torch/nn/modules/sparse.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional, init
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.parameters import made, options_of
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["Embedding"]


class Embedding(Module):
    """A table of vectors by number; that of ``padding_idx`` begins with zeros and stays so."""

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self.weight = made(options_of(device, dtype), num_embeddings, embedding_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            table: Any = self.weight.detach()
            init.zeros_(table[self.padding_idx])

    def forward(self, input: Any) -> Any:
        return functional.embedding(
            *(input, self.weight, self.padding_idx, self.max_norm, self.norm_type),
            *(self.scale_grad_by_freq, self.sparse),
        )

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            shown += f", padding_idx={self.padding_idx}"
        if self.scale_grad_by_freq:
            shown += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return f"{shown}, sparse=True" if self.sparse else shown
