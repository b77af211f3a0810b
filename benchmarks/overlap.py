"""Wall time of a chain in a pipeline against the simulated device's own: does the host keep up?

The lower bound is what the same simulator needs for the same tasks when nobody has to be waited
for: in its lazy mode all of them lie in the stream before it begins, and a synchronise is timed.
Then a steady loop over the same 200 operators runs while the device works, once for each latency of
a device's task (``--task``).  Below the host's own time for an operator, the host is the bound;
that time stands beside.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
from contextlib import ExitStack
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple

from benchmarks.pipeline import CACHE, LOOPS, operators_of, worker
from benchmarks.results import Ratio, Result, Row
from tests.npu.sim.build import build

BAR: Final = 1.15
LOOP: Final = "chain of 200"
PASSES: Final = 5
_MODULE: Final = "benchmarks.overlap"


class Question(NamedTuple):
    """The simulator's latencies in microseconds."""

    plan: int
    task: int


class Answer(NamedTuple):
    """Microseconds per operator: the device's own, the loop's, and what of it the host worked."""

    floor: float
    wall: float
    host: float


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--task", type=int, nargs="+", default=[60, 100, 200], help="µs of a task (%(default)s)"
    )


def measure(options: argparse.Namespace) -> Result:
    """The loop with each latency.  `CompilerMissingError` where the simulator cannot be built."""
    root = build(CACHE)
    with ExitStack() as stack:
        ask = stack.enter_context(worker(root, "pipeline", module=_MODULE))
        rows = []
        for task in options.task:
            question = Question(max(options.plan), task)
            ask(question)  # plans everything
            answers = [Answer(*ask(question)) for _ in range(options.rounds)]
            rows.append(row_of(question, answers))
    return Result("overlap", f"wall time of a {LOOP} on the simulated Ascend runtime", rows)


def row_of(question: Question, answers: list[Answer]) -> Row:
    figures: dict[str, str | float] = {
        "device's own µs": statistics.median(answer.floor for answer in answers),
        "wall µs": statistics.median(answer.wall for answer in answers),
        "host µs": statistics.median(answer.host for answer in answers),
    }
    ratio = Ratio.of([(answer.floor, answer.wall) for answer in answers])
    what = f"tasks of {question.task} µs, plan {question.plan} µs"
    return Row(what, figures, {"wall / device's own": ratio}, BAR)


# --- the worker -----------------------------------------------------------------------------------


def serve() -> None:
    """A question a line, an answer a line."""
    import mindtorch_v2 as torch  # which knows where the runtime is

    run = LOOPS[LOOP]()
    simulator = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libascendcl.so")
    simulator.sim_config.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    per_operator = 1e6 / (PASSES * operators_of(run))
    for line in sys.stdin:
        question = Question(*json.loads(line))
        simulator.sim_config(b"plan_us", question.plan)
        simulator.sim_config(b"run_us", question.task)
        times = []
        for eager in (0, 1):
            simulator.sim_config(b"eager", eager)
            times.append(_timed(torch, run))
        (_, _, floor), (host, wall, _) = times
        print(json.dumps([each * per_operator for each in (floor, wall, host)]), flush=True)


def _timed(torch: Any, run: Any) -> tuple[float, float, float]:
    """Seconds that the host worked, that the loop took, and that the last synchronise took."""
    with torch.no_grad(), torch.pipeline() as pipeline:
        torch.npu.synchronize()
        host, start = thread_time(), perf_counter()
        for _ in range(PASSES):
            run()
            pipeline.flush()
        host, queued = thread_time() - host, perf_counter()
        torch.npu.synchronize()
        end = perf_counter()
    return host, end - start, end - queued


if __name__ == "__main__":
    serve()
