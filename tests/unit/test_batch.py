"""Batches hold every case once; the directory of outcomes keeps what a run had."""

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fakes import patient
from hypothesis import given
from hypothesis import strategies as st

from conformance.area import Area, made_once
from conformance.batch import PLAN, Outcomes, Plan, Summary, batches
from conformance.case import Case
from conformance.compare import Comparison, compare
from conformance.outcome import Outcome
from mindtorch_v2.profile import Profile

PROFILE = cast(Profile, None)
RETURNED = Outcome("returned", "1 : int")
AWKWARD = "a\r\n\u2028\u2029\x85\x1c\x00\ud800€\U0001f600\\n"


def area(texts: Iterable[tuple[str, str]], **others: Any) -> Area:
    return Area("tiny", lambda profile: texts, lambda profile: st.just(("t", "1")), **others)


def comparison(text: str, name: str = "tiny") -> Comparison:
    return compare(Case(name, "t", text), RETURNED, Outcome("raised", type="E", message=text))


@pytest.fixture
def outcomes(tmp_path: Path) -> Outcomes:
    made = Outcomes(tmp_path / "outcomes")
    made.clear()
    return made


def recorded(outcomes: Outcomes, name: str, *texts: str) -> Path:
    with outcomes.open(name) as file:
        for text in texts:
            file.add(comparison(text))
    return outcomes.directory / f"{name}.jsonl"


# Areas and batches ------------------------------------------------------------------------------


def test_an_area_makes_cases_of_its_texts_each_once_and_in_their_order() -> None:
    made = area([("t", "b"), ("u", "a"), ("v", "b")], isolation="fork", warnings=False)
    assert list(made.cases(PROFILE)) == [
        Case("tiny", "t", "b", "generated", "fork", False),
        Case("tiny", "u", "a", "generated", "fork", False),
    ]


@patient
@given(st.integers(0, 30), st.integers(1, 12))
def test_batches_hold_every_case_once_and_in_order(number: int, size: int) -> None:
    cases = list(range(number))
    made = list(batches("tiny", number, size))
    assert [case for batch in made for case in batch.of(cases)] == cases
    assert all(batch.size == len(batch.of(cases)) for batch in made)
    assert all(batch.size == size for batch in made[:-1])
    assert all(1 <= batch.size <= size for batch in made)


def test_the_last_batch_goes_to_the_end_of_an_area_that_has_grown_or_shrunk() -> None:
    *_, before, last = batches("tiny", 8, 3)
    assert [[*batch.of(range(11))] for batch in (before, last)] == [[3, 4, 5], [6, 7, 8, 9, 10]]
    assert [[*batch.of(range(4))] for batch in (before, last)] == [[3], []]


def test_an_area_counts_the_cases_that_it_makes() -> None:
    made = area([("t", "b"), ("u", "a"), ("v", "b")])
    assert made.count(PROFILE) == len(list(made.cases(PROFILE))) == 2


def test_texts_that_take_long_are_made_once_for_a_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    @made_once("CONFORMANCE_PIPELINE")
    def texts(profile: Profile) -> Iterable[tuple[str, str]]:
        made.append(profile.name)
        yield "t", profile.name

    one, two = (cast(Profile, SimpleNamespace(name=name)) for name in ("2.4", "2.9"))
    for profile in (one, one, two, two, one):
        assert list(texts(profile)) == [("t", profile.name)]
    assert made == ["2.4", "2.9", "2.4"]
    monkeypatch.setenv("CONFORMANCE_PIPELINE", "all")
    assert list(texts(one)) == [("t", "2.4")]
    assert made == ["2.4", "2.9", "2.4", "2.4"]


def test_batches_are_named_by_their_area_and_place() -> None:
    assert [batch.id for batch in batches("tiny", 5, 2)] == ["tiny-0000", "tiny-0001", "tiny-0002"]


# Outcomes ---------------------------------------------------------------------------------------


def compared(outcomes: Outcomes) -> list[Comparison]:
    return [kept for kept in outcomes.read() if isinstance(kept, Comparison)]


