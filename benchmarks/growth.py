"""How cost grows: what a call or a case costs when there is more and more of something.

Of the subject alone.  A curve is level where the cost of one call stays the same, and rises by a
decade for each decade where it grows with the number.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from itertools import cycle, islice
from typing import Any, Final, NamedTuple

from benchmarks.results import Result, Row
from conformance.oracle import choose_profile, live

ROUNDS: Final = 5
LOOPS: Final = 300
WARMING_UP: Final = 20

Measure = Callable[[Any, int], float]
"""Seconds for one call, in a subject, with so many of something."""


class Growth(NamedTuple):
    """What grows, through which numbers, and how one call is measured."""

    what: str
    sizes: tuple[int, ...]
    measure: Measure


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """The subject is that of :mod:`benchmarks.dispatch`."""


def measure(options: argparse.Namespace) -> Result:
    """Every curve."""
    choose_profile()
    xp = import_module(options.subject)
    curves = {
        each.what: [(float(size), each.measure(xp, size) * 1e6) for size in each.sizes]
        for each in GROWTHS
    }
    rows = [_row(what, points) for what, points in curves.items()]
    title = f"how cost grows: {options.subject}, profile {live().profile}"
    return Result(f"growth-{live().release}", title, rows, {"curves": curves}, curves)


def _row(what: str, points: list[tuple[float, float]]) -> Row:
    (first, least), (last, most) = points[0], points[-1]
    return Row(
        what,
        {
            "from": f"{least:,.2f} µs at {first:,.0f}",
            "to": f"{most:,.2f} µs at {last:,.0f}",
            "times": most / least,
        },
        {},
    )


def _each(run: Callable[[], object], loops: int = LOOPS) -> float:
    """Seconds for one call: the least of the rounds, for what disturbs only adds."""
    for _ in range(WARMING_UP):
        run()
    gc.collect()
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(loops):
            run()
        rounds.append((time.perf_counter() - start) / loops)
    return min(rounds)


# --- calls ----------------------------------------------------------------------------------------


@cache
def _operators(xp: Any, count: int) -> tuple[float, float]:
    """Defining one of so many operators, with a kernel, and taking it back; and a call of the last
    beside all others."""
    start = time.perf_counter()
    library = xp.library.Library(f"grow{count}", "DEF")
    for number in range(count):
        library.define(f"op{number}(Tensor x) -> Tensor")
        library.impl(f"op{number}", _first, "CPU")
    seconds = time.perf_counter() - start
    called, x = getattr(getattr(xp.ops, f"grow{count}"), f"op{count - 1}").default, xp.ones(1)
    call = _each(lambda: called(x))
    start = time.perf_counter()
    library._destroy()
    return (seconds + time.perf_counter() - start) / count, call


def _registration(xp: Any, count: int) -> float:
    return _operators(xp, count)[0]


def _registered(xp: Any, count: int) -> float:
    return _operators(xp, count)[1]


def _overloads(xp: Any, count: int) -> float:
    """A call of a packet whose last overload takes it: each is tried before."""
    library = xp.library.Library(f"packet{count}", "DEF")
    for number in range(count - 1):
        library.define(f"op.o{number}(Tensor x, str s) -> Tensor")
    library.define("op.last(Tensor x, int n) -> Tensor")
    library.impl("op.last", _first, "CPU")
    packet, x = getattr(xp.ops, f"packet{count}").op, xp.ones(1)
    seconds = _each(lambda: packet(x, 1), max(3, LOOPS // count))
    library._destroy()
    return seconds


def _arguments(xp: Any, count: int) -> float:
    """A call with so many arguments."""
    library = xp.library.Library(f"arguments{count}", "DEF")
    listed = ", ".join(f"int n{number}" for number in range(count - 1))
    library.define(f"op(Tensor x, {listed}) -> Tensor" if listed else "op(Tensor x) -> Tensor")
    library.impl("op", _first, "CPU")
    called, x = getattr(xp.ops, f"arguments{count}").op.default, xp.ones(1)
    given = range(count - 1)
    seconds = _each(lambda: called(x, *given))
    library._destroy()
    return seconds


def _kernels(xp: Any, count: int) -> float:
    """A call of an operator whose kernel has been replaced so often."""
    libraries = [xp.library.Library("kernels", "DEF")]
    libraries[0].define(f"op{count}(Tensor x) -> Tensor")
    for number in range(count):
        libraries.append(xp.library.Library("kernels", "FRAGMENT"))
        key = _KEYS[number % len(_KEYS)]
        libraries[-1].impl(f"op{count}", _first, key)
    called, x = getattr(xp.ops.kernels, f"op{count}").default, xp.ones(1)
    seconds = _each(lambda: called(x))
    for library in reversed(libraries):
        library._destroy()
    return seconds


_KEYS: Final = ("CPU", "Meta", "SparseCPU", "CUDA", "XLA", "HPU", "XPU", "MPS")


def _guards(xp: Any, depth: int) -> float:
    """A call below so many guards."""
    library = xp.library.Library(f"guards{depth}", "DEF")
    library.define("op(Tensor x) -> Tensor")
    library.impl("op", _first, "CPU")
    called, x = getattr(xp.ops, f"guards{depth}").op.default, xp.ones(1)
    keys = xp._C.DispatchKeySet(xp._C.DispatchKey.AutogradCPU)
    with ExitStack() as stack:
        for _ in range(depth):
            stack.enter_context(xp._C._ExcludeDispatchKeyGuard(keys))
        seconds = _each(lambda: called(x))
    library._destroy()
    return seconds


def _queue(xp: Any, length: int) -> float:
    """One of so many calls that wait in a pipeline, with its share of the flush."""
    x = xp.ones(1)

    def once() -> float:
        start = time.perf_counter()
        with xp.pipeline():
            y = x
            for _ in range(length):
                y = y + 1
        return (time.perf_counter() - start) / length

    once()
    return statistics.median(once() for _ in range(3 if length <= 10_000 else 1))


def _first(x: Any, *_: Any) -> Any:
    return x


# --- the suite ------------------------------------------------------------------------------------


def _cases(xp: Any, count: int) -> float:
    """One of so many cases of a run: the subject's part, workers included."""
    from conformance.cases import BY_NAME  # these import the subject, whose profile is chosen now
    from conformance.runner import Runner
    from mindtorch_v2 import profile

    runner = Runner.live(xp.__name__)
    cases = list(islice(cycle(BY_NAME["keysets"].cases(profile.active())), count))
    start = time.perf_counter()
    for _ in runner.outcomes(runner.subject, cases):
        pass
    return (time.perf_counter() - start) / count


GROWTHS: Final = (
    Growth("call, by operators", (10, 100, 1_000, 10_000, 100_000), _registered),
    Growth("registration, by operators", (10, 100, 1_000, 10_000, 100_000), _registration),
    Growth("packet, by overloads", (1, 10, 100, 1_000), _overloads),
    Growth("call, by arguments", (1, 10, 100), _arguments),
    Growth("call, by kernels", (1, 2, 4, 8), _kernels),
    Growth("call, by guards", (1, 10, 100, 1_000), _guards),
    Growth("waiting call, by queue", (10, 100, 1_000, 10_000, 100_000), _queue),
    Growth("case, by cases", (10, 100, 1_000, 10_000), _cases),
)
"""Each through as many decades as it may come to."""
