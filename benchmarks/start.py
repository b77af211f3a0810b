"""What it costs to have the package at all: time and memory of ``import``, as ratios to torch.

Each import is one of a fresh interpreter, both by turns; what the interpreter itself needs is taken
off both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from typing import Final

from benchmarks.results import Ratio, Result, Row
from conformance.oracle import live

ROUNDS: Final = 5
BAR: Final = 0.15

PROGRAM: Final = """\
import resource, time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """The subject is that of :mod:`benchmarks.dispatch`."""


def measure(options: argparse.Namespace) -> Result:
    """Imports of both sides, and of nothing, by turns."""
    statements = ("pass", "import torch", f"import {options.subject}")
    rounds = [[started(statement) for statement in statements] for _ in range(ROUNDS)]
    rows = []
    for what, place, unit in (("time of import", 0, 1e3), ("resident memory", 1, 1 / 1024)):
        pairs = [
            ((torch[place] - nothing[place]) * unit, (subject[place] - nothing[place]) * unit)
            for nothing, torch, subject in rounds
        ]
        medians = [statistics.median(side) for side in zip(*pairs, strict=True)]
        name = "ms" if place == 0 else "MB"
        figures: dict[str, str | float] = {
            "torch": f"{medians[0]:,.1f} {name}",
            "subject": f"{medians[1]:,.1f} {name}",
        }
        rows.append(Row(what, figures, {"ratio": Ratio.of(pairs)}, BAR))
    title = f"import: {options.subject} and torch {live().release}"
    return Result(f"start-{live().release}", title, rows, {"torch": live().version})


def started(statement: str) -> tuple[float, float]:
    """Seconds that a statement takes in a new interpreter, and the most memory of that, in kB."""
    command = [sys.executable, "-c", PROGRAM.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)
