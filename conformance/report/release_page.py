"""The page of a run: its verdict, its areas, and the rules that it breaks over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.compare import Comparison
from conformance.report import page
from conformance.report.history import Summary
from conformance.report.model import AreaResult, Run
from conformance.report.places import INDEX, area_page, rule_anchor
from conformance.report.rules import Rule, by_rule
from conformance.report.trend import of_runs

MOST_RULES: Final = 500
"""A table of more rules than this is not read; the areas' pages have them all."""


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule, how many cases break it in which areas, and the smallest of them."""

    rule: Rule
    count: int
    smallest: Comparison
    areas: list[tuple[str, int, str]]
    """An area's name, how many of its cases break the rule, and where they are."""


def pieces(run: Run, kept: Sequence[Summary] = ()) -> Iterator[str]:
    rules = broken_rules(run)
    return page.pieces(
        "release.html.j2",
        run=run,
        root="",
        index=INDEX,
        facts=facts(run),
        areas=[(area, str(area_page(run, area))) for area in run.areas],
        rules=rules[:MOST_RULES],
        more_rules=max(0, len(rules) - MOST_RULES),
        trend=of_runs(kept),
    )


def render(run: Run, kept: Sequence[Summary] = ()) -> str:
    """The page."""
    return "".join(pieces(run, kept))


def broken_rules(run: Run) -> list[BrokenRule]:
    """The rules that the run breaks, the one that most cases break first."""
    places = {area.name: area_page(run, area) for area in run.areas}
    broken = by_rule(each for area in run.areas for each in area.differing)
    found: list[BrokenRule] = []
    for each in broken:
        counts: dict[str, int] = {}
        for comparison in each.comparisons:
            counts[comparison.case.area] = counts.get(comparison.case.area, 0) + 1
        areas = [
            (name, count, f"{places[name]}#{rule_anchor(each.rule)}")
            for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]
        found.append(BrokenRule(each.rule, len(each.comparisons), each.smallest, areas))
    return found


def facts(run: Run) -> list[tuple[str, str]]:
    """What is known of the run, in the words of a reader."""
    facts = run.facts
    rows = [
        ("PyTorch", f"{facts.full_version}, {facts.oracle}"),
        ("git hash", facts.git_hash),
        ("subject", facts.subject),
        ("profile", facts.profile),
        ("suite", facts.suite),
        ("Python", facts.python),
        ("platform", facts.platform),
        ("started", facts.started.replace("T", " ").replace("Z", " UTC")),
        ("took", duration(run.seconds)),
        ("hypothesis", facts.hypothesis_profile),
        ("seed", "" if facts.seed is None else str(facts.seed)),
    ]
    return [(name, value) for name, value in rows if value]


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def area_status(area: AreaResult) -> str:
    """An area in one word, which decides its sign and its colour."""
    counts = area.counts
    if not counts.cases:
        return "empty"
    if counts.mismatch or counts.absent:
        return "differs"
    if area.planned is not None:
        return "short"
    return "known" if counts.known else "agrees"
