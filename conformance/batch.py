"""Batches: a pytest item is many cases, so that a hundred thousand cases stay fast.

Each batch writes its comparisons to a file of its own: what an interrupted run had is there, and
pytest-xdist's workers need not send anything.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from conformance.compare import Agreement, Comparison
from conformance.outcome import Kind

PLAN: Final = "planned.json"
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to do, by area."""

    cases: Mapping[str, int] = field(default_factory=dict)
    """How many generated cases there are, with those that a recorded oracle does not know."""
    whole: Mapping[str, int] = field(default_factory=dict)
    """The same of all shards together, if the run is one of several."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive cases of an area: which, not what they are.

    A process has the batches of all areas, and makes the cases of an area when it comes to one.
    """

    area: str
    index: int
    start: int
    size: int
    is_last: bool = False
    """Whether it goes to the end of the area, however many cases there turn out to be."""

    @property
    def id(self) -> str:
        return f"{self.area}-{self.index:04}"

    def of(self, cases: Sequence[Item]) -> Sequence[Item]:
        """Its part of all cases of the area."""
        return cases[self.start : None if self.is_last else self.start + self.size]


def batches(area: str, count: int, size: int) -> Iterator[Batch]:
    """``count`` cases in batches of ``size``, in their order; the last may be smaller."""
    for index, start in enumerate(range(0, count, size)):
        yield Batch(area, index, start, min(size, count - start), start + size >= count)


class Outcomes:
    """The directory of a run's comparisons: one ``.jsonl`` file per batch."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def clear(self) -> None:
        """Forget an earlier run: nothing of it may be counted for this one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.json", "*.jsonl", "*.log", "*.partial"):
            for path in self.directory.glob(pattern):
                path.unlink()

    def write_plan(self, plan: Plan) -> None:
        """What is to be done, for a run that does not reach the last of it.

        Every worker of pytest-xdist writes the same one, at once: each has a partial of its own.
        """
        path = self.directory / PLAN
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(asdict(plan)))
        partial.replace(path)

    def read_plan(self) -> Plan:
        path = self.directory / PLAN
        return Plan(**json.loads(path.read_text())) if path.exists() else Plan()

    def open(
        self,
        name: str,
        left_out: Mapping[str, Mapping[str, int]] = _NOTHING,
        others: Mapping[str, int] = _NOTHING,
    ) -> Kept:
        """The file of one batch, to add comparisons to; the rest as in its `Summary`."""
        summary = Summary(left_out=dict(left_out), others=dict(others))
        return Kept(self.directory / f"{name}.jsonl", summary)

    def read(self) -> Iterator[Comparison | Summary]:
        """All that was kept so far; a last line that was cut short is left out."""
        for path in sorted(self.directory.glob("*.jsonl")):
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):
                        yield _read(json.loads(line))


@dataclass(frozen=True, slots=True)
class Summary:
    """What a batch had besides the comparisons that its file has."""

    agreed: tuple[tuple[str, str, Kind, int], ...] = ()
    """Areas, targets, how the oracle ended, and in how many cases."""
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By why, and by area: how many cases did not run for want of an oracle's answer."""
    others: Mapping[str, int] = field(default_factory=dict)
    """By area: how many cases there are more than were planned, or fewer."""


class Kept:
    """What is kept of a batch: the comparisons, one JSON line each, and a `Summary` at the end.

    Each `Agreement` is counted.
    """

    def __init__(self, path: Path, summary: Summary) -> None:
        self._path = path
        self._summary = summary
        self._agreed: Counter[tuple[str, str, Kind]] = Counter()

    def __enter__(self) -> Kept:
        self._file = self._path.open("w", encoding="utf-8")
        return self

    def __exit__(self, *raised: object) -> None:
        """The summary is of an interrupted batch, too."""
        agreed = tuple((*what, count) for what, count in self._agreed.items())
        with self._file:
            self._line(asdict(replace(self._summary, agreed=agreed)))

    def add(self, comparison: Comparison | Agreement) -> None:
        if isinstance(comparison, Agreement):
            case = comparison.case
            self._agreed[case.area, case.target, comparison.kind] += 1
        else:
            self._line(comparison.to_json())

    def _line(self, data: Any) -> None:
        self._file.write(json.dumps(data, separators=(",", ":")) + "\n")


def _read(data: dict[str, Any]) -> Comparison | Summary:
    if "agreed" in data:
        return Summary(tuple(map(tuple, data["agreed"])), data["left_out"], data["others"])
    return Comparison.from_json(data)
