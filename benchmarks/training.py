"""A training step of a transformer block, as a ratio to real torch: what a user's program takes.

d = 256 in four heads, a batch of 8 × 64, on the CPU with one thread each.  Both sides make their
steps by turns, in one process of its own, as threads are counted before NumPy is imported.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from benchmarks.results import Ratio, Result, Row
from conformance.oracle import choose_profile, live, prepare

BAR: Final = 1.5
ROUNDS: Final = 9
WIDTH, HEADS, BATCH, LENGTH = 256, 4, 8, 64
_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

Step = Callable[[], float]


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """The subject is that of :mod:`benchmarks.dispatch`."""


def measure(options: argparse.Namespace) -> Result:
    """Steps by turns."""
    command = [sys.executable, "-m", "benchmarks.training", options.subject]
    environment = {**os.environ, **_ONE_THREAD}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    pairs = [(one, two) for one, two in json.loads(done.stdout)]
    torch, subject = (statistics.median(side) * 1e3 for side in zip(*pairs, strict=True))
    figures: dict[str, str | float] = {"torch ms": torch, "subject ms": subject}
    row = Row("transformer block: training step", figures, {"ratio": Ratio.of(pairs)}, BAR)
    title = f"training: {options.subject} and torch {live().release}"
    return Result(f"training-{live().release}", title, [row], {"torch": live().version})


def step_of(xp: Any) -> Step:
    """One step of gradient descent, on the same numbers every time; it answers the loss."""
    nn, functional = xp.nn, xp.nn.functional
    xp.manual_seed(0)
    modules = {
        "norm1": nn.LayerNorm(WIDTH),
        "qkv": nn.Linear(WIDTH, 3 * WIDTH),
        "out": nn.Linear(WIDTH, WIDTH),
        "norm2": nn.LayerNorm(WIDTH),
        "mlp": nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)),
    }
    weights = [weight for module in modules.values() for weight in module.parameters()]
    given, wanted = xp.randn(BATCH, LENGTH, WIDTH), xp.randn(BATCH, LENGTH, WIDTH)
    mask = xp.ones(LENGTH, LENGTH, dtype=xp.bool).triu(1)
    scale = (WIDTH // HEADS) ** -0.5

    def attended(t: Any) -> Any:
        shape = (BATCH, LENGTH, HEADS, WIDTH // HEADS)
        q, k, v = (part.view(*shape).transpose(1, 2) for part in modules["qkv"](t).chunk(3, -1))
        scores = (q @ k.transpose(-2, -1) * scale).masked_fill(mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        return modules["out"](mixed)

    def step() -> float:
        t = given + attended(modules["norm1"](given))
        t = t + modules["mlp"](modules["norm2"](t))
        loss = functional.mse_loss(t, wanted)
        loss.backward()
        with xp.no_grad():
            for weight in weights:
                weight.sub_(weight.grad, alpha=0.01)
                weight.grad = None
        return float(loss.detach())

    return step


def by_turns(steps: list[Step]) -> list[list[float]]:
    """Seconds of a step of each side, in each round."""
    rounds = []
    for _ in range(ROUNDS + 1):
        gc.collect()
        times = []
        for step in steps:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        rounds.append(times)
    return rounds[1:]


def main(subject: str) -> None:
    choose_profile()
    sides = prepare("torch"), prepare(subject)
    sides[0].set_num_threads(1)
    print(json.dumps(by_turns([step_of(xp) for xp in sides])))


if __name__ == "__main__":
    main(*sys.argv[1:])
