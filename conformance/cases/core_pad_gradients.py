"""Gradients of padding whose sizes, and whose padding's length, are not as they should be: which
of them each release looks at, and what it says first.  For the area core-ops.

Nothing mirrors more than there is, which on the CPU is written outside of the result's memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_KINDS: Final = ("reflection", "replication")
_RANKS: Final = (1, 2, 3)
_SIZES: Final = (2, 0)
_DEVICES: Final = ("cpu", "meta")


def texts() -> Iterator[Text]:
    for kind, rank, size, device in product(_KINDS, _RANKS, _SIZES, _DEVICES):
        target = f"{kind}_pad{rank}d_backward"
        looks_at_length = device == "meta" or kind == "replication" or rank == 3
        for dims in range(0 if size else 1, rank + 4):
            x = f"xp.ones({[size] * dims}, device='{device}')"
            for padding in _paddings(rank, shorter=looks_at_length):
                for sizes in _grad_sizes(size, dims, rank, padding):
                    grad = f"xp.ones({sizes}, device='{device}')"
                    yield target, f"xp.ops.aten.{target}({grad}, {x}, {padding}).shape"


def _paddings(rank: int, *, shorter: bool) -> Iterator[list[int]]:
    yield from ([0] * (2 * rank), [1] * (2 * rank), [-1, 1] * rank, [1] * (2 * rank + 1))
    if shorter:
        yield [0] * (2 * rank - 1)


def _grad_sizes(size: int, dims: int, rank: int, padding: list[int]) -> list[list[int]]:
    """As many as the input has, one more, too many everywhere, and those of the result."""
    grown = size + sum(padding[:2])
    found = [[size] * dims, [size] * (dims + 1), [size + 2] * dims]
    if dims >= rank:
        found.append([size] * (dims - rank) + [grown] * rank)
    return [each for place, each in enumerate(found) if each not in found[:place]]
