"""The facts of one run against one torch release: what every view of it shows.

A :class:`Run` holds counts for everything and whole comparisons only for what a reader must
see: the cases that differ and the cases that the oracle did not survive.  A
:class:`RunBuilder` makes one from comparisons in any order, so a run of a million cases, on
many workers, costs the memory of its differences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

from conformance.compare import AreaCounts, Comparison, Verdict
from conformance.outcome import Kind
from conformance.shard import Shard

TORCH_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+)*[A-Za-z0-9.]*")
UTC_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", re.ASCII)

DIFFERING: Final[frozenset[Verdict]] = frozenset({"mismatch", "known", "absent"})
DRAWN: Final = "hypothesis"
"""The origin of a case that no plan can count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a run before its first case."""

    torch: str
    """The release, for example ``2.4.1``; reports are named after it."""
    full_version: str
    """What that torch calls itself, for example ``2.4.1+cpu``."""
    git_hash: str
    platform: str
    python: str
    suite: str
    """The version of this suite."""
    subject: str
    profile: str
    """The profile the subject ran with, for example ``2.4``."""
    started: str
    """ISO 8601, in UTC: ``2026-01-31T12:00:00Z``."""
    oracle: Literal["live", "recorded"] = "live"
    hypothesis_profile: str = ""
    seed: int | None = None

    def __post_init__(self) -> None:
        if not TORCH_VERSION.fullmatch(self.torch):
            raise ValueError(f"torch={self.torch!r} is not a release, such as '2.4.1'")
        if not UTC_TIME.fullmatch(self.started):
            raise ValueError(f"started={self.started!r} is not an ISO 8601 time in UTC")


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What came of the cases about one target."""

    name: str
    counts: AreaCounts


@dataclass(frozen=True, slots=True)
class AreaResult:
    """What came of one area: counts for all its cases, whole comparisons for a few."""

    name: str
    counts: AreaCounts
    targets: tuple[TargetResult, ...] = ()
    differing: tuple[Comparison, ...] = ()
    """Every mismatch, known mismatch and absent name: by target, the shortest case first."""
    casualties: tuple[Comparison, ...] = ()
    """Every case that crashed, hung or exhausted memory in the oracle."""
    planned: int | None = None
    """How many cases the area has, when the run ended before the last of them."""
    unrecorded: int = 0
    """How many further cases were left out because a recorded oracle does not know them."""
    nondeterministic: int = 0
    """The same of cases that PyTorch, when it was recorded, did not answer the same way twice."""

    @property
    def unjudged(self) -> int:
        return unjudged(self.counts)


