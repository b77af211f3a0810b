"""What it costs to have the package at all: time and memory of ``import``, as ratios to torch.

Each import is one of a fresh interpreter, both by turns; what the interpreter itself needs is taken
off both.  Modules come from bytecode on both sides, as they do wherever a package is installed, and
time is the processor's: who else uses the machine has no part in it.

What an import puts off, the first call pays: a second row has that too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Final

from benchmarks.results import Ratio, Result, Row
from conformance.oracle import live

ROUNDS: Final = 5
BAR: Final = 0.15

PROGRAM: Final = """\
import time
start = time.process_time()
{statement}
seconds = time.process_time() - start
with open("/proc/self/status") as status:
    lines = dict(line.split(":", 1) for line in status)
print(seconds, lines["VmHWM"].split()[0])
"""
IMPORT: Final = "import {0}"
FIRST_CALL: Final = "import {0} as xp; x = xp.ones(1); xp.add(x, x)"


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """The subject is that of :mod:`benchmarks.dispatch`."""


def measure(options: argparse.Namespace) -> Result:
    """Imports of both sides, and of nothing, by turns."""
    with tempfile.TemporaryDirectory() as bytecode:
        imports = _rounds(IMPORT, options.subject, bytecode)
        calls = _rounds(FIRST_CALL, options.subject, bytecode)
    rows = [
        _row("time of import", imports, 0, BAR),
        _row("import and first call", calls, 0, None),
        _row("resident memory", imports, 1, BAR),
    ]
    title = f"import: {options.subject} and torch {live().release}"
    return Result(f"start-{live().release}", title, rows, {"torch": live().version})


def _rounds(statement: str, subject: str, bytecode: str) -> list[list[tuple[float, float]]]:
    """What torch and the subject need beyond the interpreter, in each round; the first, in which
    bytecode is written, does not count."""
    statements = ("pass", statement.format("torch"), statement.format(subject))
    rounds = [[started(each, bytecode) for each in statements] for _ in range(ROUNDS + 1)]
    return [
        [(seconds - nothing[0], memory - nothing[1]) for seconds, memory in sides]
        for nothing, *sides in rounds[1:]
    ]


def _row(what: str, rounds: list[list[tuple[float, float]]], place: int, bar: float | None) -> Row:
    unit, name = ((1e3, "ms"), (1 / 1024, "MB"))[place]
    pairs = [(torch[place] * unit, subject[place] * unit) for torch, subject in rounds]
    medians = [statistics.median(side) for side in zip(*pairs, strict=True)]
    figures: dict[str, str | float] = {
        "torch": f"{medians[0]:,.1f} {name}",
        "subject": f"{medians[1]:,.1f} {name}",
    }
    return Row(what, figures, {"ratio": Ratio.of(pairs)}, bar)


def started(statement: str, bytecode: str) -> tuple[float, float]:
    """Seconds that a statement takes in a new interpreter, and the most memory of that, in kB."""
    command = [sys.executable, "-c", PROGRAM.format(statement=statement)]
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command,
        env={**variables, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)
