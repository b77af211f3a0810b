"""One case again: by its id, or by its text."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from conformance import oracle
from conformance.batch import Outcomes
from conformance.case import ID_DIGITS, Case
from conformance.cases import AREAS
from conformance.compare import Comparison
from conformance.report.marks import inline, marked, visible
from conformance.runner import RefusedCaseError, Runner
from mindtorch_v2 import profile as profiles

AGREE, DIFFER, NO_CASE = 0, 1, 2
"""Exit statuses."""


def reproduce(wanted: str, subject: str, reports: Path, console: Console) -> int:
    """Run the case that ``wanted`` names in both sides, and show them side by side."""
    release = oracle.live().release
    recorded = Outcomes(reports / "outcomes" / f"torch-{release}")
    case = find(wanted, _all_cases(recorded))
    if case is None:
        console.print(
            f"No case has the id {wanted!r}: no area generates it for torch {release}, and no "
            f"run recorded it under {reports}. Give the case's text instead.",
            markup=False,
        )
        return NO_CASE
    runner = Runner.live(subject)
    try:
        [comparison] = runner.compare([case])
    except RefusedCaseError as refusal:
        console.print(str(refusal), markup=False)
        return NO_CASE
    show(comparison, f"PyTorch {release}", subject, console)
    return DIFFER if comparison.verdict == "mismatch" else AGREE


def find(wanted: str, cases: Iterable[Case]) -> Case | None:
    """The case of this id or text; a text that no area knows is a case of its own."""
    by_id = _is_id(wanted)
    for case in cases:
        if wanted == (case.id if by_id else case.text):
            return case
    return None if by_id else Case("line", "line", wanted, origin="command line")


def _is_id(text: str) -> bool:
    """Whether ``text`` looks like ``area/target/hash``; Python that does would be a division."""
    digest = text.rpartition("/")[2]
    known = any(text.startswith(f"{area.name}/") for area in AREAS)
    return known and len(digest) == ID_DIGITS and set(digest) <= set(string.hexdigits)


def _all_cases(recorded: Outcomes) -> Iterator[Case]:
    for area in AREAS:
        yield from area.cases(profiles.active())
    for comparison in recorded.read():
        yield comparison.case


def show(comparison: Comparison, oracle_name: str, subject_name: str, console: Console) -> None:
    """The case, both outcomes beside each other, and where they part."""
    case = comparison.case
    console.print(Panel(Text(visible(case.text)), title=Text(case.id), title_align="left"))
    table = Table(expand=True)
    table.add_column(Text(oracle_name), ratio=1)
    table.add_column(Text(subject_name), ratio=1)
    table.add_row(Text(str(comparison.oracle)), Text(str(comparison.subject)))
    console.print(table)
    if comparison.verdict == "mismatch":
        console.print(Text(f"They differ: {inline(marked(comparison))}", style="bold"))
    elif comparison.verdict == "unjudged":
        console.print("PyTorch did not survive this case, so there is nothing to compare with.")
    else:
        verdicts = {"agree": "They agree.", "known": f"A known mismatch: {comparison.reason}"}
        console.print(verdicts.get(comparison.verdict, comparison.verdict), markup=False)
