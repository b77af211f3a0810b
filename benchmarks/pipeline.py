"""Host-blocking time per operator on the simulated Ascend runtime, eager mode against a pipeline.

The operators are torch's own, on the NPU.  Phase 1 of an ACLNN call takes ``--plan`` microseconds
of the host's processor time, as planning is computing; the device works on its own.  No document
names that time, so there are three; the shortest is the hardest for a pipeline, which saves it.  A
row is a steady loop over the same shapes, in three processes by turns:

- eager mode that plans each call, as torch_npu does: no executor can be repeated
- eager mode as it is here: executors are kept, and phase 1 is saved where ACLNN agrees
- a pipeline with a flush after each pass

The clock is the processor time of the thread that calls, over the operators that one pass runs:
what else the machine does is left out, and so is waiting, of which the loops have none but at their
end; the wall clock is beside it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple, Protocol

from benchmarks.results import Ratio, Result, Row
from tests.npu.sim.build import build

BAR: Final = 0.5
PASSES: Final = 5
"""In a loop, after one that is not measured."""
CACHE: Final = Path(".pytest_cache/d/npu-sim")
"""Where the tests keep the simulator too."""

Pass = Callable[[], object]
"""One pass of a loop."""


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--plan", type=int, nargs="+", default=[20, 40, 60], help="µs of phase 1 (%(default)s)"
    )
    parser.add_argument("--run", type=int, default=5, help="µs of the device (%(default)s)")
    parser.add_argument("--rounds", type=int, default=11)


def measure(options: argparse.Namespace) -> Result:
    """Each loop with each latency.  `CompilerMissingError` where the simulator cannot be built."""
    root = build(CACHE)
    rows = []
    with ExitStack() as stack:
        modes = [stack.enter_context(worker(root, mode)) for mode in MODES]
        for plan in options.plan:
            for what in LOOPS:
                question = Question(what, plan, options.run)
                rows.append(row_of(question, modes, options))
    title = "host time per operator on the simulated Ascend runtime"
    return Result("pipeline", title, rows)


def row_of(question: Question, modes: list[Ask], options: argparse.Namespace) -> Row:
    """The first round does not count: in it everything is planned."""
    first = [Answer(*ask(question)) for ask in modes]
    rounds = [[Answer(*ask(question)) for ask in modes] for _ in range(options.rounds)]
    host = {mode: [each[at].host for each in rounds] for at, mode in enumerate(MODES)}
    wall = [statistics.median(each[at].wall for each in rounds) for at in (0, 2)]
    figures: dict[str, str | float] = {"operators": f"{first[0].operators:.0f}"}
    figures |= {f"{mode} µs": statistics.median(times) for mode, times in host.items()}
    figures["wall µs"] = " / ".join(f"{each:.0f}" for each in wall)
    planned, kept, piped = host.values()
    ratios = {
        "pipeline / eager": Ratio.of(list(zip(planned, piped, strict=True))),
        "pipeline / executors kept": Ratio.of(list(zip(kept, piped, strict=True))),
    }
    return Row(f"{question.what}, plan {question.plan} µs", figures, ratios, BAR)


# --- processes ------------------------------------------------------------------------------------

MODES: Final = ("eager", "executors kept", "pipeline")


class Question(NamedTuple):
    """A loop, and the simulator's latencies in microseconds."""

    what: str
    plan: int
    run: int


class Answer(NamedTuple):
    """Microseconds per operator, and how many operators a pass has."""

    host: float
    wall: float
    operators: float


class Ask(Protocol):
    """Has a process run a loop; what it answers is a list of numbers."""

    def __call__(self, question: Any) -> list[float]: ...


