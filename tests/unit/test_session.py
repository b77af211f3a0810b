"""The suite as a pytest session: batches, what hypothesis draws, reports, interruptions.

Whole runs are of the small suite in ``fakes``.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes.processes import PATIENCE, are_gone, eventually
from fakes.small_suite import ADDITIONS, METADATA, SEED, SmallSuite
from hypothesis import settings
from imitated_run import FACTS

from conformance import oracle, session
from conformance.__main__ import main
from conformance.batch import Outcomes, Plan
from conformance.case import Case
from conformance.compare import Comparison, compare
from conformance.ledger import LEDGER_FILE, Entry, Ledger
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, AreaRecording, Missing
from conformance.recorded.recording import Source, add
from conformance.report import json_report
from conformance.report.marks import command
from conformance.shard import Shard

# Whole runs -------------------------------------------------------------------------------------

DISTRIBUTED = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "-n 2"])


@DISTRIBUTED
def test_a_run_in_which_all_agree_passes_and_reports_every_case_once(
    suite: SmallSuite, workers: tuple[str, ...]
) -> None:
    summary = suite.directory / "summary.md"
    github = {"GITHUB_STEP_SUMMARY": str(summary)}
    status, printed = suite.run(*workers, "--batch-size=3", texts=ADDITIONS, **github)
    assert status == 0, printed
    assert summary.read_text("utf-8").startswith("## ✅ imitation agrees with PyTorch 2.4.1")
    assert (suite.agreed, suite.texts("generated")) == (10, [])
    drawn = suite.texts("hypothesis")
    assert len(drawn) == len(set(drawn)) > 20
    [area] = suite.report.areas
    assert (area.name, area.planned, area.differing) == ("tiny", None, ())
    assert area.counts.cases == area.counts.agree == 10 + len(drawn)
    cases = f"all {10 + len(drawn):,} cases"
    assert f"imitation agrees with PyTorch 2.4.1 in {cases}." in printed
    assert {path.name for path in suite.reports.iterdir() if path.is_file()} == {
        "PARITY.md",
        "index.html",
        "torch-2.4.1.html",
        "torch-2.4.1.json",
        "torch-2.4.1.xml",
    }


def test_every_mismatch_is_shown_singly_and_fails_the_run(suite: SmallSuite) -> None:
    wrong = [f"xp.neg('not a key: {number}')" for number in range(3)]
    texts = [*ADDITIONS[:3], *wrong, "xp.abs()"]
    arguments = ("-n", "2", "--batch-size=3", "-k", "generated")
    status, printed = suite.run(*arguments, texts=texts, WRONG_WORD="a ")
    assert status == 1, printed
    [area] = suite.report.areas
    assert Counter(c.verdict for c in suite.outcomes) == {"mismatch": 3, "unjudged": 1}
    assert suite.agreed == 3
    assert [comparison.case.text for comparison in area.differing] == wrong
    assert [comparison.oracle.message for comparison in area.casualties] == ["killed by SIGSEGV"]
    for number, comparison in enumerate(area.differing):
        assert comparison.case.id in printed
        assert f"PyTorch 2.4.1: raised ValueError: not a key: {number}" in printed
        assert f"imitation: raised ValueError: not key: {number}" in printed
        assert f"reproduce: {command(comparison, suite.report.facts)}" in printed
    assert "imitation differs from PyTorch 2.4.1 in 3 of 6 cases" in printed


def test_what_is_drawn_is_found_again_by_the_seed_that_the_run_names(suite: SmallSuite) -> None:
    """Also by one process what two have found."""
    arguments = ("-k", "drawn", "--hypothesis-profile=dev")
    status, printed = suite.run(*arguments, "-n", "2", texts=["1"])
    assert status == 0, printed
    first = suite.texts("hypothesis")
    assert suite.report.facts.seed == int(SEED)
    status, printed = suite.run(*arguments, texts=["1"])
    assert (status, suite.texts("hypothesis")) == (0, first), printed


def test_a_drawn_mismatch_shrinks_and_is_recorded_once(suite: SmallSuite) -> None:
    status, printed = suite.run("-k", "drawn", texts=["1"], WRONG_FROM="500")
    assert status == 1, printed
    [area] = suite.report.areas
    assert [comparison.case.text for comparison in area.differing] == ["xp.mul(500, 3)"]
    assert area.counts.agree == area.counts.cases - 1
    assert f"--hypothesis-seed={SEED}" in printed
    assert "conformance reproduce --subject 'imitation' 'xp.mul(500, 3)'" in printed


def test_a_run_forgets_the_one_before_and_a_mere_collection_does_not(suite: SmallSuite) -> None:
    suite.run("-k", "generated", "--batch-size=1", texts=ADDITIONS)
    before = suite.report
    status, printed = suite.run("--collect-only", texts=["1"])
    assert status == 0, printed
    assert suite.agreed == 10
    assert suite.report == before
    suite.run("-k", "generated", texts=["1", "2"])
    assert suite.agreed == 2
    assert suite.report.counts.cases == 2


# Shards -----------------------------------------------------------------------------------------


def test_the_shards_of_a_run_merge_into_the_report_of_one_run(suite: SmallSuite) -> None:
    """Drawn cases included: a shard has all of an area's, or none."""
    wrong = "xp.neg('not a key')"
    texts = [*ADDITIONS, wrong]
    shared = ("--batch-size=3", "--hypothesis-profile=ci")
    status, printed = suite.run(*shared, texts=texts, WRONG_WORD="a ")
    assert status == 1, printed
    whole, kept = suite.report, suite.kept
    for index in (1, 2, 3):
        suite.run(*shared, f"--shard={index}/3", texts=texts, WRONG_WORD="a ")
    assert suite.report == whole  # a shard has reports of its own
    merged = suite.directory / "merged"
    assert main(["merge", str(suite.reports), "--reports", str(merged)]) == 1
    run = json_report.read(merged / "torch-2.4.1.json")
    assert replace(run, seconds=0, facts=whole.facts) == replace(whole, seconds=0)
    joined = list(Outcomes(merged / "outcomes" / "torch-2.4.1").read())
    assert sorted(map(str, joined)) == sorted(map(str, kept))
    (suite.reports / "shard-2-of-3-torch-2.4.1.json").unlink()
    assert main(["merge", str(suite.reports), "--reports", str(merged)]) == 1
    assert json_report.read(merged / "torch-2.4.1.json").lost == (Shard(2, 3),)


