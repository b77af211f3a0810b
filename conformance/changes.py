"""What changed from one report to a later one: better, worse, appeared, vanished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from conformance.compare import Comparison
from conformance.report.marks import sides
from conformance.report.model import Run

BAD: Final = frozenset({"mismatch", "absent"})
"""Verdicts that are held against the subject; a known mismatch is not."""


@dataclass(frozen=True, slots=True)
class Change:
    """A case that at least one of the reports lists, and what each says of it."""

    id: str
    text: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many cases of a target, or of a whole area, each report has; None: it has none of it."""

    name: str
    before: int | None
    after: int | None

    def __str__(self) -> str:
        return f"{self.name}: {_shown(self.before)} → {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class Changes:
    """A report lists the cases that differ and counts the others, so cases are told from each
    other where they differ, and counted where they do not."""

    better: tuple[Change, ...]
    """They differed and do no more, or the ledger has them now."""
    worse: tuple[Change, ...]
    """They differ and did not, or the ledger has them no more."""
    otherwise: tuple[Change, ...]
    """They differed and still do, in another way."""
    appeared: tuple[Count, ...]
    """Areas and targets with more cases than before."""
    vanished: tuple[Count, ...]
    """Areas and targets with fewer."""
    lost: tuple[str, ...]
    """Areas that ran whole, and now did not."""

    @property
    def regressed(self) -> bool:
        """Whether a case got worse, or an area was not looked at any more."""
        return bool(self.worse or self.lost)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "regressed": self.regressed}


def changes(before: Run, after: Run) -> Changes:
    """What there is to say of ``after`` to somebody who knows ``before``."""
    old = {comparison.case.id: comparison for comparison in before.differing}
    new = {comparison.case.id: comparison for comparison in after.differing}
    counts = list(_counts(before, after))
    gone = {count.name for count in counts if count.after is None}
    moved = [
        (_is_bad(old.get(id)), _is_bad(new.get(id)), _change(old.get(id), new.get(id)))
        for id in dict.fromkeys((*old, *new))
        if not gone & _names(old.get(id) or new[id])
    ]
    return Changes(
        tuple(change for was, now, change in moved if was and not now),
        tuple(change for was, now, change in moved if now and not was),
        tuple(
            change for was, now, change in moved if was and now and change.before != change.after
        ),
        tuple(count for count in counts if (count.after or 0) > (count.before or 0)),
        tuple(count for count in counts if (count.after or 0) < (count.before or 0)),
        tuple(name for name in before.whole_areas if name not in after.whole_areas),
    )


def _is_bad(comparison: Comparison | None) -> bool:
    return comparison is not None and comparison.verdict in BAD


def _names(comparison: Comparison) -> set[str]:
    """What a count may be of that counts this case: its area, or its target."""
    case = comparison.case
    return {case.area, f"{case.area}/{case.target}"}


def _change(old: Comparison | None, new: Comparison | None) -> Change:
    known = new or old
    assert known is not None
    return Change(known.case.id, known.case.text, _told(old), _told(new))


def _told(comparison: Comparison | None) -> str:
    if comparison is None:
        return "agree"
    if comparison.verdict not in BAD:
        return comparison.verdict
    left, right = sides(comparison)
    return f"{comparison.verdict}: {left} / {right}"


def _counts(before: Run, after: Run) -> Iterator[Count]:
    """Every area that one of them lacks, every target of the others that they count differently."""
    earlier, later = ({area.name: area for area in run.areas} for run in (before, after))
    for name in dict.fromkeys((*earlier, *later)):
        old, new = earlier.get(name), later.get(name)
        if old is None or new is None:
            yield Count(name, old.counts.cases if old else None, new.counts.cases if new else None)
            continue
        was = {target.name: target.counts.cases for target in old.targets}
        now = {target.name: target.counts.cases for target in new.targets}
        for target in dict.fromkeys((*was, *now)):
            if was.get(target) != now.get(target):
                yield Count(f"{name}/{target}", was.get(target), now.get(target))


def _shown(count: int | None) -> str:
    return "none" if count is None else f"{count:,}"
