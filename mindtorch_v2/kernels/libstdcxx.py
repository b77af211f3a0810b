"""The algorithms of GCC's C++ library that leave equal elements in an order of their own.

What torch answers for ties follows from them: which of several equal elements ``topk`` names is
decided by how ``std::nth_element``, ``std::sort`` and ``std::partial_sort`` move elements.  These
do the same steps (``bits/stl_algo.h`` and ``bits/stl_heap.h`` of libstdc++); they were written
from the description of the algorithms: introselect and introsort with the median of three moved
first, an insertion sort below 16 elements, and a heap for a part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Before = Callable[[int, int], bool]
"""Whether one element comes before another."""

_THRESHOLD: Final = 16


def nth_element(items: list[int], nth: int, before: Before) -> None:
    """``std::nth_element(begin, begin + nth, end)``."""
    first, last = 0, len(items)
    if first == last or nth == last:
        return
    depth = (last - first).bit_length() * 2 - 2
    while last - first > 3:
        if depth == 0:
            _heap_select(items, first, nth + 1, last, before)
            items[first], items[nth] = items[nth], items[first]
            return
        depth -= 1
        cut = _partition_pivot(items, first, last, before)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion_sort(items, first, last, before)


def sort(items: list[int], last: int, before: Before) -> None:
    """``std::sort(begin, begin + last)``."""
    if last <= 0:
        return
    _introsort(items, 0, last, last.bit_length() * 2 - 2, before)
    if last > _THRESHOLD:
        _insertion_sort(items, 0, _THRESHOLD, before)
        for place in range(_THRESHOLD, last):
            _unguarded_insert(items, place, before)
    else:
        _insertion_sort(items, 0, last, before)


def partial_sort(items: list[int], middle: int, before: Before) -> None:
    """``std::partial_sort(begin, begin + middle, end)``."""
    _heap_select(items, 0, middle, len(items), before)
    _sort_heap(items, 0, middle, before)


# --- pieces -----------------------------------------------------------------------------------


def _introsort(items: list[int], first: int, last: int, depth: int, before: Before) -> None:
    while last - first > _THRESHOLD:
        if depth == 0:
            _heap_select(items, first, last, last, before)
            _sort_heap(items, first, last, before)
            return
        depth -= 1
        cut = _partition_pivot(items, first, last, before)
        _introsort(items, cut, last, depth, before)
        last = cut


def _partition_pivot(items: list[int], first: int, last: int, before: Before) -> int:
    middle = first + (last - first) // 2
    _median_to_first(items, first, first + 1, middle, last - 1, before)
    low, high, pivot = first + 1, last, first
    while True:
        while before(items[low], items[pivot]):
            low += 1
        high -= 1
        while before(items[pivot], items[high]):
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1


def _median_to_first(items: list[int], result: int, a: int, b: int, c: int, before: Before) -> None:
    if before(items[a], items[b]):
        if before(items[b], items[c]):
            chosen = b
        else:
            chosen = c if before(items[a], items[c]) else a
    elif before(items[a], items[c]):
        chosen = a
    else:
        chosen = c if before(items[b], items[c]) else b
    items[result], items[chosen] = items[chosen], items[result]


def _insertion_sort(items: list[int], first: int, last: int, before: Before) -> None:
    for place in range(first + 1, last):
        if before(items[place], items[first]):
            items.insert(first, items.pop(place))
        else:
            _unguarded_insert(items, place, before)


def _unguarded_insert(items: list[int], place: int, before: Before) -> None:
    value = items[place]
    while before(value, items[place - 1]):
        items[place] = items[place - 1]
        place -= 1
    items[place] = value


def _heap_select(items: list[int], first: int, middle: int, last: int, before: Before) -> None:
    length = middle - first
    for parent in range((length - 2) // 2, -1, -1):
        _adjust(items, first, parent, length, items[first + parent], before)
    for place in range(middle, last):
        if before(items[place], items[first]):
            value = items[place]
            items[place] = items[first]
            _adjust(items, first, 0, length, value, before)


def _sort_heap(items: list[int], first: int, last: int, before: Before) -> None:
    while last - first > 1:
        last -= 1
        value = items[last]
        items[last] = items[first]
        _adjust(items, first, 0, last - first, value, before)


def _adjust(
    items: list[int], first: int, hole: int, length: int, value: int, before: Before
) -> None:
    """``std::__adjust_heap``: the hole sinks to a leaf, then the value rises from there."""
    top = hole
    child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if before(items[first + child], items[first + child - 1]):
            child -= 1
        items[first + hole] = items[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        items[first + hole] = items[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and before(items[first + parent], value):
        items[first + hole] = items[first + parent]
        hole, parent = parent, (parent - 1) // 2
    items[first + hole] = value
