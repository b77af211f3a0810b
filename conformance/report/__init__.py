"""Views of a run: JSON, HTML, JUnit XML, Markdown and the terminal, all of one :class:`Run`."""

from __future__ import annotations

from pathlib import Path

from conformance.report import badge, history, json_report, junit, parity, shelf, site, terminal
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
    "json_report",
    "junit",
    "parity",
    "site",
    "stem",
    "terminal",
    "write",
    "write_overview",
]


def write(run: Run, directory: Path) -> tuple[Path, ...]:
    """Write the run's files into ``directory``, and the views over all that is there."""
    paths = [directory / f"{run.stem}.{suffix}" for suffix in ("json", "xml")]
    json_report.write(run, paths[0])
    junit.write(run, paths[1])
    history.write(run, directory)
    return (*paths, site.write_run(run, directory), *write_overview(directory))


def write_overview(directory: Path) -> tuple[Path, ...]:
    """Write what is about all runs of ``directory``: PARITY.md, the badges and the index."""
    found = shelf.read(directory)
    badge.write(found.runs, directory)
    return parity.write(found, directory), site.write_index(found, directory)
