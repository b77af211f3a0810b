"""Whether tensors share memory, and what is refused if they do.

Mirrors ``aten/src/ATen/MemoryOverlap.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense, numel, storage_bytes
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.tensor import Tensor


class MemOverlapStatus(Enum):
    """How two tensors share memory; TOO_HARD where nobody works it out."""

    FULL = "full"
    PARTIAL = "partial"
    NO = "no"
    TOO_HARD = "too hard"


def get_overlap_status(a: Tensor, b: Tensor) -> MemOverlapStatus:
    if a is b:
        return MemOverlapStatus.FULL
    if not numel(a._sizes) or not numel(b._sizes):
        return MemOverlapStatus.NO
    if not (_is_dense(a) and _is_dense(b)):
        return MemOverlapStatus.TOO_HARD
    if _has_its_array_alone(a) or _has_its_array_alone(b):
        return MemOverlapStatus.NO
    if a._storage is None or a._storage is not b._storage:
        return MemOverlapStatus.NO
    (a_begin, a_end), (b_begin, b_end) = _span(a), _span(b)
    if (a_begin, a_end) == (b_begin, b_end):
        same = a._strides == b._strides
        return MemOverlapStatus.FULL if same else MemOverlapStatus.PARTIAL
    overlap = a_begin < b_end and b_begin < a_end
    return MemOverlapStatus.PARTIAL if overlap else MemOverlapStatus.NO


def _is_dense(tensor: Tensor) -> bool:
    return tensor._array is not None or is_non_overlapping_and_dense(tensor._sizes, tensor._strides)


def _has_its_array_alone(tensor: Tensor) -> bool:
    """Whether it was just made, in memory that nobody else can have asked for."""
    return tensor._raw_storage is AWAY and tensor._pending is None


def _span(tensor: Tensor) -> tuple[int, int]:
    """The bytes of a dense tensor's storage that are its own."""
    begin = tensor._storage_offset * tensor._dtype.itemsize
    return begin, begin + numel(tensor._sizes) * tensor._dtype.itemsize


def has_internal_overlap(tensor: Tensor) -> bool:
    """Whether, for certain, two elements are one place in memory."""
    if _is_dense(tensor):
        return False
    pairs = zip(tensor._sizes, tensor._strides, strict=True)
    return any(size > 1 and stride == 0 for size, stride in pairs)


def may_overlap_itself(tensor: Tensor) -> bool:
    """Whether two elements may be one place in memory, as ``as_strided`` and ``unfold`` lay them:
    one step along a dimension does not lead behind all elements of the dimensions within it."""
    if _is_dense(tensor):
        return False
    reached = 0
    for stride, size in sorted(zip(tensor._strides, tensor._sizes, strict=True)):
        if size > 1 and stride <= reached:
            return True
        reached += stride * (size - 1)
    return False


def writes_what_it_reads(output: Tensor, operands: Iterable[Any]) -> bool:
    """Whether an element may be written before another is computed from it: of an operand that
    shares the output's memory, and lies there otherwise than the output."""
    return not _has_its_array_alone(output) and any(
        operand is not output and share_memory(output, operand, element_wise=True)
        for operand in operands
        if isinstance(operand, Tensor)
    )


def share_memory(one: Tensor, two: Tensor, *, element_wise: bool) -> bool:
    """Whether the memory of two tensors may meet; if ``element_wise``, in different elements."""
    if one._storage is None or one._storage is not two._storage:
        return False
    if element_wise and (one is two or _geometry(one) == _geometry(two)):
        return False
    (begin, end), (other_begin, other_end) = _reach(one), _reach(two)
    return begin < other_end and other_begin < end


def _geometry(tensor: Tensor) -> tuple[Any, ...]:
    """Where each element lies."""
    return tensor._dtype.itemsize, tensor._storage_offset, tensor._sizes, tensor._strides


def _reach(tensor: Tensor) -> tuple[int, int]:
    """The bytes of a storage between a tensor's first element and its last."""
    itemsize, offset = tensor._dtype.itemsize, tensor._storage_offset
    return offset * itemsize, storage_bytes(tensor._sizes, tensor._strides, offset, itemsize)


def rows_of(tensor: Tensor, loops: Sequence[int]) -> Iterator[tuple[Tensor, tuple[Any, ...]]]:
    """The elements that the innermost loop writes, for one round after the other, and NumPy's index
    for them; ``loops`` are the dimensions from the outermost loop to the innermost."""
    *outer, inner = loops
    for places in np.ndindex(*(tensor._sizes[dim] for dim in outer)):
        index: list[Any] = [slice(None)] * len(loops)
        offset = tensor._storage_offset
        for dim, place in zip(outer, places, strict=True):
            index[dim] = place
            offset += place * tensor._strides[dim]
        row = tensor._as_view((tensor._sizes[inner],), (tensor._strides[inner],), offset)
        yield row, tuple(index)


def assert_no_internal_overlap(tensor: Tensor) -> None:
    if has_internal_overlap(tensor):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def assert_no_partial_overlap(output: Tensor, value: Tensor) -> None:
    if get_overlap_status(output, value) is MemOverlapStatus.PARTIAL:
        raise _shared()


def assert_no_overlap(output: Tensor, value: Tensor) -> None:
    if do_overlap(output, value):
        raise _shared()


def do_overlap(a: Tensor, b: Tensor) -> bool:
    """Whether, for certain, two tensors share memory."""
    return get_overlap_status(a, b) in (MemOverlapStatus.PARTIAL, MemOverlapStatus.FULL)


def _shared() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before performing the "
        "operation."
    )
