"""What is kept of every run, so that a later one can be seen beside it: counts and facts.

``history/torch-<version>/<time>.json`` has one run's in about three kilobytes.  No run writes to
the file of another, so that what machines and shards have kept is put together by copying files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from conformance.compare import AreaCounts
from conformance.report.atomic import write_text
from conformance.report.json_report import ReportError
from conformance.report.model import Facts, Run, add_counts

DIRECTORY: Final = "history"
FORMAT: Final = "mindtorch-conformance-summary"
VERSION: Final = 1
SCHEMA: Final = Path(__file__).with_name("summary.schema.json")


@dataclass(frozen=True, slots=True)
class Summary:
    """A run without its cases."""

    facts: Facts
    areas: Mapping[str, AreaCounts]
    seconds: float
    complete: bool
    """Whether every planned case ran."""

    @property
    def counts(self) -> AreaCounts:
        return add_counts(self.areas.values())


def summary(run: Run) -> Summary:
    areas = {area.name: area.counts for area in run.areas}
    return Summary(run.facts, areas, run.seconds, run.complete)


def write(run: Run, directory: Path) -> Path:
    """Keep ``run`` below ``directory``; the same run written again takes its own place."""
    time = "".join(char for char in run.facts.started if char.isalnum() or char == ".")
    path = directory / DIRECTORY / run.stem / f"{time}.json"
    write_text(path, [json.dumps(to_json(summary(run)), indent=1) + "\n"])
    return path


def read(directory: Path, stem: str) -> tuple[tuple[Summary, ...], tuple[str, ...]]:
    """What is kept of the runs of ``stem``, by time; and what was there and could not be read."""
    kept: list[Summary] = []
    unread: list[str] = []
    for path in sorted((directory / DIRECTORY / stem).glob("*.json")):
        try:
            kept.append(from_json(json.loads(path.read_text(encoding="utf-8"))))
        except (ReportError, json.JSONDecodeError, UnicodeDecodeError) as error:
            unread.append(f"{path.relative_to(directory)}: {error}")
    return tuple(sorted(kept, key=lambda each: each.facts.started)), tuple(unread)


def to_json(kept: Summary) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "facts": asdict(kept.facts),
        "seconds": kept.seconds,
        "complete": kept.complete,
        "areas": {name: asdict(counts) for name, counts in kept.areas.items()},
    }


def from_json(data: Any) -> Summary:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReportError(f"not a summary: its format is not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise ReportError(f"version={data.get('version')!r} of the summary's form, not {VERSION}")
    try:
        areas = {name: AreaCounts(**counts) for name, counts in data["areas"].items()}
        return Summary(Facts(**data["facts"]), areas, data["seconds"], data["complete"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReportError(f"a damaged summary: {type(error).__name__}: {error}") from error
