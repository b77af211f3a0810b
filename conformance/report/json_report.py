"""``torch-<version>.json``: a run in a documented, versioned form (docs/report-format.md)."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from conformance.compare import AreaCounts, Comparison
from conformance.report.atomic import write_text
from conformance.report.model import AreaResult, Facts, Run, ShardOf, TargetResult
from conformance.shard import Shard

FORMAT: Final = "mindtorch-conformance-report"
VERSION: Final = 2
LEFT_OUT: Final = ("unrecorded", "nondeterministic")
"""What an area has only of a recorded oracle."""
SCHEMA: Final = Path(__file__).with_name("report.schema.json")


class ReportError(ValueError):
    """A file that is no report of this format and version."""


def write(run: Run, path: Path) -> None:
    write_text(path, [render(run)])


def render(run: Run) -> str:
    """The report as JSON, in ASCII: even a lone surrogate in a message survives."""
    return json.dumps(to_json(run), indent=1) + "\n"


def read(path: Path) -> Run:
    """The run that was written to ``path``; a :class:`ReportError` says what else is there."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ReportError(f"{path}: not JSON: {error}") from None


def to_json(run: Run) -> dict[str, Any]:
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "facts": asdict(run.facts),
        "seconds": run.seconds,
        "interrupted": run.interrupted,
        "stale": list(run.stale),
        "counts": asdict(run.counts),
        "areas": [_area_to_json(area) for area in run.areas],
    }
    if run.shard is not None:
        shard = run.shard
        planned, whole = dict(shard.planned), dict(shard.whole)
        data["shard"] = {"name": str(shard.shard), "planned": planned, "whole": whole}
    if run.lost:
        data["lost"] = [str(shard) for shard in run.lost]
    return data


def from_json(data: Any) -> Run:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReportError(f"not a report: its format is not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise ReportError(
            f"version={data.get('version')!r} of the report's form; this suite reads version "
            f"{VERSION}: run that torch release again"
        )
    try:
        return Run(
            Facts(**data["facts"]),
            tuple(_area_from_json(area) for area in data["areas"]),
            data["seconds"],
            data["interrupted"],
            tuple(data["stale"]),
            _shard_from_json(data["shard"]) if "shard" in data else None,
            tuple(map(Shard.parse, data.get("lost", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ArgumentTypeError) as error:
        raise ReportError(f"a damaged report: {type(error).__name__}: {error}") from error


def _area_to_json(area: AreaResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": area.name,
        "counts": asdict(area.counts),
        "targets": [
            {"name": target.name, "counts": asdict(target.counts)} for target in area.targets
        ],
        "differing": [comparison.to_json() for comparison in area.differing],
        "casualties": [comparison.to_json() for comparison in area.casualties],
    }
    if area.planned is not None:
        data["planned"] = area.planned
    for name in LEFT_OUT:
        if count := getattr(area, name):
            data[name] = count
    return data


def _area_from_json(data: dict[str, Any]) -> AreaResult:
    return AreaResult(
        data["name"],
        AreaCounts(**data["counts"]),
        tuple(TargetResult(each["name"], AreaCounts(**each["counts"])) for each in data["targets"]),
        tuple(Comparison.from_json(each) for each in data["differing"]),
        tuple(Comparison.from_json(each) for each in data["casualties"]),
        data.get("planned"),
        *(data.get(name, 0) for name in LEFT_OUT),
    )


def _shard_from_json(data: dict[str, Any]) -> ShardOf:
    return ShardOf(Shard.parse(data["name"]), data["planned"], data["whole"])
