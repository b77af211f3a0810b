"""A trend: how many cases differed in run after run, as the numbers of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.compare import AreaCounts
from conformance.report.history import Summary

WIDTH: Final = 640.0
HEIGHT: Final = 120.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 22.0
NEWEST: Final = 60
"""More runs than this would be points on top of each other: the newest are drawn."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run."""

    x: float
    y: float
    started: str
    cases: int
    differing: int
    absent: int
    """In how many the subject lacks a name, which is no difference."""
    whole: bool
    """Whether the run had all the areas that any had, and came to its end."""

    @property
    def day(self) -> str:
        return self.started[:10]

    @property
    def time(self) -> str:
        return f"{self.day} {self.started[11:16]}"


@dataclass(frozen=True, slots=True)
class Trend:
    """Points from left to right, the earliest first, and the lines behind them."""

    points: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...]
    """Heights, each with the number of differing cases that it stands for."""
    name: str = ""
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def path(self) -> str:
        """The line through the runs that can be compared: those that are whole."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points if point.whole)

    @property
    def left(self) -> float:
        return LEFT

    @property
    def right(self) -> float:
        return self.width - RIGHT

    @property
    def lacks_names(self) -> bool:
        return any(point.absent for point in self.points)

    @property
    def all_whole(self) -> bool:
        return all(point.whole for point in self.points)


def of_runs(kept: Sequence[Summary], name: str = "") -> Trend | None:
    """The trend of whole runs; none where there are not two to compare."""
    most = max((len(each.areas) for each in kept), default=0)
    return _trend(
        ((each, each.counts, each.complete and len(each.areas) == most) for each in kept), name
    )


def of_area(kept: Sequence[Summary], area: str) -> Trend | None:
    """The same for one area."""
    found = ((each, each.areas[area]) for each in kept if area in each.areas)
    return _trend(((each, counts, each.complete) for each, counts in found if counts.cases), area)


def _trend(rows: Iterable[tuple[Summary, AreaCounts, bool]], name: str) -> Trend | None:
    listed = list(rows)[-NEWEST:]
    if len(listed) < 2:
        return None
    ticks = _ticks(max(counts.mismatch for _, counts, _ in listed))
    step = (WIDTH - LEFT - RIGHT) / (len(listed) - 1)
    points = tuple(
        Point(
            LEFT + index * step,
            _height(counts.mismatch, ticks[-1]),
            each.facts.started,
            counts.cases,
            counts.mismatch,
            counts.absent,
            whole,
        )
        for index, (each, counts, whole) in enumerate(listed)
    )
    return Trend(points, tuple((_height(tick, ticks[-1]), f"{tick:,}") for tick in ticks), name)


def _ticks(most: int) -> list[int]:
    """0, 1, 10, 100 … up to the first that is not less than ``most``."""
    ticks = [0, 1]
    while ticks[-1] < most:
        ticks.append(ticks[-1] * 10)
    return ticks if ticks[-1] < 1000 else [0, *ticks[2:]]  # 0 and 1 would stand on each other


def _height(count: int, top: int) -> float:
    """Where ``count`` stands: by its logarithm, so that 1 beside 1,000 is not 0."""
    share = math.log1p(count) / math.log1p(top)
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
