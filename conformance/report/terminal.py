"""A run in the terminal: a table of areas, then every case that differs, one by one.

The words are the same with and without colour, and nothing is wrapped or cut: a line of a
log can be searched for, and a command copied.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.compare import AreaCounts, Comparison
from conformance.report.marks import command, inline, marked, sides, visible
from conformance.report.model import Run

LIMIT: Final = 20
COLUMNS: Final = (
    *("cases", "agree", "mismatch", "known", "absent", "uncovered", "crashed", "hung"),
)
RARE: Final = frozenset(("absent", "uncovered"))
"""Columns that are shown where there is something in them."""
INDENT: Final = "  "
UNBOUNDED: Final = 10_000
"""A width that no line has: what is no terminal cuts nothing."""


def render(run: Run, console: Console, limit: int = LIMIT) -> None:
    """Print ``run``: the table, the first ``limit`` differing cases, and the verdict last."""
    table = _table(run)
    width = console.measure(table, options=console.options.update(max_width=UNBOUNDED)).maximum
    if console.is_terminal:
        width = min(width, console.width)
    console.print(table, width=width, crop=False)
    differing = [each for area in run.areas for each in area.differing]
    mismatches = [each for each in differing if each.verdict == "mismatch"]
    for comparison in mismatches[:limit]:
        for part in _comparison(run, comparison, console.encoding):
            console.print(part, soft_wrap=True)
        console.print()
    for line, style in _closing(run, len(differing), min(limit, len(mismatches))):
        console.print(Text(visible(line, console.encoding), style=style), soft_wrap=True)


def text(run: Run, limit: int = LIMIT) -> str:
    """What :func:`render` prints where there are no colours."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=False, color_system=None, width=UNBOUNDED)
    render(run, console, limit)
    return file.getvalue()


def _table(run: Run) -> Table:
    table = Table(title=None, box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(Text(run.stem), no_wrap=True)
    columns = [name for name in COLUMNS if name not in RARE or getattr(run.counts, name)]
    for name in columns:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for area in run.areas:
        unfinished = f" (of {area.planned:,})" if area.planned is not None else ""
        table.add_row(Text(visible(area.name) + unfinished), *_cells(area.counts, columns))
    table.add_row(Text("all"), *_cells(run.counts, columns), style="bold")
    return table


def _cells(counts: AreaCounts, columns: list[str]) -> Iterator[Text]:
    values = {
        "cases": counts.cases,
        "agree": counts.agree,
        "mismatch": counts.mismatch,
        "known": counts.known,
        "absent": counts.absent,
        "uncovered": counts.uncovered,
        "crashed": counts.oracle_crashed,
        "hung": counts.oracle_hung,
    }
    for name in columns:
        count = values[name]
        style = "bold red" if name == "mismatch" and count else "" if count else "dim"
        yield Text(f"{count:,}", style=style)


def _comparison(run: Run, comparison: Comparison, encoding: str) -> Iterator[Text]:
    """The lines of one differing case; a line break within them is shown, and indented."""
    left, right = sides(comparison)
    rows = [
        ("", comparison.case.text),
        (f"PyTorch {run.facts.torch}", left),
        (run.facts.subject, right),
        ("difference", inline(marked(comparison))),
        ("reproduce", command(comparison, run.facts)),
    ]
    yield Text(visible(comparison.case.id, encoding), style="bold")
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        indent = INDENT if not label else f"{INDENT}{' ' * width}  "
        head = INDENT if not label else f"{INDENT}{label:<{width}}  "
        body = re.sub(r"\n(?=[^\n])", f"\n{indent}", visible(value, encoding))
        yield Text.assemble((visible(head, encoding), "dim"), body)


def _closing(run: Run, differing: int, shown: int) -> Iterator[tuple[str, str]]:
    """The last lines, each with its style; the very last is what a log is scrolled to."""
    if differing > shown:
        more = f"{differing - shown:,} more" if shown else f"{differing:,}"
        yield f"{more}, known differences included: see reports/{run.stem}.html", ""
    for entry in run.stale:
        yield f"stale ledger entry: {entry}", "red"
    for note in run.notes:
        yield note, ""
    yield run.verdict, "bold green" if run.passed else "bold red"
