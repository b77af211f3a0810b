"""Speed as a ratio to real torch, measured in one process: ``python -m conformance.bench``.

Each row is one statement, run in torch and in the subject by turns, so that what disturbs the
machine disturbs both.  The ratio is the median over the rounds, with the quartiles beside it.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import timeit
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from conformance.oracle import choose_profile, live, prepare

ROUNDS: Final = 21
ROUND_SECONDS: Final = 0.02

SETUP: Final = """\
C, K, S = xp._C, xp._C.DispatchKey, xp._C.DispatchKeySet
cpu, autograd, tensor = S(K.CPU), S(K.AutogradCPU), xp.ones(1)
def refused():
    try:
        cpu.has(3)
    except TypeError:
        pass
"""

STATEMENTS: Final = (
    ("make a keyset", "S(K.CPU)"),
    ("union", "cpu | autograd"),
    ("difference", "cpu - autograd"),
    ("has", "cpu.has(K.CPU)"),
    ("highest key", "cpu.highestPriorityTypeId()"),
    ("print a keyset", "repr(cpu)"),
    ("keyset of a tensor", "C._dispatch_keys(tensor)"),
    ("read a thread-local set", "C._dispatch_tls_local_include_set()"),
    ("exclude guard", "with C._ExcludeDispatchKeyGuard(autograd): pass"),
    ("a refused call", "refused()"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One statement's times in nanoseconds, and their ratio, subject to torch."""

    what: str
    statement: str
    torch_ns: float
    subject_ns: float
    ratio: float
    lower_quartile: float
    upper_quartile: float


def measure(what: str, statement: str, sides: tuple[ModuleType, ModuleType]) -> Row:
    """Time ``statement`` in both sides by turns."""
    timers = [timeit.Timer(statement, SETUP, globals={"xp": xp}) for xp in sides]
    counts = [_loops(timer.timeit) for timer in timers]
    times: list[tuple[float, ...]] = []
    for _ in range(ROUNDS):
        gc.collect()
        times.append(
            tuple(timer.timeit(count) / count for timer, count in zip(timers, counts, strict=True))
        )
    ratios = [subject / torch for torch, subject in times]
    low, middle, high = statistics.quantiles(ratios, n=4)
    torch_ns, subject_ns = (statistics.median(side) * 1e9 for side in zip(*times, strict=True))
    return Row(what, statement, torch_ns, subject_ns, middle, low, high)


def _loops(run: Callable[[int], float]) -> int:
    """How often to repeat a statement so that a round takes about ``ROUND_SECONDS``."""
    count = 1
    while run(count) < ROUND_SECONDS / 4:
        count *= 2
    return count * 4


def main(arguments: list[str] | None = None) -> int:
    """Measure every statement, print the table, and keep it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m conformance.bench", description=__doc__)
    parser.add_argument("--subject", default="mindtorch_v2")
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args(arguments)
    choose_profile()
    sides = prepare("torch"), prepare(options.subject)
    console = Console()
    rows = []
    for what, statement in STATEMENTS:
        with console.status(what):
            rows.append(measure(what, statement, sides))
    console.print(table(rows, f"{options.subject} and torch {live().release}"))
    path = options.reports / f"bench-torch-{live().release}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {"torch": live().version, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(data, indent=1) + "\n")
    console.print(f"wrote {path}")
    return 0


def table(rows: list[Row], title: str) -> Table:
    made = Table(title=title)
    for name in ("what", "torch", "subject", "ratio", "quartiles"):
        made.add_column(name, justify="left" if name == "what" else "right")
    for row in rows:
        made.add_row(
            row.what,
            f"{row.torch_ns:,.0f} ns",
            f"{row.subject_ns:,.0f} ns",
            f"{row.ratio:.2f}",
            f"{row.lower_quartile:.2f} to {row.upper_quartile:.2f}",
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
