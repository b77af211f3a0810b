"""Modules of tables of vectors.

Mirrors ``torch/nn/modules/sparse.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.nn import functional, init
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.parameters import made, options_of
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["Embedding"]

_OPTIONS: Final = (
    *(("padding_idx", None), ("max_norm", None), ("norm_type", 2)),
    *(("scale_grad_by_freq", False), ("sparse", False)),
)
"""Those that a table shows if they are not the usual ones."""


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
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if padding_idx and not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx += num_embeddings if padding_idx < 0 else 0
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            options = options_of(device, dtype)
            self.weight = made(options, (num_embeddings, embedding_dim), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(_weight, requires_grad=not _freeze)
        self.sparse = sparse

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A module of a table that is there; unless ``freeze`` is false it learns no more."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            table: Any = self.weight
            with no_grad():
                table[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        return functional.embedding(
            *(input, self.weight, self.padding_idx, self.max_norm, self.norm_type),
            *(self.scale_grad_by_freq, self.sparse),
        )

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        own = ((name, getattr(self, name), usual) for name, usual in _OPTIONS)
        return shown + "".join(f", {name}={value}" for name, value, usual in own if value != usual)
