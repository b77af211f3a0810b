"""Masks that choose elements: what sizes they must have.

Mirrors ``invalid_mask`` of ``aten/src/ATen/native/IndexingUtils.h``.
"""

from __future__ import annotations

from mindtorch_v2.tensor.tensor import Tensor


def check_mask(self: Tensor, mask: Tensor, first: int) -> None:
    """IndexError unless the mask has the sizes of the dimensions from ``first`` on."""
    for dim, size in enumerate(mask._sizes):
        if size != _size_at(self, first + dim):
            raise IndexError(
                f"The shape of the mask {list(mask._sizes)} at index {dim} does not match "
                f"the shape of the indexed tensor {list(self._sizes)} at index {first + dim}"
            )


def _size_at(self: Tensor, dim: int) -> int:
    rank = len(self._sizes)
    if dim >= rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got "
            f"{dim})"
        )
    return int(self._sizes[dim])
