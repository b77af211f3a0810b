"""Runs the suite, which is a pytest suite, in a process of its own, and reads what it reports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from conformance import report
from conformance.oracle import RECORDING_VARIABLE
from conformance.report import Run, json_report
from conformance.shard import Shard

ORACLES: Final = Path(__file__).parent / "oracles"
PYTEST_INTERRUPTED: Final = 2


class SuiteError(RuntimeError):
    """The suite did not come to a report; what pytest printed says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be run."""

    areas: Sequence[str] = ()
    """Empty for all."""
    subject: str
    reports: Path
    shard: Shard | None = None
    jobs: int = 1
    arguments: Sequence[str] = ()
    """Further ones for pytest."""

    @property
    def files(self) -> list[str]:
        if not self.areas:
            return [str(ORACLES)]
        return [str(ORACLES / f"test_{area.replace('-', '_')}.py") for area in self.areas]

    @property
    def command(self) -> list[str]:
        workers = ["-n", str(self.jobs), "--dist", "worksteal"] if self.jobs > 1 else []
        return [
            *(sys.executable, "-m", "pytest", "-q", "-rN", "-p", "no:cacheprovider"),
            *("--reports", str(self.reports.absolute()), "--subject", self.subject),
            *(["--shard", str(self.shard)] if self.shard else []),
            *workers,
            *self.files,
            *self.arguments,
        ]


def run(order: Order, release: str, environment: Mapping[str, str], *, quiet: bool) -> Run:
    """Run it against one release; pytest's own words go to stderr, or if ``quiet`` only where
    there is no report to speak.  KeyboardInterrupt if somebody stopped it, after its report."""
    kind: Final = "recorded" if environment.get(RECORDING_VARIABLE) else "live"
    path = order.reports / f"{report.stem(release, kind, order.shard)}.json"
    before = path.stat().st_mtime_ns if path.exists() else None
    process = subprocess.Popen(
        order.command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE if quiet else sys.stderr,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
        errors="replace",
    )
    printed = _what_is_printed(process)
    if not path.exists() or path.stat().st_mtime_ns == before:
        raise SuiteError(f"pytest ended with status {process.returncode}\n{printed}".strip())
    if process.returncode == PYTEST_INTERRUPTED:
        raise KeyboardInterrupt
    return json_report.read(path)


def _what_is_printed(process: subprocess.Popen[str]) -> str:
    """All of it, at the end.  An interrupt reaches pytest as well, which then has a report to
    write: this process waits for that."""
    while True:
        try:
            return process.communicate()[0] or ""
        except KeyboardInterrupt:
            pass


def summary(run: Run, reports: Path) -> dict[str, Any]:
    """A run as machines read it: the counts, and where the rest is."""
    return {
        "torch": run.facts.torch,
        "oracle": run.facts.oracle,
        "subject": run.facts.subject,
        "passed": run.passed,
        "verdict": run.verdict,
        "notes": list(run.notes),
        "counts": asdict(run.counts),
        "seconds": run.seconds,
        "report": str(reports / f"{run.stem}.json"),
    }
