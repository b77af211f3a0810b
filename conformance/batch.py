"""Batches: a pytest item is many cases, so that a hundred thousand cases stay fast.

Each batch writes its comparisons to a file of its own as they come, one JSON line each: what an
interrupted run had is there, and pytest-xdist's workers need not send anything.
"""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from conformance.area import Area
from conformance.case import Case
from conformance.compare import Comparison
from conformance.outcome import Outcome

PLAN = "planned.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to do, by area."""

    cases: Mapping[str, int] = field(default_factory=dict)
    """How many generated cases are to be compared."""
    whole: Mapping[str, int] = field(default_factory=dict)
    """The same of all shards together, if the run is one of several."""
    unrecorded: Mapping[str, int] = field(default_factory=dict)
    """How many cases a recorded oracle does not know."""
    nondeterministic: Mapping[str, int] = field(default_factory=dict)
    """How many it dropped, because PyTorch did not answer the same twice."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive cases of an area.

    They are kept packed: a process holds the batches of all areas, and what it holds each fork of
    it pays for.  Of a recorded oracle the outcomes are packed with them.
    """

    area: str
    index: int
    size: int
    packed: bytes

    @classmethod
    def of(
        cls, area: str, index: int, cases: Sequence[Case], recorded: Sequence[Outcome] = ()
    ) -> Batch:
        packed = zlib.compress(pickle.dumps((cases, recorded)), level=1)
        return cls(area, index, len(cases), packed)

    @property
    def id(self) -> str:
        return f"{self.area}-{self.index:04}"

    @property
    def cases(self) -> list[Case]:
        """Unpacked anew each time it is asked for."""
        return self._unpacked()[0]

    @property
    def recorded(self) -> list[Outcome]:
        """The oracle's outcomes, one for each case; none of a live oracle."""
        return self._unpacked()[1]

    def _unpacked(self) -> tuple[list[Case], list[Outcome]]:
        unpacked: tuple[list[Case], list[Outcome]] = pickle.loads(zlib.decompress(self.packed))
        return unpacked


def batches(
    area: Area, cases: Iterable[Case], size: int, recorded: Sequence[Outcome] = ()
) -> Iterator[Batch]:
    """``cases`` in batches of ``size``, in their order; the last may be smaller."""
    listed = list(cases)
    for index, start in enumerate(range(0, len(listed), size)):
        here = slice(start, start + size)
        yield Batch.of(area.name, index, listed[here], recorded[here])


class Outcomes:
    """The directory of a run's comparisons: one ``.jsonl`` file per batch."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def clear(self) -> None:
        """Forget an earlier run: nothing of it may be counted for this one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.json", "*.jsonl", "*.log"):
            for path in self.directory.glob(pattern):
                path.unlink()

    def write_plan(self, plan: Plan) -> None:
        """What is to be done, for a run that does not reach the last of it."""
        path = self.directory / PLAN
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(plan)))
        partial.replace(path)

    def read_plan(self) -> Plan:
        path = self.directory / PLAN
        return Plan(**json.loads(path.read_text())) if path.exists() else Plan()

    def open(self, name: str) -> TextIO:
        """The file of one batch, for :func:`record`."""
        return (self.directory / f"{name}.jsonl").open("w", encoding="utf-8")

    def read(self) -> Iterator[Comparison]:
        """Every comparison recorded so far; a last line that was cut short is left out."""
        for path in sorted(self.directory.glob("*.jsonl")):
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):
                        yield Comparison.from_json(json.loads(line))


def record(file: TextIO, comparison: Comparison) -> None:
    """Add one comparison to a batch's file."""
    file.write(json.dumps(comparison.to_json(), separators=(",", ":")) + "\n")
