"""What the suite itself takes: a live run as a ratio to what the oracle alone needs for its cases.

Of every area one batch is taken, as large as a run has them: what the oracle imports late, and what
the first call of an operator takes, the others of its cases share.  It is from several places,
since an area's parts cost unlike much.  All areas together are the sum of these, each as often as
the area has such batches.  Time is the processor's, of this process and of the workers
that it forks.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from benchmarks.results import Ratio, Result, Row
from conformance.execute import parse_all
from conformance.oracle import choose_profile, live

if TYPE_CHECKING:
    from conformance.case import Case
    from conformance.runner import Runner

BAR: Final = 1.5
MEMORY_MB: Final = 1500
FORKED: Final = 300
"""Of cases in processes of their own, which share nothing, no more than these."""
PLACES: Final = 10
"""In an area, evenly apart, at which as many cases are taken."""
ROUNDS: Final = 2


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument("--areas", nargs="+", default=[], help="of the suite; all of them if none")


def measure(options: argparse.Namespace) -> Result:
    """Each area, all areas together, and the most memory that a worker has had."""
    choose_profile()
    # these import the subject, whose profile is chosen now
    from conformance.cases import AREAS
    from conformance.runner import Runner
    from conformance.session import BATCH_SIZE
    from mindtorch_v2 import profile

    runner = Runner.live(options.subject)
    rows, total = [], [(0.0, 0.0)] * ROUNDS
    for area in AREAS:
        if options.areas and area.name not in options.areas:
            continue
        cases = list(area.cases(profile.active()))
        batch = _spread(cases, FORKED if area.isolation == "fork" else BATCH_SIZE)
        pairs = _pairs(runner, batch)
        often = len(cases) / len(batch)
        total = [
            (a + often * c, b + often * d) for (a, b), (c, d) in zip(total, pairs, strict=True)
        ]
        rows.append(_row(area.name, pairs, None))
    rows.append(_row("all areas", total, BAR))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    memory = Ratio.of([(MEMORY_MB, most)] * 2)
    figures: dict[str, str | float] = {"oracle": "", "run": f"{most:,.0f} MB"}
    rows.append(Row("memory of a worker, of 1.5 GB", figures, {"run / oracle": memory}, 1.0))
    title = f"suite: {options.subject} and torch {live().release}"
    return Result(f"suite-{live().release}", title, rows, {"torch": live().version})


def _spread(cases: Sequence[Case], most: int) -> Sequence[Case]:
    """As many of them, from PLACES; all if there are no more."""
    if len(cases) <= most:
        return cases
    at_each, part = most // PLACES, len(cases) // PLACES
    starts = (part * place + (part - at_each) // 2 for place in range(PLACES))
    return [case for start in starts for case in cases[start : start + at_each]]


def _pairs(runner: Runner, cases: Sequence[Case]) -> list[tuple[float, float]]:
    """Seconds of the oracle alone, and of a whole comparison, by turns."""
    return [
        (_seconds(lambda: _oracle_alone(runner, cases)), _seconds(lambda: runner.check(cases)))
        for _ in range(ROUNDS)
    ]


def _oracle_alone(runner: Runner, cases: Sequence[Case]) -> Iterable[object]:
    """Its outcomes, by the way that a run takes: what forks for every case, parses before."""
    assert runner.oracle is not None
    return runner.outcomes(runner.oracle, cases, parse_all(cases, runner.vocabulary))


def _seconds(run: Callable[[], Iterable[object]]) -> float:
    before = _processor_time()
    for _ in run():
        pass
    return _processor_time() - before


def _processor_time() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, kinds))


def _row(what: str, pairs: list[tuple[float, float]], bar: float | None) -> Row:
    oracle, run = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    figures: dict[str, str | float] = {"oracle": f"{oracle:.2f} s", "run": f"{run:.2f} s"}
    return Row(what, figures, {"run / oracle": Ratio.of(pairs)}, bar)
