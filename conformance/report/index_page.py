"""``index.html``: areas by releases, the runs, their trends, and the way to every other page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from conformance.report import page, trend
from conformance.report.marks import visible
from conformance.report.model import AreaResult, Run, number
from conformance.report.places import area_page, release_page
from conformance.report.release_page import area_status, duration
from conformance.report.shelf import DRIFT, Shelf

SIGNS: Final = {"agrees": "✓", "known": "≈", "differs": "✗", "short": "…", "empty": "–"}
WORDS: Final = {
    "agrees": "all agree",
    "known": "so many differ, as the ledger lists",
    "differs": "so many differ",
    "short": "cut short, so many ran",
    "empty": "not run",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An area under a release: a sign and a colour, and in words what they mean."""

    status: str
    text: str
    words: str
    link: str = ""

    @property
    def sign(self) -> str:
        return SIGNS[self.status]


NOT_RUN: Final = Cell("empty", "", "not run")


def pieces(shelf: Shelf) -> Iterator[str]:
    runs = shelf.runs
    names = list(dict.fromkeys(area.name for run in runs for area in run.areas))
    rows = [(name, [_cell(run, name) for run in runs]) for name in names]
    trends = (
        trend.of_runs(
            shelf.histories.get(run.stem, ()), f"PyTorch {run.facts.torch}, {run.facts.oracle}"
        )
        for run in runs
    )
    return page.pieces(
        "index.html.j2",
        root="",
        verdict=verdict(runs),
        columns=[(run, str(release_page(run)), duration(run.seconds)) for run in runs],
        rows=rows,
        totals=[_total(run) for run in runs],
        signs=SIGNS,
        words=WORDS,
        trends=[each for each in trends if each],
        drifts=[(f"{DRIFT}/{quote(name)}", _title(name)) for name in shelf.drifts],
        unread=shelf.unread,
    )


def render(shelf: Shelf) -> str:
    """The page."""
    return "".join(pieces(shelf))


def verdict(runs: Sequence[Run]) -> str:
    """All runs in one plain sentence."""
    if not runs:
        return "No run has been reported yet."
    subjects = sorted({visible(run.facts.subject) for run in runs})
    differing = [run for run in runs if run.counts.mismatch or run.counts.absent]
    who = " and ".join(subjects) if len(subjects) < 3 else number(len(subjects), "subject")
    cases = number(sum(run.counts.cases for run in runs), "case")
    if not differing:
        short = "" if all(run.complete for run in runs) else " that ran"
        against = "the one run" if len(runs) == 1 else f"all {len(runs)} runs"
        return f"{who}: no difference from PyTorch in {against}, {cases}{short}."
    count = number(sum(run.counts.mismatch for run in differing), "case")
    where = f"{len(differing)} of {number(len(runs), 'run')}"
    absent = sum(run.counts.absent for run in differing)
    lacking = f"; in {absent:,} a name is missing" if absent else ""
    return f"{who}: {count} of {cases.split()[0]} differ from PyTorch, in {where}{lacking}."


def _cell(run: Run, name: str) -> Cell:
    area = next((area for area in run.areas if area.name == name), None)
    return NOT_RUN if area is None else _status(area, str(area_page(run, area)))


def _status(area: AreaResult, link: str) -> Cell:
    """What differs is counted where something does, else what ran: twelve releases must fit."""
    counts, status = area.counts, area_status(area)
    cases = f"{counts.cases:,}"
    if status == "differs":
        lacking = f", and {counts.absent:,} lack a name" if counts.absent else ""
        return Cell(status, f"{counts.mismatch:,}", f"of {cases} differ{lacking}", link)
    if status == "known":
        words = f"of {cases} differ, as the ledger lists"
        return Cell(status, f"{counts.known:,}", words, link)
    if status == "short":
        return Cell(status, cases, f"of {area.planned:,} planned ran", link)
    return Cell(status, cases, WORDS[status], link)


def _total(run: Run) -> Cell:
    whole = AreaResult("all", run.counts, planned=None if run.complete else _planned(run))
    return _status(whole, str(release_page(run)))


def _planned(run: Run) -> int:
    return sum(area.planned or area.counts.cases for area in run.areas)


def _title(name: str) -> str:
    """``2.4.1-to-2.13.0.html`` as people say it."""
    return visible(name.removesuffix(".html")).replace("-to-", " → ")
