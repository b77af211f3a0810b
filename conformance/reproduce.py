"""One case again: by its id, or by its text."""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from conformance import oracle
from conformance.area import Area
from conformance.batch import Outcomes
from conformance.case import ID_DIGITS, Case
from conformance.cases import AREAS
from conformance.compare import Comparison
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, Missing
from conformance.report.marks import inline, marked, visible
from conformance.runner import RefusedCaseError, Runner
from mindtorch_v2 import profile as profiles

AGREE, DIFFER, NO_CASE = 0, 1, 2
"""Exit statuses."""


def reproduce(
    wanted: str, subject: str, reports: Path, console: Console, as_json: bool = False
) -> int:
    """Run the case that ``wanted`` names in both sides, and show them side by side.

    Of a recorded oracle its outcome is looked up.
    """
    judge = oracle.chosen()
    outcomes = Outcomes(reports / "outcomes" / f"torch-{judge.release}")
    case, answer = find(wanted, _all_cases(wanted, judge, outcomes))
    if case is None or (judge.kind == "recorded" and not isinstance(answer, Outcome)):
        reason = f" It has the case, but {answer.value}." if isinstance(answer, Missing) else ""
        by_text = " Give the case's text instead." if judge.kind == "live" else ""
        console.print(
            f"No case has the id or text {wanted!r}: no area generates it for torch "
            f"{judge.release} ({judge.kind}), and no run recorded it under {reports}.{reason}"
            f"{by_text}",
            markup=False,
        )
        return NO_CASE
    runner = Runner.of(judge, subject)
    try:
        [comparison] = runner.compare([case], [answer] if isinstance(answer, Outcome) else [])
    except RefusedCaseError as refusal:
        console.print(str(refusal), markup=False)
        return NO_CASE
    if as_json:
        print(json.dumps(comparison.to_json(), indent=1))
    else:
        show(comparison, f"PyTorch {judge.release}", subject, console)
    return DIFFER if comparison.verdict == "mismatch" else AGREE


def find(wanted: str, cases: Iterable[oracle.Asked]) -> tuple[Case | None, Answer | None]:
    """The case of this id or text, and what is known of it; a text that no area knows is a case
    of its own."""
    by_id = _is_id(wanted)
    for case, answer in cases:
        if wanted == (case.id if by_id else case.text):
            return case, answer
    return (None if by_id else Case("line", "line", wanted, origin="command line")), None


def _is_id(text: str) -> bool:
    """Whether ``text`` looks like ``area/target/hash``; Python that does would be a division."""
    digest = text.rpartition("/")[2]
    known = any(text.startswith(f"{area.name}/") for area in AREAS)
    return known and len(digest) == ID_DIGITS and set(digest) <= set(string.hexdigits)


def areas_of(wanted: str) -> list[Area]:
    """The areas in which a case of this id or text may be."""
    by_id = _is_id(wanted)
    return [area for area in AREAS if not by_id or wanted.startswith(f"{area.name}/")]


def _all_cases(wanted: str, judge: oracle.Oracle, outcomes: Outcomes) -> Iterator[oracle.Asked]:
    for area in areas_of(wanted):
        yield from judge.ask(area.name, area.cases(profiles.active()))
    if judge.kind == "live":  # it can be asked what another run drew
        for kept in outcomes.read():
            if isinstance(kept, Comparison):
                yield kept.case, None


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
