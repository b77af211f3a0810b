"""Sizes and strides: how the elements of a strided tensor lie in its storage.

Mirrors ``c10/core/Contiguity.h`` and ``c10/core/MemoryFormat.h``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, Layout, memory_format, mkldnn, sparse_coo

CHANNELS_LAST: Final = {
    MEMORY_FORMATS["channels_last"]: (1, 3, 2, 0),
    MEMORY_FORMATS["channels_last_3d"]: (1, 4, 3, 2, 0),
}
"""Dimensions from the innermost to the outermost."""


def numel(sizes: Sequence[int]) -> int:
    return math.prod(sizes)


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense tensor in row-major order; a dimension of no size counts as one."""
    strides, step = [], 1
    for size in reversed(tuple(sizes)):
        strides.append(step)
        if size > 1:
            step *= size
    return tuple(reversed(strides))


def strides_in_order(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense tensor whose dimensions lie from the innermost on as in ``order``."""
    strides = [0] * len(sizes)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


def channels_last_strides(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """``get_channels_last_strides``: outside of an empty dimension they are 0."""
    strides = [0] * len(sizes)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= sizes[dim]
    return tuple(strides)


def is_dense_in_order(sizes: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    """Whether elements lie without gaps in this order; dimensions of size 1 do not count."""
    step = 1
    for dim in order:
        if sizes[dim] != 1:
            if strides[dim] != step:
                return False
            step *= sizes[dim]
    return True


def check_dimensionality(sizes: Sequence[int], strides: Sequence[int]) -> None:
    """RuntimeError for more strides than sizes, or fewer (``set_sizes_and_strides``)."""
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides "
            f"({len(strides)})"
        )


def is_contiguous(
    sizes: Sequence[int], strides: Sequence[int], format: memory_format | None = None
) -> bool:
    """Whether a tensor is dense in a memory format; row-major unless it is a channels-last one."""
    order = CHANNELS_LAST.get(format) if format is not None else None
    if order is not None:
        return len(order) == len(sizes) and is_dense_in_order(sizes, strides, order)
    return 0 in sizes or _is_row_major(tuple(sizes), tuple(strides))


@lru_cache(maxsize=10_000)  # every operator asks it of its operands
def _is_row_major(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """:func:`is_dense_in_order` of the order that nearly all tensors have."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def suggest_memory_format(sizes: Sequence[int], strides: Sequence[int]) -> memory_format:
    """Channels last if the strides are those of such a tensor, or of a part of one."""
    for format in CHANNELS_LAST:
        if is_strides_like(sizes, strides, format):
            return format
    return MEMORY_FORMATS["contiguous_format"]


def _grow_in_order(sizes: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    """``is_channels_last_strides``; what could be row-major as well is that."""
    if strides[1] == 0:
        return False
    least = 0
    for dim in order:
        if sizes[dim] == 0 or strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * sizes[dim] if sizes[dim] > 1 else strides[dim]
    return True


def is_strides_like(sizes: Sequence[int], strides: Sequence[int], format: memory_format) -> bool:
    """Whether the strides are those of a channels-last tensor, or of a part of one."""
    order = CHANNELS_LAST.get(format)
    if order is None or len(order) != len(sizes):
        return False
    return _grow_in_order(sizes, strides, order)


def is_non_overlapping_and_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a stretch of memory, in whatever order of dimensions."""
    if len(sizes) == 1:
        return sizes[0] < 2 or strides[0] == 1
    return is_contiguous(sizes, strides) or _is_permuted_dense(tuple(sizes), tuple(strides))


@lru_cache(maxsize=10_000)
def _is_permuted_dense(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    order = sorted(range(len(sizes)), key=lambda dim: (sizes[dim] < 2, strides[dim]))
    step = 1
    for dim in order:
        if sizes[dim] < 2:
            return True
        if strides[dim] != step:
            return False
        step *= sizes[dim]
    return True


def storage_bytes(sizes: Sequence[int], strides: Sequence[int], offset: int, itemsize: int) -> int:
    """Bytes that a storage must have for a tensor of this geometry."""
    if 0 in sizes:
        check_numel(sizes)
        return 0
    if numel(sizes) * itemsize >= _WORD // 2:
        raise _uncountable_bytes(sizes)
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return (offset + last + 1) * itemsize


_WORD: Final = 1 << 64
_LEAST_SYMINT: Final = -(1 << 62)


def check_symints(numbers: Sequence[int]) -> None:
    """``fromIntArrayRefSlow``: RuntimeError for a number whose bits say that it is a symbol."""
    for number in numbers:
        if number < _LEAST_SYMINT:
            raise RuntimeError(
                f"IntArrayRef contains an int that cannot be represented as a SymInt: {number}"
            )


def int64_of(number: int) -> int:
    """What is left of a number in 64 bits with a sign."""
    return (number + _WORD // 2) % _WORD - _WORD // 2


def symbolic_nbytes(sizes: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """``computeStorageNbytes`` of what can be symbols: nobody looks whether it fits 64 bits."""
    if 0 in sizes:
        return 0
    pairs = zip(sizes, strides, strict=True)
    return int64_of(itemsize * (1 + sum(stride * (size - 1) for size, stride in pairs)))


def _uncountable_bytes(sizes: Sequence[int]) -> RuntimeError:
    """``computeStorageNbytesContiguous``"""
    return RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")


def check_strides(strides: Sequence[int]) -> None:
    """RuntimeError where those that were computed do not fit, as of a tensor without elements."""
    if max(strides, default=0) >= _WORD // 2:
        raise RuntimeError("Stride calculation overflowed")


def completed_strides(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """``TensorImpl::set_sizes_and_strides``: a negative stride stands for as far as the next
    dimension reaches."""
    found = list(strides)
    for dim in range(len(found) - 1, -1, -1):
        if found[dim] < 0:
            is_last = dim == len(found) - 1
            found[dim] = 1 if is_last else max(sizes[dim + 1], 1) * found[dim + 1]
    return tuple(found)


def check_size_nonnegative(sizes: Sequence[int]) -> None:
    """RuntimeError where a new tensor would have a negative size, as ``as_strided`` gives them."""
    for size in sizes:
        if size < 0:
            shown = list(sizes)
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {shown}")


def check_numel(sizes: Sequence[int]) -> None:
    """``safe_compute_numel``: RuntimeError where the count does not fit, not even on the way to
    zero; a negative size is a large unsigned one."""
    is_usual = 0 < math.prod(sizes) < _WORD // 2 and min(sizes, default=0) >= 0
    if not is_usual and _overflows(sizes):
        raise RuntimeError("numel: integer multiplication overflow")


def _overflows(sizes: Sequence[int]) -> bool:
    product, overflow = 1, False
    for size in sizes:
        product *= size % _WORD
        overflow |= product >= _WORD
        product %= _WORD
    return overflow or product >= _WORD // 2


def wrap_dim(dim: int, rank: int, *, scalar: bool = True) -> int:
    """``dim`` counted from the front; IndexError out of range.

    A tensor without dimensions has one for this purpose if ``scalar``.
    """
    if rank <= 0:
        if not scalar:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        rank = 1
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
            f"but got {dim})"
        )
    return dim % rank


MAX_LISTED_DIMS: Final = 64
"""``dim_bitset_size``."""


def check_listed_rank(rank: int) -> None:
    """Dimensions that are listed are bits of a word."""
    if rank > MAX_LISTED_DIMS:
        raise RuntimeError(f"only tensors with up to {MAX_LISTED_DIMS} dims are supported")


def dim_list(dims: Iterable[int], rank: int) -> tuple[int, ...]:
    """``dim_list_to_bitset``: wrapped dimensions; RuntimeError for one that is named twice."""
    check_listed_rank(rank)
    found: list[int] = []
    for dim in dims:
        wrapped = wrap_dim(dim, rank)
        if wrapped in found:
            raise RuntimeError(f"dim {wrapped} appears multiple times in the list of dims")
        found.append(wrapped)
    return tuple(found)


def positions(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a shape, in row-major order."""
    if not sizes:
        yield ()
        return
    for place in range(sizes[0]):
        for rest in positions(sizes[1:]):
            yield (place, *rest)


@lru_cache(maxsize=10_000)
def strides_of_new(sizes: tuple[int, ...], layout: Layout, itemsize: int) -> tuple[int, ...]:
    """Strides of a new tensor; one that keeps its elements by their coordinates, or opaquely, has
    what an implementation without strides is made with.

    RuntimeError where bytes or strides cannot be counted, be it on the way to no elements.
    """
    if layout is sparse_coo:
        return (0,) * len(sizes)
    if layout is mkldnn:
        return (1, *(0,) * (len(sizes) - 1)) if sizes else ()
    strides = contiguous_strides(sizes)
    if 0 in sizes:
        if _overflows((*sizes, itemsize)):
            raise _uncountable_bytes(sizes)
        check_strides(strides)
    return strides


def dense_strides_like(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense copy, its dimensions in the same order (``at::infer_dense_strides``)."""
    if is_non_overlapping_and_dense(sizes, strides):
        return tuple(strides)
    return strides_in_order(sizes, innermost_first(sizes, strides))


def innermost_first(sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The dimensions of one tensor as ``TensorIterator`` sorts them."""
    return dimension_order(len(sizes), lambda a, b: _comes_before(a, b, sizes, strides))


def dimension_order(rank: int, compare: Callable[[int, int], int]) -> list[int]:
    """Dimensions from the innermost to the outermost, sorted by insertion: where ``compare`` does
    not know of two, the next one out is asked about."""
    order = list(range(rank - 1, -1, -1))
    for place in range(1, rank):
        moved = place
        for earlier in range(place - 1, -1, -1):
            answer = compare(order[earlier], order[moved])
            if answer > 0:
                order[earlier], order[moved] = order[moved], order[earlier]
                moved = earlier
            elif answer < 0:
                break
    return order


def _comes_before(one: int, two: int, sizes: Sequence[int], strides: Sequence[int]) -> int:
    """-1 if dimension ``one`` lies further in than ``two``, 1 if further out, 0 if unknown."""
    if strides[one] == 0 or strides[two] == 0:
        return 0
    if strides[one] != strides[two]:
        return -1 if strides[one] < strides[two] else 1
    return 1 if sizes[one] > sizes[two] else 0
