"""Speed of the dispatcher as a ratio to real torch, measured in one process.

Each row is one statement, run in torch and in the subject by turns, so that what disturbs the
machine disturbs both.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import timeit
from collections.abc import Callable
from types import ModuleType
from typing import Final

from benchmarks.results import Ratio, Result, Row
from conformance.oracle import choose_profile, live, prepare

ROUNDS: Final = 21
ROUND_SECONDS: Final = 0.02
WARMING_UP: Final = 20

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


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument("--subject", default="mindtorch_v2")


def measure(options: argparse.Namespace) -> Result:
    """Every statement in both sides."""
    choose_profile()
    sides = prepare("torch"), prepare(options.subject)
    rows = [measure_statement(what, statement, sides) for what, statement in STATEMENTS]
    title = f"{options.subject} and torch {live().release}"
    return Result(f"torch-{live().release}", title, rows, {"torch": live().version})


def measure_statement(what: str, statement: str, sides: tuple[ModuleType, ModuleType]) -> Row:
    """Time ``statement`` in both sides by turns."""
    torch, subject = (timeit.Timer(statement, SETUP, globals={"xp": xp}) for xp in sides)
    return measure_by_turns(what, (torch, subject))


def measure_by_turns(
    what: str, timers: tuple[timeit.Timer, timeit.Timer], bar: float | None = None
) -> Row:
    """The ratio of the second timer's statement to the first's."""
    counts = [_loops(timer.timeit) for timer in timers]
    times: list[tuple[float, float]] = []
    gc.collect()
    gc.freeze()  # all of torch, which every collection would look through
    for _ in range(ROUNDS):
        gc.collect()
        torch, subject = (
            timer.timeit(count) / count for timer, count in zip(timers, counts, strict=True)
        )
        times.append((torch, subject))
    gc.unfreeze()
    torch_ns, subject_ns = (statistics.median(side) * 1e9 for side in zip(*times, strict=True))
    figures: dict[str, str | float] = {"torch ns": torch_ns, "subject ns": subject_ns}
    return Row(what, figures, {"ratio": Ratio.of(times)}, bar)


def _loops(run: Callable[[int], float]) -> int:
    """How often to repeat a statement so that a round takes about ``ROUND_SECONDS``.

    The first calls do not count: they import modules, and leave short ways behind for later ones.
    """
    run(WARMING_UP)
    count = 1
    while run(count) < ROUND_SECONDS / 4:
        count *= 2
    return count * 4
