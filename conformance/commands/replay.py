"""``conformance replay``: the subject against recordings; no torch is needed."""

from __future__ import annotations

import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from conformance import oracle, suite
from conformance.commands.common import (
    AGREE,
    DIFFER,
    UsageError,
    console,
    print_json,
    say,
    suite_options,
)
from conformance.commands.run import order_of
from conformance.recorded.recording import RECORDINGS, Source, known
from conformance.report import Run, terminal

HELP = "run cases in the subject, and compare with recorded releases of PyTorch"


def configure(parser: ArgumentParser) -> None:
    suite_options(parser)
    parser.add_argument(
        "--torch",
        action="append",
        metavar="RELEASE",
        help="a recorded release, or the directory of a recording; again for more (all there are)",
    )


def run(options: Namespace) -> int:
    named = options.torch or known()
    if not named:
        raise UsageError(f"nothing is recorded in {RECORDINGS}; see `conformance record`")
    order = order_of(options)
    runs: list[Run] = []
    for each in named:
        recorded = oracle.recorded(each)
        _warn_of_python(recorded.recording.source)
        environment = {oracle.RECORDING_VARIABLE: str(Path(recorded.recording.directory).resolve())}
        runs.append(suite.run(order, recorded.release, environment, quiet=True))
        if not options.json:
            _show(runs[-1], alone=len(named) == 1)
    if options.json:
        print_json([suite.summary(run, options.reports) for run in runs])
    elif len(runs) > 1:
        console().print(table(runs))
    return AGREE if all(run.passed for run in runs) else DIFFER


def _warn_of_python(source: Source) -> None:
    """Some messages are CPython's own, and so are these differences."""
    here = ".".join(platform.python_version_tuple()[:2])
    there = ".".join(source.python.split(".")[:2])
    if here != there:
        say(
            f"torch {source.release} was recorded under Python {there}, and this is {here}: a "
            "message that CPython words may differ"
        )


def _show(run: Run, *, alone: bool) -> None:
    """All of it if there is no other, or it failed; else the one line that says so."""
    if alone or not run.passed:
        terminal.render(run, console())
    else:
        console().print(run.verdict, markup=False)


def table(runs: Iterable[Run]) -> Table:
    """One line for each release."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    made.add_column("PyTorch", no_wrap=True)
    for name in ("cases", "agree", "mismatch", "known", "uncovered", "unjudged", "left out"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("seconds", justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    for run in runs:
        counts = run.counts
        left_out = sum(area.unrecorded + area.nondeterministic for area in run.areas)
        cells = (
            *(counts.cases, counts.agree, counts.mismatch + counts.absent, counts.known),
            *(counts.uncovered, run.unjudged, left_out, round(run.seconds)),
        )
        made.add_row(
            Text(run.facts.torch),
            *(f"{cell:,}" for cell in cells),
            Text("passed", "green") if run.passed else Text("FAILED", "bold red"),
        )
    return made
