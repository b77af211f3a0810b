"""Shards: the k-th of n parts of a run, the same parts wherever it is split."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """``index`` counts from 1 to ``count``."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise ValueError(f"shard {self.index}/{self.count}: they go from 1/n to n/n")

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``2/3``; ArgumentTypeError, which argparse and pytest show, for anything else."""
        match = re.fullmatch(r"(\d+)/(\d+)", text, re.ASCII)
        if match is None:
            raise ArgumentTypeError(f"{text!r} is no shard, such as 2/3")
        try:
            return cls(*map(int, match.groups()))
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """Every n-th of ``items``: neighbours cost alike, so the shards take equally long."""
        return items[self.index - 1 :: self.count]
