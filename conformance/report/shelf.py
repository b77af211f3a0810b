"""What a directory of reports holds: the runs, what is kept of earlier ones, and drift pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from conformance.report import history, json_report
from conformance.report.history import Summary
from conformance.report.json_report import ReportError
from conformance.report.model import Run

DRIFT: Final = "drift"
"""The directory of pages that say what changed from one release to another."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The reports side by side."""

    runs: tuple[Run, ...]
    """By release, the earliest first; of one release, the live run first."""
    histories: Mapping[str, tuple[Summary, ...]] = field(default_factory=dict)
    """By the stem of the run."""
    drifts: tuple[str, ...] = ()
    """The names of the drift pages."""
    unread: tuple[str, ...] = ()
    """Files that are no reports, or of another version, and why they could not be read."""


def read(directory: Path) -> Shelf:
    """All that is in ``directory``.

    A file that is no report, or one of another version, is named: it must not cost the run that
    has just ended its own place.
    """
    runs: list[Run] = []
    unread: list[str] = []
    histories: dict[str, tuple[Summary, ...]] = {}
    for path in sorted(directory.glob("torch-*.json")):
        try:
            run = json_report.read(path)
        except ReportError as error:
            unread.append(str(error).removeprefix(f"{directory}/"))
            continue
        runs.append(run)
        histories[run.stem], damaged = history.read(directory, run.stem)
        unread += damaged
    drifts = sorted((path.name for path in (directory / DRIFT).glob("*.html")), key=_in_order)
    return Shelf(tuple(sorted(runs, key=release_order)), histories, tuple(drifts), tuple(unread))


def release_order(run: Run) -> tuple[list[int], str, str]:
    """By release, numbers as numbers; of one release, the live run first."""
    return *_in_order(run.facts.torch), run.facts.oracle


def _in_order(name: str) -> tuple[list[int], str]:
    return _numbers(name), name


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", text)]
