"""The command line: what each command prints, to which stream, and with which exit status."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import imitated_run
import pytest
from fakes import PATIENCE

from conformance import oracle, suite
from conformance.__main__ import main, parser
from conformance.case import Case
from conformance.cases import BY_NAME
from conformance.commands import COMMANDS
from conformance.compare import compare
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, AreaRecording, Missing
from conformance.recorded.recording import Source, add
from conformance.report import Run, RunBuilder, json_report
from conformance.shard import Shard
from mindtorch_v2 import profile as profiles

FACTS = replace(imitated_run.FACTS, subject="mindtorch_v2")
Captured = pytest.CaptureFixture[str]


def run(subject: str = "1 : int") -> Run:
    builder = RunBuilder(FACTS, {"keys": 1})
    case = Case("keys", "t", "xp.f()")
    builder.add(compare(case, Outcome("returned", "1 : int"), Outcome("returned", subject)))
    return builder.run()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "--json" in printed
    assert "exit status" in printed


def test_the_help_names_every_command() -> None:
    printed = parser().format_help()
    assert all(f"    {name}" in printed for name in COMMANDS)


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["compare", "one"], ["run", "--shard", "2"]])
def test_a_wrong_call_is_status_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_an_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(COMMANDS["list"], "run", interrupted)
    assert main(["list", "areas"]) == 130


# list -------------------------------------------------------------------------------------------


def test_areas_are_listed_in_the_order_of_reports(capsys: Captured) -> None:
    assert main(["list", "areas"]) == 0
    assert capsys.readouterr().out.split() == list(BY_NAME)
    assert main(["list", "areas", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(BY_NAME)


def test_the_cases_of_an_area_are_listed_each_on_a_line(capsys: Captured) -> None:
    cases = list(BY_NAME["tls"].cases(profiles.load("2.4")))
    assert main(["list", "tls"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [case.id for case in cases]
    assert main(["list", "nosuch"]) == 2
    assert "no area is called 'nosuch'" in capsys.readouterr().err


# Recordings -------------------------------------------------------------------------------------


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Of two releases, with the area priority: one answer is missing, one differs from ours."""
    for release, profile in (("2.4.1", "2.4"), ("2.13.0", "2.13")):
        cases = list(BY_NAME["priority"].cases(profiles.load(profile)))[:40]
        answers: list[Answer] = [Outcome("returned", f"{release} : str")] * len(cases)
        answers[1] = Missing.NONDETERMINISTIC
        source = Source(
            release=release,
            full_version=f"{release}+none",
            git_hash="0" * 40,
            build="",
            platform="Linux",
            python="3.11",
            numpy="2",
        )
        known = {
            "cases": len(cases),
            "nondeterministic": (cases[1].id,),
            "suite": "0",
            "recorded": "today",
        }
        add(tmp_path / release, source, AreaRecording.of("priority", cases, answers), known)
    return tmp_path


def case_of(number: int) -> Case:
    return list(BY_NAME["priority"].cases(profiles.load("2.4")))[number]


