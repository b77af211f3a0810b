"""The command: ``python -m benchmarks [NAME…]``; all of them if none is named."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from benchmarks import calls, dispatch, growth, overlap, pipeline, start, suite, training
from benchmarks.results import Result
from tests.npu.sim.build import CompilerMissingError

BENCHMARKS = {
    "dispatch": dispatch.measure,
    "calls": calls.measure,
    "start": start.measure,
    "training": training.measure,
    "growth": growth.measure,
    "suite": suite.measure,
    "pipeline": pipeline.measure,
    "overlap": overlap.measure,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print tables, keep them as JSON; 1 if a row is above its bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    for module in (dispatch, calls, start, training, growth, suite, pipeline, overlap):
        module.add_arguments(parser.add_argument_group(module.__name__.rpartition(".")[2]))
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    console, is_above = Console(), False
    for name in options.names or BENCHMARKS:
        try:
            result: Result = BENCHMARKS[name](options)
        except CompilerMissingError as missing:
            console.print(f"{name} is left out: {missing}")
            continue
        console.print(result.table())
        console.print(f"wrote {result.save(options.reports)}")
        is_above |= any(row.is_above for row in result.rows)
    return int(is_above)


if __name__ == "__main__":
    sys.exit(main())
