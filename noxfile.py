"""Sessions: ``nox -l`` lists them.  Arguments after ``--`` reach pytest, or the command.

``python -m nox -s conformance`` is the main job: it runs every case in real PyTorch and in
mindtorch_v2, once per torch release, each in an environment of its own.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from itertools import takewhile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
# Environments are kept: a torch release takes gigabytes.  `--reuse-venv=no` makes them anew.
nox.options.reuse_venv = "yes"

#: Releases whose facts are here, and the newest Python that each has wheels for.
NEWEST_PYTHON = {
    "2.4.1": (3, 12),
    "2.5.1": (3, 13),
    "2.6.0": (3, 13),
    "2.7.1": (3, 13),
    "2.8.0": (3, 13),
    "2.9.1": (3, 14),
    "2.10.0": (3, 14),
    "2.11.0": (3, 14),
    "2.12.1": (3, 14),
    "2.13.0": (3, 14),
    "2.14.1": (3, 14),
    "2.15.0": (3, 15),
}
TORCH_RELEASES = tuple(NEWEST_PYTHON)
#: Releases that `nox -s conformance` judges by, the baseline first; another is judged by where the
#: command line names it: `nox -s "conformance(torch='2.9.1')"`.
LIVE_RELEASES = ("2.4.1", "2.13.0")
NAMED_RELEASES = tuple(
    release
    for release in TORCH_RELEASES
    if release not in LIVE_RELEASES and any(f"torch='{release}'" in each for each in sys.argv)
)
ENVIRONMENTS = Path(".nox")
PROFILES = Path("mindtorch_v2/profile/data")
ORACLES = Path("conformance/oracles")
STRICT = (
    "mindtorch_v2/dispatch",
    "mindtorch_v2/schema",
    "mindtorch_v2/binding",
    "mindtorch_v2/profile",
    "mindtorch_v2/pybind",
    "mindtorch_v2/kernels",
    "mindtorch_v2/npu",
    "mindtorch_v2/pipeline",
    "conformance",
    "benchmarks",
)


def install_with_torch(session: nox.Session, release: str) -> None:
    """This package with the suite's needs, and one torch release by name."""
    newest = NEWEST_PYTHON[release]
    if sys.version_info[:2] > newest:
        wanted = ".".join(map(str, newest))
        session.error(
            f"torch {release} has wheels up to Python {wanted}, and this nox runs on "
            f"{platform.python_version()}: install nox there and run python{wanted} -m nox …"
        )
    session.install(f"torch=={release}", "numpy", "pyyaml")
    session.install("-e", ".[conformance]")


@nox.session
@nox.parametrize("torch", LIVE_RELEASES + NAMED_RELEASES)
def conformance(session: nox.Session, torch: str) -> None:
    """Every case in torch and in mindtorch_v2; reports go to reports/.

    Arguments are names of areas, which run alone then, and behind them pytest's own.
    """
    install_with_torch(session, torch)
    if not session.posargs:
        session.install("-e", ".[dev]")
        # The escapes from the grammar of cases, tried on the torch they are about.
        session.run("pytest", "tests", "-q", "-m", "torch")
    count = str(os.cpu_count() or 1)
    workers = [] if _has_workers(session.posargs) else ["-n", count, "--dist", "worksteal"]
    # -rN: every mismatch stands in its failure already, pytest's summary would say it again.
    shown = ["-q", "-rN", "--durations=15"]
    # An area's name may be an option's value as well, as in `-k keys`: those that come first count.
    areas = list(takewhile(Path.is_file, map(_file_of_area, session.posargs)))
    others = session.posargs[len(areas) :]
    session.run("pytest", *map(str, areas or [ORACLES]), *shown, *workers, *others)


def _file_of_area(name: str) -> Path:
    return ORACLES / f"test_{name.replace('-', '_')}.py"


def _has_workers(arguments: list[str]) -> bool:
    return any(argument.startswith(("-n", "--numprocesses", "-p")) for argument in arguments)


@nox.session
def replay(session: nox.Session) -> None:
    """mindtorch_v2 against every recorded release; no torch is installed.

    Arguments are those of `conformance replay`, such as --torch RELEASE, --shard K/N or areas.
    """
    session.install("-e", ".[conformance]")
    jobs = ["--jobs", str(os.cpu_count() or 1)]
    session.run("conformance", "replay", *jobs, *session.posargs)


@nox.session(default=False)
@nox.parametrize("torch", TORCH_RELEASES)
def record(session: nox.Session, torch: str) -> None:
    """Record every case of a release, twice, into conformance/recordings.

    A release whose facts are not here yet has them extracted first, as by the session profile.
    Interrupted, it goes on where it was.  `-- --check` holds the recording against that torch.
    """
    install_with_torch(session, torch)
    if not _profile_of(torch).exists():
        _extract(session)
    session.run("conformance", "record", *session.posargs)


