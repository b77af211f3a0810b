"""A suite of one small area, in a directory of its own, and runs of it.

A run is a pytest of its own, with a package ``torch`` that is none as oracle and a module
``imitation`` as subject; the suite's hooks and its test file are the real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from conformance.batch import Outcomes, Summary
from conformance.compare import Comparison
from conformance.report import Run, json_report
from fakes.processes import PATIENCE

ROOT = Path(__file__).parents[3]
SEED = "12345"

TORCH = """
import ctypes, os, time
from types import SimpleNamespace

__version__ = "2.4.1+none"
version = SimpleNamespace(git_version="0" * 40)
WRONG_FROM = 10**9

def add(a, b):
    return a + b

def mul(a, b):
    return a * b if a < WRONG_FROM else a + b

def sin(seconds):
    with open(os.environ["PIDS"], "a") as file:
        print(os.getpid(), file=file, flush=True)
    time.sleep(seconds)

def neg(text):
    raise ValueError(text)

def abs():
    ctypes.string_at(0)
"""

IMITATION = """
import os
from torch import *
import torch

WRONG_FROM = int(os.environ.get("WRONG_FROM", 10**9))
WRONG_AT = int(os.environ.get("WRONG_AT", -1))

def mul(a, b):
    return a * b if a < WRONG_FROM and a != WRONG_AT else a + b

def neg(text):
    raise ValueError(text.replace(os.environ.get("WRONG_WORD", "no such word"), ""))

def abs():
    return 1
"""

CONFTEST = """
import json, os
from conformance.oracles.conftest import *
from conformance.area import Area
from conformance.cases import BY_NAME
from hypothesis import strategies as st

TEXTS = [("t", text) for text in json.loads(os.environ["TEXTS"])]
DRAWN = st.integers(0, int(os.environ.get("DRAWN_TO", 999)))
DRAWN = DRAWN.map(lambda n: ("drawn", f"xp.mul({n}, 3)"))
BY_NAME["tiny"] = Area("tiny", lambda profile: TEXTS, lambda profile: DRAWN)
"""

METADATA = "Metadata-Version: 2.1\nName: torch\nVersion: 2.4.1\n"

ADDITIONS = [f"xp.add({number}, 1)" for number in range(10)]


class SmallSuite:
    """A directory with the small area, and runs of it."""

    stem = "torch-2.4.1"
    """What the files of a run are called."""

    def __init__(self, directory: Path, compiled: Path) -> None:
        self.directory = directory
        self.compiled = compiled
        self.reports = directory / "reports"
        self.pids = directory / "pids"
        self.pids.touch()
        test = (ROOT / "conformance" / "oracles" / "test_keys.py").read_text(encoding="utf-8")
        files = {
            "site/torch/__init__.py": TORCH,
            "site/torch-2.4.1.dist-info/METADATA": METADATA,
            "site/imitation.py": IMITATION,
            "suite/conftest.py": CONFTEST,
            "suite/test_tiny.py": test.replace('"keys"', '"tiny"'),
            "suite/pytest.ini": "[pytest]\nfilterwarnings = error\n",
        }
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def start(self, *arguments: str, texts: list[str], **environment: str) -> subprocess.Popen[str]:
        outside = (
            "GITHUB_",
            "PYTEST_",
            "CONFORMANCE_",
            "MINDTORCH_",
            "HYPOTHESIS_",
            "CI",
            "PYTHONDONT",
        )
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(outside)}
        paths = [str(self.directory / "site"), str(ROOT)]
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "suite", "-c", "suite/pytest.ini", "-q"),
                *("-p", "no:cacheprovider", "--reports", "reports", "--subject", "imitation"),
                *("--hypothesis-seed", SEED) * ("--hypothesis-profile=ci" not in arguments),
                *arguments,
            ],
            cwd=self.directory,
            env={
                **inherited,
                "PYTHONPATH": os.pathsep.join(paths),
                "PYTHONPYCACHEPREFIX": str(self.compiled),
                "TEXTS": json.dumps(texts),
                "PIDS": str(self.pids),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, texts: list[str], **environment: str) -> tuple[int, str]:
        """Exit status and what was printed."""
        process = self.start(*arguments, texts=texts, **environment)
        printed, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, printed

    @property
    def report(self) -> Run:
        return json_report.read(self.reports / f"{self.stem}.json")

    @property
    def kept(self) -> list[Comparison | Summary]:
        return list(Outcomes(self.reports / "outcomes" / self.stem).read())

    @property
    def outcomes(self) -> list[Comparison]:
        return [kept for kept in self.kept if isinstance(kept, Comparison)]

    @property
    def agreed(self) -> int:
        """How many generated cases agreed, of which nothing but their number is kept."""
        summaries = [kept for kept in self.kept if isinstance(kept, Summary)]
        return sum(count for summary in summaries for *_, count in summary.agreed)

    def texts(self, origin: str) -> list[str]:
        cases = [comparison.case for comparison in self.outcomes]
        return [case.text for case in cases if case.origin == origin]

    def noted(self) -> list[int]:
        return [int(line) for line in self.pids.read_text().split()]