def test_what_was_recorded_is_read_again_batch_by_batch(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0001", "c")
    recorded(outcomes, "tiny-0000", "a", "b")
    recorded(outcomes, "tiny-drawn")
    assert compared(outcomes) == [comparison(text) for text in "abc"]


def test_generated_cases_that_agree_are_counted_and_drawn_ones_kept(outcomes: Outcomes) -> None:
    drawn = Comparison(Case("tiny", "t", "x", "hypothesis"), RETURNED, RETURNED, "agree")
    unjudged = Comparison(Case("tiny", "t", "y"), Outcome("crashed"), RETURNED, "unjudged")
    with outcomes.open("tiny-0000", {"unrecorded": {"tiny": 2}}) as file:
        for target in ("t", "u", "t"):
            file.add(Comparison(Case("tiny", target, "1"), RETURNED, RETURNED, "agree").in_short())
        file.add(drawn)
        file.add(unjudged)
    agreed = (("tiny", "t", "returned", 2), ("tiny", "u", "returned", 1))
    assert list(outcomes.read()) == [drawn, unjudged, Summary(agreed, {"unrecorded": {"tiny": 2}})]


def test_a_batch_that_is_interrupted_has_a_summary(outcomes: Outcomes) -> None:
    agrees = Comparison(Case("tiny", "t", "1"), RETURNED, RETURNED, "agree").in_short()
    with suppress(KeyboardInterrupt), outcomes.open("tiny-0000") as file:
        file.add(agrees)
        raise KeyboardInterrupt
    assert list(outcomes.read()) == [Summary((("tiny", "t", "returned", 1),))]


def test_texts_with_line_breaks_of_every_kind_are_read_as_they_were(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0000", AWKWARD, "b")
    assert compared(outcomes) == [comparison(AWKWARD), comparison("b")]


def test_a_last_line_that_was_cut_short_is_left_out(outcomes: Outcomes) -> None:
    path = recorded(outcomes, "tiny-0000", "a", "b")
    whole = path.read_bytes()[: path.read_bytes().rindex(b"\n{") + 1]
    first = whole.index(b"\n") + 1
    recorded(outcomes, "tiny-0001", "c")
    for length in range(first, len(whole)):
        (outcomes.directory / "tiny-0000.jsonl").write_bytes(whole[:length])
        assert compared(outcomes) == [comparison("a"), comparison("c")]


def test_a_batch_that_is_run_again_replaces_what_it_had(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0000", "a", "b")
    recorded(outcomes, "tiny-0000", "c")
    assert compared(outcomes) == [comparison("c")]


def test_the_plan_is_read_as_it_was_written_and_is_empty_without_one(outcomes: Outcomes) -> None:
    assert outcomes.read_plan() == Plan()
    outcomes.write_plan(Plan({"tls": 3, "keys": 2}))
    assert list(outcomes.read_plan().cases.items()) == [("tls", 3), ("keys", 2)]
    outcomes.write_plan(Plan({"keys": 1}, {"keys": 3}))
    assert outcomes.read_plan() == Plan({"keys": 1}, {"keys": 3})
    assert [path.name for path in outcomes.directory.iterdir()] == [PLAN]


WRITES_THE_PLAN = """
import sys
from pathlib import Path
from conformance.batch import Outcomes, Plan

for _ in range(500):
    Outcomes(Path(sys.argv[1])).write_plan(Plan({"tls": 3}))
"""


def test_workers_that_write_the_plan_at_once_are_not_in_each_others_way(outcomes: Outcomes) -> None:
    command = [sys.executable, "-c", WRITES_THE_PLAN, outcomes.directory]
    workers = [subprocess.Popen(command) for _ in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert outcomes.read_plan() == Plan({"tls": 3})
    assert [path.name for path in outcomes.directory.iterdir()] == [PLAN]


def test_nothing_of_an_earlier_run_is_left_after_clearing(outcomes: Outcomes) -> None:
    outcomes.write_plan(Plan({"tiny": 1}))
    (outcomes.directory / "planned.1.partial").write_text("half of")
    recorded(outcomes, "tiny-0000", "a")
    (outcomes.directory / "worker.log").write_text("noise")
    outcomes.clear()
    assert list(outcomes.directory.iterdir()) == []
    assert list(outcomes.read()) == []


def test_clearing_makes_the_directory_and_leaves_other_files(tmp_path: Path) -> None:
    made = Outcomes(tmp_path / "a" / "b")
    made.clear()
    (made.directory / "notes.txt").write_text("mine")
    made.clear()
    assert [path.name for path in made.directory.iterdir()] == ["notes.txt"]


def test_a_record_is_one_line_of_ascii(outcomes: Outcomes) -> None:
    data = recorded(outcomes, "tiny-0000", AWKWARD).read_bytes()
    assert data.isascii()
    line, summary = data.splitlines()
    assert json.loads(line)["verdict"] == "mismatch"
    assert json.loads(summary) == {"agreed": [], "left_out": {}, "others": {}}
