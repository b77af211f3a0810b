"""``PARITY.md``: one short table over every release that has a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from conformance.report.atomic import write_text
from conformance.report.marks import visible
from conformance.report.model import AreaResult, Run, number
from conformance.report.shelf import Shelf, release_order

NAME: Final = "PARITY.md"


def write(shelf: Shelf, directory: Path) -> Path:
    """Write the table over all runs into ``directory``, and give its path."""
    path = directory / NAME
    write_text(path, [render(shelf.runs, shelf.unread)])
    return path


def render(runs: Iterable[Run], unread: Sequence[str] = ()) -> str:
    """The table as Markdown: areas by releases, the facts of each run, what could not be read."""
    columns = sorted(runs, key=release_order)
    heads = [_head(run) for run in columns]
    areas = list(dict.fromkeys(area.name for run in columns for area in run.areas))
    cells = [[_code(name), *(_cell(run, name) for run in columns)] for name in areas]
    totals = ["**all**", *(f"**{_total(run)}**" for run in columns)]
    sections = [
        "# Parity with PyTorch",
        "How many cases end in the subject exactly as in each PyTorch release: agree / cases "
        "(unjudged: PyTorch itself did not survive the case).",
        _table(["area", *heads], [*cells, totals]),
        _table(["run", *heads], [[name, *values] for name, *values in _facts(columns)]),
        "Made by `nox -s conformance`; `reports/index.html` leads to every case that differs.",
    ]
    if unread:
        sections.append(
            "\n".join(["Not shown:", "", *(f"- {_code(_line(each))}" for each in unread)])
        )
    return "\n\n".join(sections) + "\n"


def _head(run: Run) -> str:
    return run.facts.torch if run.facts.oracle == "live" else f"{run.facts.torch} recorded"


def _cell(run: Run, name: str) -> str:
    area = next((area for area in run.areas if area.name == name), None)
    return "not run" if area is None else _agreement(area)


def _agreement(area: AreaResult | Run) -> str:
    counts = area.counts
    shown = f"{counts.agree:,} / {counts.cases:,}"
    remarks = [
        f"{count:,} {what}"
        for count, what in (
            (counts.mismatch, "differ" if counts.mismatch != 1 else "differs"),
            (counts.known, "known"),
            (counts.absent, "absent"),
            (counts.uncovered, "uncovered"),
            (area.unjudged, "unjudged"),
        )
        if count
    ]
    if isinstance(area, AreaResult) and area.planned is not None:
        remarks.append(f"of {area.planned:,} planned")
    return f"{shown} ({', '.join(remarks)})" if remarks else shown


def _total(run: Run) -> str:
    return _agreement(run) + ("" if run.complete else ", cut short")


def _facts(runs: Sequence[Run]) -> list[list[str]]:
    """The facts as rows; of the time of the run only its day, so that the table stays quiet."""
    rows = [
        ["subject", *(_code(run.facts.subject) for run in runs)],
        ["PyTorch", *(_code(run.facts.full_version) for run in runs)],
        ["git hash", *(_code(run.facts.git_hash[:12]) for run in runs)],
        ["Python", *(_code(run.facts.python) for run in runs)],
        ["platform", *(_code(run.facts.platform) for run in runs)],
        ["profile", *(_code(run.facts.profile) for run in runs)],
        ["suite", *(_code(run.facts.suite) for run in runs)],
        ["day", *(run.facts.started[:10] for run in runs)],
    ]
    stale = [number(len(run.stale), "entry", "entries") if run.stale else "none" for run in runs]
    return [*rows, ["stale ledger entries", *stale]] if any(r.stale for r in runs) else rows


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(map(_safe, row))} |" for row in (heads, rule, *rows))


def _code(text: str) -> str:
    """``text`` in a code span, in which Markdown and HTML mean nothing."""
    quoted = text.replace("`", "'")
    return f"`{quoted}`" if quoted else ""


def _safe(cell: str) -> str:
    return _line(cell).replace("|", "\\|")


def _line(text: str) -> str:
    return visible(text.replace("\n", " "))
