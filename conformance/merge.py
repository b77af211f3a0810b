"""Merges the shards of a run into the run: its report, and the outcomes if they are there."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from conformance.ledger import Ledger
from conformance.report import json_report
from conformance.report.model import (
    AreaResult,
    Facts,
    Run,
    TargetResult,
    add_counts,
    reading_order,
)
from conformance.shard import Shard

PATTERN: Final = "shard-*-torch-*.json"


class MergeError(ValueError):
    """The reports are not shards of one run; the message says why not."""


def find(paths: Iterable[Path]) -> list[Path]:
    """The shards' reports: the files that are named, and those in the directories, at any depth."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise MergeError(f"{path} does not exist")
        found.extend(sorted(path.rglob(PATTERN)) if path.is_dir() else [path])
    return list(dict.fromkeys(found))


def runs(paths: Sequence[Path]) -> list[Run]:
    """One run for each oracle that the shards at ``paths`` are of: a release, live or recorded."""
    shards: dict[tuple[str, str], list[Run]] = {}
    for path in paths:
        run = json_report.read(path)
        shards.setdefault((run.facts.torch, run.facts.oracle), []).append(run)
    return [merge(each) for each in shards.values()]


def merge(shards: Sequence[Run]) -> Run:
    """The run of which these are shards.  Those that are missing are named in ``lost``."""
    parts = {run.shard.shard: run for run in shards if run.shard}
    if len(parts) != len(shards) or not parts:
        raise MergeError("each report must be of another shard of one run")
    differences = "; ".join(_differences(parts))
    if differences:
        raise MergeError(f"the reports are shards of different runs: {differences}")
    count = next(iter(parts)).count
    ordered = [parts[shard] for shard in sorted(parts)]
    names = dict.fromkeys(
        name
        for each in ordered
        for name in (*(each.shard.whole if each.shard else ()), *(a.name for a in each.areas))
    )
    return Run(
        replace(ordered[0].facts, started=min(run.facts.started for run in ordered)),
        tuple(_area(name, ordered) for name in names),
        max(run.seconds for run in ordered),
        any(run.interrupted for run in ordered),
        lost=tuple(
            shard for index in range(1, count + 1) if (shard := Shard(index, count)) not in parts
        ),
    )


def _differences(parts: Mapping[Shard, Run]) -> Iterator[str]:
    """What the runs have not in common, each with what the shards say of it."""
    told: dict[str, dict[str, Shard]] = {}
    for shard, run in sorted(parts.items()):
        whole = run.shard.whole if run.shard else {}
        facts = {"shards": shard.count, "cases": dict(whole), **asdict(_common(run.facts))}
        for name, value in facts.items():
            told.setdefault(name, {}).setdefault(repr(value), shard)
    for name, values in told.items():
        if len(values) > 1:
            yield f"{name}: " + ", ".join(f"{value} in {shard}" for value, shard in values.items())


def with_stale(run: Run, ledger_file: Path) -> Run:
    """``run`` judged by the ledger, which no shard alone could be."""
    ledger = Ledger.load(ledger_file, run.facts.torch)
    return replace(run, stale=ledger.stale(run.differing, run.whole_areas))


def join_outcomes(paths: Sequence[Path], reports: Path, run: Run) -> int:
    """Copy the comparisons that lie beside the shards' reports to those of ``run``, and nothing
    of an earlier run; how many files there are.  A batch is in one shard, so no names clash."""
    target = reports / "outcomes" / run.stem
    found = [
        file
        for path in paths
        for file in sorted((path.parent / "outcomes" / path.stem).glob("*.jsonl"))
        if path.stem.endswith(f"-{run.stem}")
    ]
    if found:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
    for file in found:
        shutil.copy(file, target)
    return len(found)


def _common(facts: Facts) -> Facts:
    """What the shards of a run have in common: all but when each of them started."""
    return replace(facts, started="1970-01-01T00:00:00Z")


def _area(name: str, shards: Sequence[Run]) -> AreaResult:
    """An area put together; what a lost shard would have had of it counts as planned."""
    found = [area for run in shards for area in run.areas if area.name == name]
    targets: dict[str, list[TargetResult]] = {}
    for area in found:
        for target in area.targets:
            targets.setdefault(target.name, []).append(target)
    counts = add_counts(area.counts for area in found)
    planned = sum(area.planned or area.counts.cases for area in found) + _missing(name, shards)
    return AreaResult(
        name,
        counts,
        tuple(
            TargetResult(target, add_counts(each.counts for each in targets[target]))
            for target in sorted(targets)
        ),
        tuple(sorted((c for area in found for c in area.differing), key=reading_order)),
        tuple(sorted((c for area in found for c in area.casualties), key=reading_order)),
        planned if planned > counts.cases else None,
        sum(area.unrecorded for area in found),
        sum(area.nondeterministic for area in found),
    )


def _missing(name: str, shards: Sequence[Run]) -> int:
    """How many generated cases of an area are in none of the shards that are there."""
    parts = [run.shard for run in shards if run.shard]
    return parts[0].whole.get(name, 0) - sum(part.planned.get(name, 0) for part in parts)
