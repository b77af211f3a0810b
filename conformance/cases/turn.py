"""Goes round in a pool of values, where not each of them can meet each callee."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count


class Turn:
    """Answers the values of pools in turn, so that all of a pool is used by someone."""

    def __init__(self) -> None:
        self._count = count()

    def of(self, values: Sequence[str]) -> str:
        return values[next(self._count) % len(values)]
