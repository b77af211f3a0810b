"""Batches hold every case once; the directory of outcomes keeps what a run had."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from fakes import patient
from hypothesis import given
from hypothesis import strategies as st

from conformance.area import Area
from conformance.batch import PLAN, Outcomes, Plan, batches, record
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
            record(file, comparison(text))
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
    cases = [Case("tiny", "t", str(index)) for index in range(number)]
    made = list(batches(area([]), iter(cases), size))
    assert [case for batch in made for case in batch.cases] == cases
    assert all(len(batch.cases) == size for batch in made[:-1])
    assert all(1 <= len(batch.cases) <= size for batch in made)


def test_batches_are_named_by_their_area_and_place() -> None:
    cases = [Case("tiny", "t", str(index)) for index in range(5)]
    assert [batch.id for batch in batches(area([]), cases, 2)] == [
        "tiny-0000",
        "tiny-0001",
        "tiny-0002",
    ]


# Outcomes ---------------------------------------------------------------------------------------


def test_what_was_recorded_is_read_again_batch_by_batch(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0001", "c")
    recorded(outcomes, "tiny-0000", "a", "b")
    recorded(outcomes, "tiny-drawn")
    assert list(outcomes.read()) == [comparison(text) for text in "abc"]


def test_texts_with_line_breaks_of_every_kind_are_read_as_they_were(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0000", AWKWARD, "b")
    assert list(outcomes.read()) == [comparison(AWKWARD), comparison("b")]


def test_a_last_line_that_was_cut_short_is_left_out(outcomes: Outcomes) -> None:
    whole = recorded(outcomes, "tiny-0000", "a", "b").read_bytes()
    first = whole.index(b"\n") + 1
    recorded(outcomes, "tiny-0001", "c")
    for length in range(first, len(whole)):
        (outcomes.directory / "tiny-0000.jsonl").write_bytes(whole[:length])
        assert list(outcomes.read()) == [comparison("a"), comparison("c")]


def test_a_batch_that_is_run_again_replaces_what_it_had(outcomes: Outcomes) -> None:
    recorded(outcomes, "tiny-0000", "a", "b")
    recorded(outcomes, "tiny-0000", "c")
    assert list(outcomes.read()) == [comparison("c")]


def test_the_plan_is_read_as_it_was_written_and_is_empty_without_one(outcomes: Outcomes) -> None:
    assert outcomes.read_plan() == Plan()
    outcomes.write_plan(Plan({"tls": 3, "keys": 2}))
    assert list(outcomes.read_plan().cases.items()) == [("tls", 3), ("keys", 2)]
    outcomes.write_plan(Plan({"keys": 1}, {"keys": 3}, {"keys": 4}, {"keys": 5}))
    assert outcomes.read_plan() == Plan({"keys": 1}, {"keys": 3}, {"keys": 4}, {"keys": 5})
    assert [path.name for path in outcomes.directory.iterdir()] == [PLAN]


def test_nothing_of_an_earlier_run_is_left_after_clearing(outcomes: Outcomes) -> None:
    outcomes.write_plan(Plan({"tiny": 1}))
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
    assert data.splitlines() == [data.rstrip(b"\n")]
    assert json.loads(data)["verdict"] == "mismatch"
