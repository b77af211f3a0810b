"""A program for tests to interrupt: runs two cases, the second of which lingers.

``python -m fakes.interrupted PIDS ISOLATION``: the second notes its process in PIDS.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fakes import case, hostile, runner


def main(pids: str, isolation: str) -> None:
    hostile.pids = Path(pids)
    cases = [case("xp.echo(1)", isolation), case("xp.linger()", isolation)]
    for outcome in runner(hostile).outcomes(hostile, cases):
        print(outcome, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
