"""Blocks: how a recording knows its cases without holding their text.

The generators make the cases again, in the same order, so a recording needs outcomes alone and a
digest of the cases that they belong to.  One digest for an area would be too few: whoever adds a
case to a generator would lose all of it.  One for each case would be larger than what it guards.
So consecutive cases share one, and where a block ends is for the cases to say: behind each whose
own digest is a multiple of 64.  A case that is added, taken away or changed then changes the block
that it lies in, and where blocks before and behind begin stays as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from conformance.case import Case

ENDS: Final = 64
"""One case in so many ends its block."""
DIGEST_BYTES: Final = 6
"""Enough: an area has some thousand blocks, and a text that was forged would fool nobody else."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive cases of an area, and the digest of what decides their outcomes."""

    digest: str
    cases: tuple[Case, ...]


def blocks(cases: Iterable[Case]) -> Iterator[Block]:
    """``cases`` in blocks, in their order."""
    gathered: list[Case] = []
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for case in cases:
        own = _digest(case)
        digest.update(own)
        gathered.append(case)
        if own[0] % ENDS == 0:
            yield Block(digest.hexdigest(), tuple(gathered))
            gathered, digest = [], hashlib.blake2b(digest_size=DIGEST_BYTES)
    if gathered:
        yield Block(digest.hexdigest(), tuple(gathered))


def _digest(case: Case) -> bytes:
    """Of all that the oracle's outcome depends on: the text, and how it is run and described."""
    told = f"{case.isolation} {case.warnings}\n{case.text}"
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()