def test_a_shard_of_no_batch_is_not_lost(suite: SmallSuite) -> None:
    for index in (1, 2, 3, 4):
        status, printed = suite.run("--hypothesis-profile=ci", f"--shard={index}/4", texts=["1"])
        assert status == 0, printed
    assert "No case ran" in printed
    merged = suite.directory / "merged"
    assert main(["merge", str(suite.reports), "--reports", str(merged)]) == 0
    assert json_report.read(merged / "torch-2.4.1.json").lost == ()


def test_shards_of_different_runs_do_not_merge_and_say_why(
    suite: SmallSuite, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.run("--hypothesis-profile=ci", "--shard=1/2", texts=ADDITIONS)
    suite.run("--hypothesis-profile=ci", "--shard=2/2", texts=[*ADDITIONS, "1"])
    merged = suite.directory / "merged"
    assert main(["merge", str(suite.reports), "--reports", str(merged)]) == 2
    printed = capsys.readouterr().err
    assert "shards of different runs: cases: {'tiny': 10} in 1/2, {'tiny': 11} in 2/2" in printed


@pytest.mark.parametrize(
    ("shard", "message"),
    [("3/2", "shard 3/2: they go from 1/n to n/n"), ("half", "'half' is no shard, such as 2/3")],
)
def test_what_is_no_shard_is_a_usage_error(suite: SmallSuite, shard: str, message: str) -> None:
    status, printed = suite.run(f"--shard={shard}", texts=["1"])
    assert status == pytest.ExitCode.USAGE_ERROR
    assert f"--shard: {message}" in printed


# Replay -----------------------------------------------------------------------------------------


@DISTRIBUTED
def test_a_recording_is_replayed_without_a_torch(
    suite: SmallSuite, workers: tuple[str, ...]
) -> None:
    """It has all cases but one that is new, and of one PyTorch's outcomes differed."""
    wrong = "xp.add(1, 2)"
    texts = [f"xp.add({number}, 1)" for number in range(200)] + [wrong]
    cases = [Case("tiny", "t", text) for text in texts]
    answers: list[Answer] = [Outcome("returned", f"{number + 1} : int") for number in range(200)]
    answers[7] = Missing.NONDETERMINISTIC
    recording = suite.directory / "recording"
    add(
        recording,
        Source(
            release="2.4.1",
            full_version="2.4.1+theirs",
            git_hash="1" * 40,
            build="",
            platform="Elsewhere",
            python="3.11.7",
            numpy="2.0",
        ),
        AreaRecording.of("tiny", cases, [*answers, Outcome("returned", "4 : int")]),
        {"cases": 201, "nondeterministic": (), "suite": "0", "recorded": "today"},
    )
    shutil.rmtree(suite.directory / "site" / "torch")
    shutil.rmtree(suite.directory / "site" / "torch-2.4.1.dist-info")
    (suite.directory / "site" / "imitation.py").write_text("def add(a, b): return a + b")
    status, printed = suite.run(
        *workers,
        "--batch-size=50",
        texts=["xp.add(8, 9)", *texts],
        CONFORMANCE_RECORDING=str(recording),
    )
    assert status == 1, printed
    suite.stem = "torch-2.4.1-recorded"
    run = suite.report
    [area] = run.areas
    assert (run.facts.oracle, run.facts.full_version) == ("recorded", "2.4.1+theirs")
    assert (run.facts.platform, run.facts.profile) == ("Elsewhere", "2.4")
    assert [comparison.case.text for comparison in area.differing] == [wrong]
    assert area.nondeterministic <= 1 <= area.unrecorded < 201
    assert area.counts.cases + area.unrecorded + area.nondeterministic == 202
    assert suite.agreed + 1 == area.counts.cases
    assert suite.texts("hypothesis") == []
    assert f"{area.unrecorded} cases did not run: no recording has them." in run.notes


# Interruptions ----------------------------------------------------------------------------------


@DISTRIBUTED
def test_an_interrupted_run_keeps_what_it_had_and_says_so(
    suite: SmallSuite, workers: tuple[str, ...]
) -> None:
    """Two batches, then one that waits in its second case, in both sides."""
    texts = [*ADDITIONS[:5], "xp.sin(60)", *ADDITIONS[6:]]
    process = suite.start(*workers, "--batch-size=2", "-k", "generated", texts=texts)
    had = 4 if workers else 5
    assert eventually(lambda: len(suite.noted()) == 2 and suite.agreed >= 4)
    time.sleep(2)  # until the case before it, which both sides have done, is compared too
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, printed
    run = suite.report
    assert run.interrupted
    assert not run.complete
    [area] = run.areas
    assert area.planned == len(texts)
    assert had <= area.counts.cases == area.counts.agree < len(texts)
    assert f"{area.counts.cases} of {len(texts)} planned cases ran." in printed
    assert "ran before the run was cut short" in printed
    assert are_gone(suite.noted())


def test_reports_that_cannot_be_written_are_an_error_in_one_sentence(suite: SmallSuite) -> None:
    (suite.reports / f"{suite.stem}.json").mkdir(parents=True)
    status, printed = suite.run("-k", "generated", texts=ADDITIONS[:2])
    assert status == pytest.ExitCode.INTERNAL_ERROR, printed
    assert "the reports cannot be written: [Errno 21] Is a directory" in printed
    assert "Traceback" not in printed


# Seeds ------------------------------------------------------------------------------------------


def config(seed: str | None = None, profile: str | None = None, shard: str | None = None) -> Any:
    """What is asked of pytest's configuration."""
    option = SimpleNamespace(hypothesis_seed=seed, hypothesis_profile=profile, shard=shard)
    names = {
        "--hypothesis-seed": "hypothesis_seed",
        "--hypothesis-profile": "hypothesis_profile",
        "--shard": "shard",
    }
    return SimpleNamespace(
        option=option, getoption=lambda name, default=None: getattr(option, names[name])
    )


@pytest.fixture
def profile_restored() -> Iterator[None]:
    before = settings.get_current_profile_name()
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("profile_restored")
def test_a_run_without_a_seed_chooses_one_that_it_can_name() -> None:
    settings.load_profile("dev")
    made = [config(), config()]
    for each in made:
        session._choose_seed(each)
    first, second = (session._seed(each) for each in made)
    assert isinstance(first, int)
    assert first != second


@pytest.mark.usefixtures("profile_restored")
def test_the_shards_of_a_run_without_a_seed_choose_the_same() -> None:
    settings.load_profile("dev")
    made = [config(shard="1/2"), config(shard="2/2")]
    for each in made:
        session._choose_seed(each)
    first, second = (session._seed(each) for each in made)
    assert first == second is not None


@pytest.mark.usefixtures("profile_restored")
def test_a_seed_that_is_given_stays() -> None:
    settings.load_profile("dev")
    made = config(SEED)
    session._choose_seed(made)
    assert session._seed(made) == int(SEED)


@pytest.mark.usefixtures("profile_restored")
@pytest.mark.parametrize(("current", "named"), [("ci", None), ("dev", "ci")])
def test_a_profile_that_draws_the_same_every_time_has_no_seed(
    current: str, named: str | None
) -> None:
    settings.load_profile(current)
    made = config(profile=named)
    session._choose_seed(made)
    assert session._seed(made) is None


def test_the_profiles_are_derandomised_in_ci_and_thorough_at_night() -> None:
    ci, dev, nightly = map(settings.get_profile, ("ci", "dev", "nightly"))
    assert ci.derandomize
    assert not dev.derandomize
    assert nightly.max_examples > 10 * dev.max_examples


@pytest.mark.parametrize(("profile", "drawn"), [("ci", 1_000), ("dev", 1_000), ("nightly", 50_000)])
def test_an_area_may_draw_a_number_of_cases_of_its_own(profile: str, drawn: int) -> None:
    settings.load_profile(profile)
    checker = session.Checker.__new__(session.Checker)
    assert checker.examples("registration") == drawn
    assert checker.examples("keys") == settings.get_profile(profile).max_examples


def test_a_drawn_case_that_agreed_is_not_run_again() -> None:
    case = Case("keys", "line", "xp.full()", "hypothesis")
    exploration = session.Exploration.__new__(session.Exploration)
    exploration._seen = {case.id: None}
    exploration.check(case)  # there are no workers that could run it
    with pytest.raises(AttributeError, match="_workers"):
        exploration.check(replace(case, text="xp.empty()"))


# Collecting a run -------------------------------------------------------------------------------


def comparison(area: str, text: str, subject: str = "1 : int") -> Comparison:
    case = Case(area, "t", text)
    return compare(case, Outcome("returned", "1 : int"), Outcome("returned", subject))


def state(directory: Path, planned: dict[str, int], *found: Comparison) -> Any:
    """A session's state that has recorded ``found``."""
    outcomes = Outcomes(directory)
    outcomes.clear()
    outcomes.write_plan(Plan(planned))
    with outcomes.open("batch") as file:
        for each in found:
            file.add(each)
    return SimpleNamespace(
        outcomes=outcomes,
        facts=lambda: FACTS,
        oracle=oracle.LiveOracle("2.4.1"),
        started=time.monotonic(),
        shard=None,
    )


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the shipped ledger list these cases."""

    def load(path: Path, release: str) -> Ledger:
        assert (path, release) == (LEDGER_FILE, "2.4.1")
        return Ledger(tuple(entries))

    entries: list[Entry] = []
    monkeypatch.setattr(Ledger, "load", load)
    return lambda *cases: entries.extend(Entry(case, "known") for case in cases)


def test_a_run_has_every_planned_area_and_what_is_recorded_of_it(tmp_path: Path) -> None:
    found = [comparison("tls", "a"), comparison("tls", "b", "2 : int")]
    run = session.collect_run(state(tmp_path, {"keys": 3, "tls": 2}, *found), interrupted=True)
    assert [(area.name, area.counts.cases, area.planned) for area in run.areas] == [
        ("keys", 0, 3),
        ("tls", 2, None),
    ]
    assert run.interrupted
    assert not run.complete
    assert run.areas[1].differing == (found[1],)


def test_an_entry_of_an_area_that_ran_whole_and_differs_no_more_fails_the_run(
    tmp_path: Path, listed: Callable[..., None]
) -> None:
    known, agrees = comparison("keys", "a", "2 : int"), comparison("keys", "b")
    listed(known.case.id, agrees.case.id)
    judged = Ledger((Entry(known.case.id, "known"),)).judge(known)
    run = session.collect_run(state(tmp_path, {"keys": 2}, judged, agrees), interrupted=False)
    assert run.stale == (agrees.case.id,)
    assert not run.passed


def test_an_entry_of_an_area_that_was_cut_short_is_not_stale(
    tmp_path: Path, listed: Callable[..., None]
) -> None:
    agrees = comparison("keys", "b")
    listed(agrees.case.id, comparison("tls", "a").case.id)
    run = session.collect_run(state(tmp_path, {"keys": 2, "tls": 1}, agrees), interrupted=True)
    assert run.stale == ()


# The oracle -------------------------------------------------------------------------------------


@pytest.fixture
def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], oracle.LiveOracle]]:
    """Install a torch that is none, and ask which there is."""

    def install(version: str) -> oracle.LiveOracle:
        directory = tmp_path / "torch-0.dist-info"
        directory.mkdir()
        text = METADATA.replace("2.4.1", version)
        (directory / "METADATA").write_text(text, encoding="utf-8")
        return oracle.live()

    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    oracle.live.cache_clear()
    yield install
    oracle.live.cache_clear()


@pytest.mark.parametrize(
    ("version", "release", "profile"),
    [("2.4.1", "2.4.1", "2.4"), ("2.13.0+cpu", "2.13.0", "2.13"), ("2.4.1+cu121", "2.4.1", "2.4")],
)
def test_the_oracle_is_the_torch_that_is_installed(
    installed: Callable[[str], oracle.LiveOracle], version: str, release: str, profile: str
) -> None:
    found = installed(version)
    assert (found.version, found.release, found.profile) == (version, release, profile)


@pytest.mark.usefixtures("installed")
def test_without_a_torch_the_error_says_how_to_get_one() -> None:
    with pytest.raises(oracle.NoOracleError, match=re.escape("nox -s conformance")):
        oracle.live()