def test_recordings_are_listed(recordings: Path, capsys: Captured) -> None:
    assert main(["list", "recordings", "--recordings", str(recordings)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("2.4.1+none: 40 cases of 1 areas, 1 dropped, ")
    assert second.startswith("2.13.0+none: 40 cases")
    assert main(["list", "recordings", "--json", "--recordings", str(recordings)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["source"]["release"] for each in told] == ["2.4.1", "2.13.0"]


def test_a_case_is_shown_release_by_release(recordings: Path, capsys: Captured) -> None:
    shared = ["--recordings", str(recordings)]
    for wanted in (case_of(0).id, case_of(0).text):
        assert main(["show", wanted, "--json", *shared]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told[0]["torch"] == "2.4.1"
        assert told[0]["outcome"] == {"kind": "returned", "value": "2.4.1 : str"}
    assert main(["show", case_of(1).text, *shared]) == 0
    assert "PyTorch did not answer the same twice" in capsys.readouterr().out
    assert main(["show", "1 + 1", *shared]) == 2
    assert "has the case '1 + 1'" in capsys.readouterr().err


def test_a_case_is_reproduced_by_a_recording(
    recordings: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(oracle.RECORDING_VARIABLE, "")
    monkeypatch.setenv(oracle.PROFILE_VARIABLE, "")
    release = "2.4.1" if profiles.active().name == "2.4" else "2.13.0"
    shared = ["--torch", str(recordings / release), "--reports", str(tmp_path), "--json"]
    [wanted, dropped, *_] = list(BY_NAME["priority"].cases(profiles.active()))
    assert main(["reproduce", wanted.id, *shared]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["oracle"] == {"kind": "returned", "value": f"{release} : str"}
    assert told["subject"]["kind"] in ("returned", "raised")
    assert main(["reproduce", dropped.id, *shared]) == 2
    assert "PyTorch did not answer the same twice" in capsys.readouterr().out


# The suite --------------------------------------------------------------------------------------


def test_an_order_is_a_call_of_pytest(tmp_path: Path) -> None:
    order = suite.Order(
        areas=["dispatch-table"],
        subject="other",
        reports=tmp_path,
        shard=Shard(2, 3),
        jobs=4,
        arguments=["-k", "drawn"],
    )
    assert order.command[1:] == [
        *("-m", "pytest", "-q", "-rN", "-p", "no:cacheprovider"),
        *("--reports", str(tmp_path), "--subject", "other", "--shard", "2/3"),
        *("-n", "4", "--dist", "worksteal"),
        *(str(suite.ORACLES / "test_dispatch_table.py"), "-k", "drawn"),
    ]


INTERRUPTED = """
import os, signal, subprocess, sys, threading, time
from pathlib import Path
from conformance import suite

class Order(suite.Order):
    @property
    def command(self):
        script = '''
import signal, sys, time
def stop(*_):
    time.sleep(1)  # longer than subprocess.run would wait
    open("torch-2.4.1.json", "w").write("a report")
    sys.exit(2)
signal.signal(signal.SIGINT, stop)
print("ready", file=sys.stderr, flush=True)
time.sleep(60)
'''
        return [sys.executable, "-c", script]

order = Order(subject="s", reports=Path("."))
try:
    suite.run(order, "2.4.1", {}, quiet=False)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupted_suite_still_writes_its_report(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(suite.__file__).parents[1])},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.wait(timeout=PATIENCE) == 130
    assert (tmp_path / "torch-2.4.1.json").read_text() == "a report"
    process.stderr.close()


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    script = f"{sys.executable} -m conformance list tls | head -1"
    root = str(Path(suite.__file__).parents[1])
    done = subprocess.run(
        ["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}"],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("tls/")
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


def test_replay_warns_of_another_python(
    recordings: Path,
    suites: list[tuple[suite.Order, str, Any]],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = ["replay", "--torch", str(recordings / "2.4.1")]
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "11", "0"))
    assert main(shared) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "12", "0"))
    assert main(shared) == 0
    assert "recorded under Python 3.11, and this is 3.12" in capsys.readouterr().err


def test_every_area_has_its_file() -> None:
    for name in BY_NAME:
        [file] = suite.Order(areas=[name], subject="s", reports=Path()).files
        assert Path(file).exists()


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch) -> list[tuple[suite.Order, str, Any]]:
    """The orders that a command gives; 2.13.0 differs."""
    given: list[tuple[suite.Order, str, Any]] = []

    def ordered(order: suite.Order, release: str, environment: Any, *, quiet: bool) -> Run:
        given.append((order, release, environment))
        made = run("2 : int" if release == "2.13.0" else "1 : int")
        return replace(made, facts=replace(made.facts, torch=release))

    monkeypatch.setattr(suite, "run", ordered)
    return given


def test_replay_runs_every_recording_and_ends_with_a_table(
    recordings: Path, suites: list[tuple[suite.Order, str, Any]], capsys: Captured
) -> None:
    named = [part for r in ("2.4.1", "2.13.0") for part in ("--torch", str(recordings / r))]
    assert main(["replay", "priority", "--shard", "1/2", *named]) == 1
    printed = capsys.readouterr().out
    assert "mindtorch_v2 agrees with PyTorch 2.4.1 in the one case." in printed
    assert [line.split()[0] for line in printed.splitlines()[-2:]] == ["2.4.1", "2.13.0"]
    assert printed.rstrip().endswith("FAILED")
    for (order, _, environment), release in zip(suites, ("2.4.1", "2.13.0"), strict=True):
        assert (order.areas, order.shard) == (["priority"], Shard(1, 2))
        assert environment == {oracle.RECORDING_VARIABLE: str(recordings / release)}
    assert main(["replay", *named[:2], "--json"]) == 0
    [told] = json.loads(capsys.readouterr().out)
    assert (told["torch"], told["passed"]) == ("2.4.1", True)
    assert main(["replay", "nosuch", *named]) == 2


def test_run_needs_a_torch(
    suites: list[tuple[suite.Order, str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(oracle, "live", lambda: oracle.LiveOracle("2.4.1+none"))
    assert main(["run", "keys", "--seed", "7", "--json"]) == 0
    [(order, release, _)] = suites
    assert (order.areas, release, list(order.arguments)) == (
        ["keys"],
        "2.4.1",
        ["--hypothesis-seed", "7"],
    )
    capsys.readouterr()

    def none() -> oracle.LiveOracle:
        raise oracle.NoOracleError("no torch is installed here")

    monkeypatch.setattr(oracle, "live", none)
    assert main(["run", "keys"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "error: no torch is installed here\n")


def test_report_shows_what_is_stored(tmp_path: Path, capsys: Captured) -> None:
    shared = ["report", "--reports", str(tmp_path)]
    assert main(shared) == 2
    json_report.write(run(), tmp_path / "torch-2.4.1.json")
    assert main(shared) == 0
    assert "agrees with PyTorch 2.4.1" in capsys.readouterr().out
    assert (tmp_path / "torch-2.4.1.html").exists()
    json_report.write(run("2 : int"), tmp_path / "torch-2.4.1.json")
    assert main([*shared, "--json"]) == 1
    [told] = json.loads(capsys.readouterr().out)
    assert told["counts"]["mismatch"] == 1
