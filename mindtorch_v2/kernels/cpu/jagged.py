"""Rows of unlike lengths, one behind the other, and the same side by side with padding.

Mirrors ``_jagged_to_padded_dense_forward_cpu`` and ``_padded_dense_to_jagged_forward_cpu`` of
``aten/src/ATen/native/nested/NestedTensorTransformerFunctions.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

_TO_PADDED: Final = "_jagged_to_padded_dense_forward"
_TO_JAGGED: Final = "_padded_dense_to_jagged_forward"
_ONE_ALONE: Final = "only a single jagged dim is supported for now"


@kernel(f"aten::{_TO_PADDED}")
def jagged_to_padded_dense(
    values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float
) -> Any:
    """What is longer than the length that is given loses its end."""
    if len(offsets) != 1 or len(max_lengths) != 1:
        condition = "offsets_list.size() == 1 && max_lengths.size() == 1"
        raise RuntimeError(
            f"{internal_assert(condition, _TO_PADDED + '_cpu')}{_TO_PADDED}(): {_ONE_ALONE}"
        )
    (starts,), (longest,) = offsets, max_lengths
    batch = _batch(starts, _TO_PADDED)
    padded = call("new_full", values, [batch, longest, *values._sizes[1:]], padding_value)
    for place in range(batch):
        start, end = (_number(starts, each) for each in (place, place + 1))
        length = min(end - start, longest)
        source = call("slice", values, 0, start, start + length)
        row = call("slice", call("select", padded, 0, place), 0, 0, length)
        call("copy_", row, source)
    return padded


@kernel(f"aten::{_TO_JAGGED}")
def padded_dense_to_jagged(
    dense: Tensor, offsets: Sequence[Tensor], total_length: int | None
) -> Any:
    if len(offsets) != 1:
        words = internal_assert("offsets_list.size() == 1", f"{_TO_JAGGED}_cpu")
        raise RuntimeError(f"{words}{_TO_JAGGED}(): {_ONE_ALONE}")
    (starts,) = offsets
    batch = _batch(starts, _TO_JAGGED)
    last = _number(starts, -1)
    if total_length is not None and last != total_length:
        raise RuntimeError(f"{_TO_JAGGED}(): final offset should match total_L value")
    rank, sizes = len(dense._sizes), dense._sizes
    if rank < 2:
        raise RuntimeError(f"{_TO_JAGGED}(): expected padded dim >= 2, but padded.dim() == {rank}")
    values = call("new_empty", dense, [last, *sizes[2:]])
    for place in range(batch):
        start, end = (_number(starts, each) for each in (place, place + 1))
        length = end - start
        if length > sizes[1]:
            raise RuntimeError(
                f"{_TO_JAGGED}(): found batch item of length {length} when max length specified "
                f"by padded input is {sizes[1]}"
            )
        row = call("slice", values, 0, start, end)
        source = call("slice", call("select", dense, 0, place), 0, 0, length)
        call("copy_", row, source)
    return values


def _batch(starts: Tensor, name: str) -> int:
    rank = len(starts._sizes)
    if rank != 1:
        raise RuntimeError(f"{name}(): expected 1D offsets, but got offsets.dim() == {rank}")
    return starts._sizes[0] - 1


def _number(starts: Tensor, place: int) -> int:
    """``item<int64_t>``."""
    return int(call("item", call("select", starts, 0, place)))