@nox.session(venv_backend="none", default=False)
def reproduce(session: nox.Session) -> None:
    """One case, both sides: ``nox -s reproduce -- 'LINE'`` or a case id.

    In every release that is installed here, or in the one that --torch RELEASE chooses.
    """
    release, arguments = _release(session)
    installed = [each for each in TORCH_RELEASES if _python_of(each).exists()]
    chosen = [release] if release else installed or TORCH_RELEASES[:1]
    for each in chosen:
        python = _conformance_python(session, each)
        session.run(
            str(python),
            *("-m", "conformance", "reproduce", *arguments),
            external=True,
            success_codes=[0, 1],  # 1: the sides differ, which is what one came to see
        )


def _release(session: nox.Session) -> tuple[str | None, list[str]]:
    """The release that ``-- --torch RELEASE …`` chooses, if it does; and the other arguments."""
    arguments = list(session.posargs)
    if arguments[:1] != ["--torch"]:
        return None, arguments
    if len(arguments) < 2 or arguments[1] not in TORCH_RELEASES:
        session.error(f"--torch takes one of {', '.join(TORCH_RELEASES)}")
    return arguments[1], arguments[2:]


def _python_of(release: str) -> Path:
    """The interpreter of a release's conformance environment, whether it is there or not."""
    return ENVIRONMENTS / f"conformance-torch-{release.replace('.', '-')}" / "bin" / "python"


def _conformance_python(session: nox.Session, release: str) -> Path:
    """The same, made now if it is missing."""
    python = _python_of(release)
    if not python.exists():
        target = f"conformance(torch='{release}')"
        session.run(sys.executable, "-m", "nox", "-s", target, "--install-only", external=True)
    return python


@nox.session
def tests(session: nox.Session) -> None:
    """The tests that need no torch: contracts of mindtorch_v2, the harness itself, and, where there
    is a Chromium, the site of reports in it."""
    session.install("-e", ".[dev,browser]")
    everything = ["tests", "-m", "not torch", "-n", str(os.cpu_count() or 1)]
    session.run("pytest", *(session.posargs or everything))


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, mypy --strict where types are promised, and GitHub's schema for workflows."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", *STRICT)
    workflows = sorted(map(str, Path(".github/workflows").glob("*.yml")))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Speed, by the modules of benchmarks/ or those that are named (--torch RELEASE chooses the
    torch that it is compared with)."""
    release, arguments = _release(session)
    install_with_torch(session, release or TORCH_RELEASES[0])
    # 1: above the bar, which the table says
    session.run("python", "-m", "benchmarks", *arguments, success_codes=[0, 1])


@nox.session(default=False)
def npu(session: nox.Session) -> None:
    """Tests of the NPU kernels: on Ascend hardware, or on the simulated runtime; it says which."""
    on_hardware = shutil.which("npu-smi") and os.environ.get("ASCEND_HOME_PATH")
    if not on_hardware and shutil.which(os.environ.get("CC", "cc")) is None:
        session.skip(
            "no Ascend device is found here (npu-smi on the path, and CANN's set_env.sh sourced), "
            "and the simulated runtime needs a C compiler"
        )
    session.log("on Ascend hardware" if on_hardware else "on the simulated runtime")
    session.install("-e", ".[dev]")
    session.run("pytest", "-m", "npu", *(session.posargs or ["tests/npu"]))


@nox.session(default=False)
def npu_sanitized(session: nox.Session) -> None:
    """The same on a simulated runtime with the address, undefined-behaviour and leak sanitisers."""
    session.install("-e", ".[dev]")
    only = ["tests/npu/test_sim_sanitized.py"]
    session.run("pytest", "-m", "npu", *(session.posargs or only), env={"ACL_SIM_SANITIZE": "1"})


@nox.session(default=False)
@nox.parametrize("torch", TORCH_RELEASES)
def profile(session: nox.Session, torch: str) -> None:
    """Extract the facts of a torch release into mindtorch_v2/profile/data."""
    install_with_torch(session, torch)
    _extract(session)


def _extract(session: nox.Session) -> None:
    session.install("expecttest")  # which torch's own tests import
    session.run("python", "-m", "conformance.extract", "--out", str(PROFILES))


def _profile_of(release: str) -> Path:
    """Where a release's facts are, whether they are there or not: 2.4.1's in ``2.4``."""
    return PROFILES / release.rpartition(".")[0]
