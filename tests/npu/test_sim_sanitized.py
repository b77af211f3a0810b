"""The simulator under the address, undefined-behaviour and leak sanitisers.

All other tests of the folder run again, those of the simulator and those of mindtorch_v2 in a
process each, on a build with sanitisers.  That takes minutes, so it is done when
``ACL_SIM_SANITIZE=1`` asks for it (``nox -s npu_sanitized``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .sim.build import build, find_compiler

pytestmark = [
    pytest.mark.npu,
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("ACL_SIM_SANITIZE") != "1",
        reason="the sanitised build takes minutes: set ACL_SIM_SANITIZE=1",
    ),
]

HERE = Path(__file__).parent
#: These start processes, or break memory on purpose.
STARTING = {"test_exit.py"}
LEFT_OUT = " and ".join(
    f"not {name}"
    for name in ("reads_device_memory", "end_the_process", "end_of_the_process", "forked_child")
)


def sanitizer_library(name: str) -> str:
    """Where the compiler keeps a sanitiser's run-time library; skips if it has none."""
    asked = [find_compiler(), f"-print-file-name={name}"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip(f"the compiler has no {name}")
    return found


@pytest.fixture(scope="module")
def sanitized_root(build_cache: Path, simulator_root: Path) -> Path:
    sanitizer_library("libasan.so")
    return build(build_cache, sanitize=True)


def environment(root: Path) -> dict[str, str]:
    preload = " ".join(sanitizer_library(name) for name in ("libasan.so", "libubsan.so"))
    return {
        **os.environ,
        "LD_PRELOAD": preload,
        # Python keeps memory at its end: a leak is told but does not fail, see `own_leaks`.
        "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1",
        "LSAN_OPTIONS": "exitcode=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:abort_on_error=1",
        "ACL_SIM_TEST_ROOT": str(root),
        "PYTHONPATH": str(HERE.parent),
    }


def run_python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, env=environment(root), cwd=HERE.parents[1],
    )  # fmt: skip


def own_leaks(report: str) -> list[str]:
    """The leaks in a sanitiser's report that the simulator's sources made."""
    assert "LeakSanitizer has encountered a fatal error" not in report
    leaks = re.split(r"(?=^(?:Direct|Indirect) leak of )", report, flags=re.MULTILINE)[1:]
    return [leak for leak in leaks if str(HERE / "sim") in leak]


SIMULATOR = {path.name for path in HERE.glob("test_sim_*.py")} - {Path(__file__).name}
KERNELS = {path.name for path in HERE.glob("test_*.py")} - SIMULATOR - {Path(__file__).name}


@pytest.mark.parametrize("names", [SIMULATOR, KERNELS], ids=["simulator", "kernels"])
def test_all_tests_run_clean(sanitized_root: Path, names: set[str]) -> None:
    files = sorted(str(HERE / name) for name in names - STARTING)
    # -s: pytest must not swallow what a sanitiser says before it ends the process.
    options = ("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-k", LEFT_OUT)
    done = run_python(sanitized_root, *options, *files)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout
    assert own_leaks(done.stderr) == []


def test_a_leak_would_be_seen(sanitized_root: Path) -> None:
    path = str(sanitized_root / "lib64" / "libascendcl.so")
    body = f"import ctypes; [ctypes.CDLL({path!r}).sim_allocate(1, 64) for _ in range(50)]"
    (leak,) = own_leaks(run_python(sanitized_root, "-c", body).stderr)
    assert "sim_allocate" in leak
