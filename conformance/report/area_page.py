"""The page of one area of a run: every case that differs, by the rule that it breaks.

In sight is the smallest case of each of the first rules.  The others wait in ``<template>``
elements, which a browser reads and does not lay out: a page of ten thousand cases opens as fast as
one of ten, and its search finds them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.compare import Comparison
from conformance.report import page
from conformance.report.history import Summary
from conformance.report.marks import visible
from conformance.report.model import DIFFERING, AreaResult, Run
from conformance.report.places import INDEX, anchor, area_page, release_page, rule_anchor
from conformance.report.rules import Broken, Rule, by_rule
from conformance.report.trend import of_area

OPEN_RULES: Final = 20
"""So many rules are unfolded from the beginning."""
MOST_CASES: Final = 20_000
"""A page that lists more cases than this takes seconds to open; the JSON report has them all."""
OPEN_TARGETS: Final = 60
"""The table of targets is unfolded while it is short enough to say where to look."""


Listed = tuple[Comparison, str]
"""A case and its place on the page; none, where the same case stands there already."""


@dataclass(frozen=True, slots=True)
class Group:
    """The cases of one rule as the page lists them."""

    rule: Rule
    anchor: str
    count: int
    first: list[Listed]
    """In sight from the beginning."""
    waiting: list[Listed]
    open: bool

    @property
    def left_out(self) -> int:
        return self.count - len(self.first) - len(self.waiting)


def pieces(run: Run, area: AreaResult, kept: Sequence[Summary] = ()) -> Iterator[str]:
    unjudged = [each for each in area.casualties if each.verdict not in DIFFERING]
    elsewhere = [each for each in area.casualties if each.verdict in DIFFERING]
    seen: set[str] = set()
    groups = list(_groups(by_rule(area.differing), seen))
    shown = [*area.differing, *unjudged]
    return page.pieces(
        "area.html.j2",
        run=run,
        area=area,
        root="../",
        index=INDEX,
        release_page=release_page(run),
        here=area_page(run, area),
        groups=groups,
        unjudged=list(_groups(by_rule(unjudged), seen, prefix="unjudged-", most_open=0)),
        elsewhere=[(each.case.id, anchor(each.case.id)) for each in elsewhere],
        targets_open=bool(groups) and len(area.targets) <= OPEN_TARGETS,
        targets=_options(each.case.target for each in shown),
        verdicts=_options(each.verdict for each in shown),
        trend=of_area(kept, area.name),
    )


def render(run: Run, area: AreaResult, kept: Sequence[Summary] = ()) -> str:
    """The page."""
    return "".join(pieces(run, area, kept))


def _groups(
    broken: Sequence[Broken], seen: set[str], prefix: str = "", most_open: int = OPEN_RULES
) -> Iterator[Group]:
    total = sum(len(each.comparisons) for each in broken)
    most = total if total <= MOST_CASES else max(1, MOST_CASES // len(broken))
    for position, each in enumerate(broken):
        open_ = position < most_open
        listed = list(_listed(each.comparisons[:most], seen))
        sight = 1 if open_ else 0
        yield Group(
            each.rule,
            prefix + rule_anchor(each.rule),
            len(each.comparisons),
            listed[:sight],
            listed[sight:],
            open_,
        )


def _listed(comparisons: Iterable[Comparison], seen: set[str]) -> Iterator[Listed]:
    """A case may be there twice: generated, and drawn again."""
    for comparison in comparisons:
        place = anchor(comparison.case.id)
        yield comparison, "" if place in seen else place
        seen.add(place)


def _options(names: Iterable[str]) -> list[tuple[str, int]]:
    """What a reader may choose among, each with its number of cases."""
    counts: dict[str, int] = {}
    for name in names:
        counts[visible(name)] = counts.get(visible(name), 0) + 1
    return sorted(counts.items())