@contextmanager
def worker(root: Path, mode: str, module: str = "benchmarks.pipeline") -> Iterator[Ask]:
    """A process with a simulator of its own, which runs a module that answers questions."""
    environment = {
        **os.environ,
        "ASCEND_HOME_PATH": str(root),
        "ACL_SIM_EAGER": "1",
        "ACL_SIM_DELAY_US": "0",
        "ACL_SIM_REFUSE_REPEAT": str(int(mode == "eager")),
    }
    command = [sys.executable, "-W", "ignore", "-m", module, mode]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        to, back = process.stdin, process.stdout
        assert to is not None
        assert back is not None

        def ask(question: Any) -> list[float]:
            to.write(json.dumps(question) + "\n")
            to.flush()
            answer: list[float] = json.loads(back.readline())
            return answer

        yield ask
        to.close()


def serve(mode: str) -> None:
    """The worker: a question a line, an answer a line."""
    loops = {what: make() for what, make in LOOPS.items()}
    simulator = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libascendcl.so")
    simulator.sim_config.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    for line in sys.stdin:
        question = Question(*json.loads(line))
        simulator.sim_config(b"plan_us", question.plan)
        simulator.sim_config(b"run_us", question.run)
        answer = steady(loops[question.what], in_pipeline=mode == "pipeline")
        print(json.dumps(answer), flush=True)


def steady(run: Pass, in_pipeline: bool) -> Answer:
    """The host's time for a loop whose first pass is not counted."""
    torch = _subject()
    operators = operators_of(run)
    with torch.no_grad(), ExitStack() as stack:
        pipeline = stack.enter_context(torch.pipeline()) if in_pipeline else None

        def once() -> None:
            run()
            if pipeline is not None:
                pipeline.flush()

        once()
        torch.npu.synchronize()
        host, wall = thread_time(), perf_counter()
        for _ in range(PASSES):
            once()
        host = thread_time() - host
        torch.npu.synchronize()
        wall = perf_counter() - wall
    per_operator = 1e6 / (PASSES * operators)
    return Answer(host * per_operator, wall * per_operator, operators)


def _subject() -> Any:
    """Imported by workers alone, which know where the runtime is."""
    import mindtorch_v2

    return mindtorch_v2


def operators_of(run: Pass) -> int:
    """How many a pass runs, views included."""
    torch = _subject()
    with torch.no_grad(), torch.pipeline() as p:
        run()
        p.flush()
    return sum(event.kind in ("run", "at its place") for event in p.trace())


# --- loops ----------------------------------------------------------------------------------------


def chain(length: int) -> Pass:
    """``length`` additions, each to the answer of the one before."""
    torch = _subject()
    start = torch.ones(8, 8, device="npu")

    def run() -> object:
        x = start
        for _ in range(length):
            x = x + start
        return x

    return run


def mixed_chain() -> Pass:
    """Forty operators of several kinds, each on the answer of the one before."""
    torch = _subject()
    start = torch.ones(8, 8, device="npu")

    def run() -> object:
        x = start
        for _ in range(8):
            x = torch.relu(x @ start) * 0.5
            x = x.softmax(-1) + start
        return x

    return run


def transformer_block() -> Pass:
    """Attention with two heads and a perceptron, with residuals, of 16 tokens of 32 numbers."""
    torch = _subject()
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    norms = [nn.LayerNorm(32).to("npu") for _ in range(2)]
    qkv, out = nn.Linear(32, 96).to("npu"), nn.Linear(32, 32).to("npu")
    wide, narrow = nn.Linear(32, 128).to("npu"), nn.Linear(128, 32).to("npu")
    start = torch.randn(16, 32).to("npu")

    def run() -> object:
        heads = (part.view(16, 2, 16).transpose(0, 1) for part in qkv(norms[0](start)).chunk(3, -1))
        q, k, v = heads
        scores = (q @ k.transpose(-2, -1) * 0.25).softmax(-1)
        x = start + out((scores @ v).transpose(0, 1).reshape(16, 32))
        return x + narrow(functional.gelu(wide(norms[1](x))))

    return run


LOOPS: Final[dict[str, Callable[[], Pass]]] = {
    "chain of 10": lambda: chain(10),
    "chain of 200": lambda: chain(200),
    "mixed chain": mixed_chain,
    "transformer block": transformer_block,
}


if __name__ == "__main__":
    serve(sys.argv[1])