@dataclass(frozen=True, slots=True)
class ShardOf:
    """Which part of a run a run is."""

    shard: Shard
    planned: Mapping[str, int]
    """By area, how many generated cases are in this shard."""
    whole: Mapping[str, int]
    """By area, how many are in all shards together."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run against one torch release."""

    facts: Facts
    areas: tuple[AreaResult, ...]
    seconds: float = 0.0
    interrupted: bool = False
    stale: tuple[str, ...] = ()
    """Ledger entries that no case matched, or whose cases no longer differ."""
    shard: ShardOf | None = None
    """Set if this is one shard of a run."""
    lost: tuple[Shard, ...] = ()
    """The shards that were missing when shards were merged into this run."""

    @property
    def stem(self) -> str:
        """The name of this run's reports, less the suffix."""
        shard = self.shard.shard if self.shard else None
        return stem(self.facts.torch, self.facts.oracle, shard)

    @property
    def differing(self) -> tuple[Comparison, ...]:
        """The differing cases of all areas."""
        return tuple(comparison for area in self.areas for comparison in area.differing)

    @property
    def whole_areas(self) -> tuple[str, ...]:
        """The areas of which every planned case ran."""
        return tuple(area.name for area in self.areas if area.planned is None)

    @property
    def counts(self) -> AreaCounts:
        """The areas' counts, added up."""
        return add_counts(area.counts for area in self.areas)

    @property
    def unjudged(self) -> int:
        return unjudged(self.counts)

    @property
    def complete(self) -> bool:
        """Whether every planned case ran."""
        cut_short = self.interrupted or self.lost
        return not cut_short and all(area.planned is None for area in self.areas)

    @property
    def targets(self) -> int:
        return sum(len(area.targets) for area in self.areas)

    @property
    def passed(self) -> bool:
        """Whether the run is whole, and all that differs is in a ledger without stale entries."""
        counts = self.counts
        return (
            counts.cases > 0
            and counts.mismatch == counts.absent == 0
            and self.complete
            and not self.stale
        )

    @property
    def verdict(self) -> str:
        """The run in one plain sentence."""
        counts, subject, torch = self.counts, self.facts.subject, f"PyTorch {self.facts.torch}"
        ran = "" if self.complete else " that ran before the run was cut short"
        if not counts.cases:
            return f"No case ran: nothing is known of {subject} and {torch}."
        judged = counts.cases - self.unjudged - counts.uncovered
        survived = " that PyTorch itself survives" if self.unjudged else ""
        if counts.agree == judged:
            cases = f"all {judged:,} cases" if judged != 1 else "the one case"
            return f"{subject} agrees with {torch} in {cases}{survived}{ran}."
        of = f"of {number(judged, 'case')}{survived}{ran}"
        if not counts.mismatch and not counts.absent:
            known = f"the ledger lists the other {counts.known:,}"
            return f"{subject} agrees with {torch} in {counts.agree:,} {of}; {known}."
        parts = [f"{subject} differs from {torch} in {counts.mismatch:,} {of}"]
        if counts.known:
            parts.append(f"the ledger lists {counts.known:,} more")
        if counts.absent:
            parts.append(f"in {counts.absent:,} it lacks the name")
        return f"{'; '.join(parts)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know besides the verdict; most runs have none."""
        notes: list[str] = []
        counts = self.counts
        planned = sum(area.planned or area.counts.cases for area in self.areas)
        if not self.complete:
            notes.append(f"{self.counts.cases:,} of {number(planned, 'planned case')} ran.")
        if self.lost:
            named = ", ".join(map(str, self.lost))
            notes.append(f"{number(len(self.lost), 'shard is', 'shards are')} lost: {named}.")
        if self.stale:
            entries = number(len(self.stale), "ledger entry matches", "ledger entries match")
            notes.append(f"{entries} no difference any more, and must be removed.")
        lost = sum(len(area.casualties) for area in self.areas)
        if counts.uncovered:
            cases = number(counts.uncovered, "case")
            notes.append(f"{cases} on a device are counted apart: it has no kernel for all of it.")
        unrecorded = sum(area.unrecorded for area in self.areas)
        if unrecorded:
            notes.append(f"{number(unrecorded, 'case')} did not run: no recording has them.")
        varying = sum(area.nondeterministic for area in self.areas)
        if varying:
            cases = number(varying, "case")
            notes.append(f"{cases} did not run: recorded twice, PyTorch's outcomes differed.")
        if lost:
            cases = number(lost, "case")
            notes.append(f"PyTorch itself crashed, hung or ran out of memory in {cases}.")
        return tuple(notes)


def stem(
    release: str, oracle: Literal["live", "recorded"] = "live", shard: Shard | None = None
) -> str:
    """What the files of a run are called, less the suffix; a live run and one against what was
    recorded of the same release stand beside each other."""
    part = f"shard-{shard.index}-of-{shard.count}-" if shard else ""
    return f"{part}torch-{release}{'-recorded' if oracle == 'recorded' else ''}"


