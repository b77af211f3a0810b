"""Whether tensors share memory, and what is refused if they do.

Mirrors ``aten/src/ATen/MemoryOverlap.cpp``.
"""

from __future__ import annotations

from enum import Enum

from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense, numel
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
    if a._storage is None or a._storage is not b._storage:
        return MemOverlapStatus.NO
    (a_begin, a_end), (b_begin, b_end) = _span(a), _span(b)
    if (a_begin, a_end) == (b_begin, b_end):
        same = a._strides == b._strides
        return MemOverlapStatus.FULL if same else MemOverlapStatus.PARTIAL
    overlap = a_begin < b_end and b_begin < a_end
    return MemOverlapStatus.PARTIAL if overlap else MemOverlapStatus.NO


def _is_dense(tensor: Tensor) -> bool:
    return is_non_overlapping_and_dense(tensor._sizes, tensor._strides)


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
