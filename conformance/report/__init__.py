"""Views of a run: JSON, HTML, JUnit XML, Markdown and the terminal, all of one :class:`Run`."""

from __future__ import annotations

from pathlib import Path

from conformance.report import html, json_report, junit, parity, terminal
from conformance.report.json_report import ReportError
from conformance.report.model import (
    AreaResult,
    Facts,
    Run,
    RunBuilder,
    ShardOf,
    TargetResult,
    build_run,
    stem,
    with_left_out,
)

__all__ = [
    "AreaResult",
    "Facts",
    "ReportError",
    "Run",
    "RunBuilder",
    "ShardOf",
    "TargetResult",
    "build_run",
    "html",
    "json_report",
    "junit",
    "parity",
    "stem",
    "terminal",
    "with_left_out",
    "write",
]


def write(run: Run, directory: Path) -> tuple[Path, ...]:
    """Write the run's files into ``directory``, and PARITY.md over all that is there."""
    views = {"json": json_report.write, "html": html.write, "xml": junit.write}
    paths = []
    for suffix, view in views.items():
        paths.append(directory / f"{run.stem}.{suffix}")
        view(run, paths[-1])
    return (*paths, parity.write(directory))