def number(count: int, one: str, many: str = "") -> str:
    """``1 case``, ``1,024 cases``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def unjudged(counts: AreaCounts) -> int:
    """How many cases the subject survived and the oracle did not: they say nothing of either."""
    judged = counts.agree + counts.mismatch + counts.known + counts.absent + counts.uncovered
    return counts.cases - judged


def add_counts(counts: Iterable[AreaCounts]) -> AreaCounts:
    """The sum of ``counts``, field by field."""
    names = [field.name for field in fields(AreaCounts)]
    totals: Counter[str] = Counter()
    for each in counts:
        totals.update({name: getattr(each, name) for name in names})
    return AreaCounts(**{name: totals[name] for name in names})


class RunBuilder:
    """Takes comparisons one by one, in any order, and makes a :class:`Run` at any time.

    ``planned`` says how many cases each area has, less those that hypothesis draws; it also
    sets the order of the areas.  An area it does not name follows the others, by name.
    """

    def __init__(self, facts: Facts, planned: Mapping[str, int] | None = None) -> None:
        self._facts = facts
        self._planned = dict(planned or {})
        self._tallies: dict[str, dict[str, Counter[tuple[Verdict, Kind]]]] = {}
        self._differing: dict[str, list[Comparison]] = {}
        self._casualties: dict[str, list[Comparison]] = {}
        self._drawn: Counter[str] = Counter()
        self._left_out: dict[str, Counter[str]] = {}

    def add(self, comparison: Comparison) -> None:
        """Count ``comparison``; keep it if a reader must see it."""
        case, verdict, kind = comparison.case, comparison.verdict, comparison.oracle.kind
        self._tally(case.area, case.target)[verdict, kind] += 1
        if case.origin == DRAWN:
            self._drawn[case.area] += 1
        if verdict in DIFFERING:
            self._differing.setdefault(case.area, []).append(comparison)
        if not comparison.oracle.survived:
            self._casualties.setdefault(case.area, []).append(comparison)

    def add_agreed(self, area: str, target: str, kind: Kind, count: int) -> None:
        """Count generated cases that agree, in which the oracle ended so."""
        self._tally(area, target)["agree", kind] += count

    def plan(self, area: str, cases: int) -> None:
        """Plan so many more cases of an area, or fewer."""
        self._planned[area] = self._planned.get(area, 0) + cases

    def leave_out(self, why: str, area: str, count: int) -> None:
        """Cases that were planned and of which a recorded oracle knows no outcome."""
        self._left_out.setdefault(area, Counter())[why] += count

    def _tally(self, area: str, target: str) -> Counter[tuple[Verdict, Kind]]:
        return self._tallies.setdefault(area, {}).setdefault(target, Counter())

    def run(
        self, *, seconds: float = 0.0, interrupted: bool = False, stale: Iterable[str] = ()
    ) -> Run:
        """The run so far."""
        unplanned = sorted(self._tallies.keys() - self._planned.keys())
        areas = tuple(self._area(name) for name in (*self._planned, *unplanned))
        return Run(self._facts, areas, seconds, interrupted, tuple(stale))

    def _area(self, name: str) -> AreaResult:
        tallies = self._tallies.get(name, {})
        targets = tuple(
            TargetResult(target, _count(tally)) for target, tally in sorted(tallies.items())
        )
        counts = add_counts(target.counts for target in targets)
        left_out = self._left_out.get(name, Counter())
        planned = self._planned.get(name, 0) + self._drawn[name] - left_out.total()
        return AreaResult(
            name,
            counts,
            targets,
            tuple(sorted(self._differing.get(name, ()), key=reading_order)),
            tuple(sorted(self._casualties.get(name, ()), key=reading_order)),
            planned if planned > counts.cases else None,
            **left_out,
        )


def build_run(
    comparisons: Iterable[Comparison],
    facts: Facts,
    *,
    planned: Mapping[str, int] | None = None,
    seconds: float = 0.0,
    interrupted: bool = False,
    stale: Iterable[str] = (),
) -> Run:
    """The run that ``comparisons`` make; they are read once, and those that agree let go."""
    builder = RunBuilder(facts, planned)
    for comparison in comparisons:
        builder.add(comparison)
    return builder.run(seconds=seconds, interrupted=interrupted, stale=stale)


def reading_order(comparison: Comparison) -> tuple[str, int, str]:
    """By target, and in it the shortest text first, which shows most plainly what is wrong."""
    case = comparison.case
    return case.target, len(case.text), case.text


def _count(tally: Counter[tuple[Verdict, Kind]]) -> AreaCounts:
    """A tally as counts; memory that ran out counts as hung, as in :class:`AreaCounts`."""
    verdicts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for (verdict, kind), count in tally.items():
        verdicts[verdict] += count
        kinds[kind] += count
    return AreaCounts(
        cases=verdicts.total(),
        agree=verdicts["agree"],
        mismatch=verdicts["mismatch"],
        known=verdicts["known"],
        absent=verdicts["absent"],
        uncovered=verdicts["uncovered"],
        oracle_crashed=kinds["crashed"],
        oracle_hung=kinds["hung"] + kinds["exhausted"],
    )
