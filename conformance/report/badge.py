"""``badges/``: what shields.io, or a server like it, makes a badge of (its endpoint form).

``badges/all.json`` is about every run in the directory, ``badges/torch-<version>.json`` about one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from conformance.report.atomic import write_text
from conformance.report.marks import visible
from conformance.report.model import Run, add_counts, unjudged

DIRECTORY: Final = "badges"


def write(runs: Sequence[Run], directory: Path) -> tuple[Path, ...]:
    """Write the badges of ``runs``, and give their paths; those of runs that are gone go."""
    badges = {f"{run.stem}.json": badge([run], f"PyTorch {_release(run)}") for run in runs}
    badges["all.json"] = badge(runs, "PyTorch parity")
    paths = {directory / DIRECTORY / name: data for name, data in badges.items()}
    for old in (directory / DIRECTORY).glob("*.json"):
        if old not in paths:
            old.unlink()
    for path, data in paths.items():
        write_text(path, [json.dumps(data, indent=1, ensure_ascii=False) + "\n"])
    return tuple(paths)


def badge(runs: Sequence[Run], label: str) -> dict[str, Any]:
    """The badge of ``runs`` together; the worst of them gives it its colour."""
    counts = add_counts(run.counts for run in runs)
    judged = counts.cases - unjudged(counts) - counts.uncovered
    if not judged:
        message, colour = "no run", "lightgrey"
    elif not all(run.complete for run in runs):
        message, colour = "cut short", "lightgrey"
    else:
        message = share(counts.agree, judged)
        colour = "brightgreen" if counts.agree == judged else "green"
        if not all(run.passed for run in runs):
            colour = "orange" if counts.agree * 100 >= judged * 99 else "red"
        if len(runs) > 1:
            message += f" of {len(runs)} releases"
    return {"schemaVersion": 1, "label": label, "message": message, "color": colour}


def share(agree: int, judged: int) -> str:
    """A share in per cent, with as many digits as it needs not to be rounded up to the whole."""
    if agree == judged:
        return "100 %"
    for digits in (1, 2, 3, 4):
        shown = f"{100 * agree / judged:.{digits}f}"
        if float(shown) < 100:
            return f"{shown} %"
    return "under 100 %"


def _release(run: Run) -> str:
    recorded = ", recorded" if run.facts.oracle == "recorded" else ""
    return visible(run.facts.torch + recorded)
