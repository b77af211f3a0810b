"""Recordings: what is packed comes out again, for its own cases and for no others."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import patient
from hypothesis import given
from hypothesis import strategies as st

from conformance import oracle
from conformance.area import Area
from conformance.case import Case
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, AreaRecording, Missing, RecordingError
from conformance.recorded.blocks import blocks
from conformance.recorded.passes import BATCH_SIZE, Part, Pass, parts
from conformance.recorded.recorder import settle
from conformance.recorded.recording import MANIFEST, Recording, Source, add, known

ONE, TWO = Outcome("returned", "1 : int"), Outcome("returned", "2 : int")
RAISED = Outcome("raised", type="E", message="\ud800 €\n", warnings=(("W", "beware"),))
CRASHED = Outcome("crashed", message="killed by SIGSEGV")
SOURCE = Source(
    release="2.4.1",
    full_version="2.4.1+none",
    git_hash="0" * 40,
    build="none",
    platform="Linux",
    python="3.11.7",
    numpy="2.0",
)
FACTS: dict[str, Any] = {
    "cases": 3,
    "nondeterministic": (),
    "suite": "0",
    "recorded": "2026-01-31T12:00:00Z",
}

answers = st.lists(st.sampled_from([ONE, TWO, RAISED, CRASHED, Missing.NONDETERMINISTIC]))


def some(number: int, word: str = "case") -> list[Case]:
    return [Case("tiny", "t", f"xp.{word}({index})") for index in range(number)]


def recorded(cases: list[Case], found: list[Answer] | None = None) -> AreaRecording:
    return AreaRecording.of("tiny", cases, found or [ONE] * len(cases))


# Blocks -----------------------------------------------------------------------------------------


def test_blocks_hold_every_case_once_and_in_order() -> None:
    cases = some(1000)
    made = list(blocks(cases))
    assert [case for block in made for case in block.cases] == cases
    assert 5 < len(made) < 50


@pytest.mark.parametrize(
    "change",
    [
        lambda cases: [*cases[:500], Case("tiny", "t", "new"), *cases[500:]],
        lambda cases: cases[:500] + cases[501:],
        lambda cases: [*cases[:500], cases[501], cases[500], *cases[502:]],
        lambda cases: [*cases[:500], replace(cases[500], warnings=False), *cases[501:]],
        lambda cases: [*cases[:500], replace(cases[500], isolation="fork"), *cases[501:]],
    ],
    ids=["added", "removed", "swapped", "warnings", "isolation"],
)
def test_a_change_costs_the_blocks_it_lies_in_and_no_others(
    change: Callable[[list[Case]], list[Case]],
) -> None:
    before = {block.digest for block in blocks(some(1000))}
    changed = list(blocks(change(some(1000))))
    assert 1 <= sum(block.digest not in before for block in changed) <= 2


def test_what_says_nothing_of_the_outcome_is_not_in_the_digest() -> None:
    cases = some(10)
    renamed = [replace(case, target="other", origin="elsewhere", close=True) for case in cases]
    assert [b.digest for b in blocks(renamed)] == [b.digest for b in blocks(cases)]


# Areas ------------------------------------------------------------------------------------------


@patient
@given(answers)
def test_answers_come_out_as_they_were_packed(found: list[Answer]) -> None:
    cases = some(len(found))
    made = recorded(cases, found)
    again = AreaRecording.unpack(made.pack())
    assert again == made
    assert list(again.ask(cases)) == list(zip(cases, found, strict=True))


def test_a_case_that_is_new_has_no_answer_and_the_others_keep_theirs() -> None:
    cases = some(1000)
    found = [Outcome("returned", f"{index} : int") for index in range(1000)]
    before = dict(zip(cases, found, strict=True))
    new = Case("tiny", "t", "new")
    asked = dict(recorded(cases, list(found)).ask([*cases[:500], new, *cases[500:]]))
    assert asked[new] is Missing.UNRECORDED
    lost = [case for case in cases if asked[case] is Missing.UNRECORDED]
    assert 1 <= len(lost) < 500
    assert all(asked[case] == before[case] for case in cases if case not in lost)


def test_a_hundred_thousand_cases_that_end_alike_take_a_few_bytes_each_at_most() -> None:
    cases = some(10_000)
    found: list[Answer] = [(ONE, TWO, RAISED)[index % 3] for index in range(10_000)]
    assert len(recorded(cases, found).pack()) < 3_000


def damaged(**changes: Any) -> bytes:
    data = json.loads(lzma.decompress(recorded(some(3)).pack()))
    return lzma.compress(json.dumps({**data, **changes}).encode())


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"", "no outcomes of an area"),
        (lzma.compress(b"[]"), "no outcomes of an area"),
        (damaged(version=2), "version 2"),
        (damaged(back=[0, 1]), "2 answers"),
        (damaged(back=[0, 2, 1]), "case 1 is said to end like that 2 before it"),
        (damaged(back=[0, -1, 1]), "case 1 is said to end like that -1 before it"),
        (damaged(back=[0, 0, 1]), "fewer outcomes"),
        (damaged(outcomes=[ONE.to_json(), TWO.to_json()]), "more outcomes"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(packed: bytes, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        AreaRecording.unpack(packed)


# Recordings -------------------------------------------------------------------------------------


def test_areas_are_added_one_by_one_and_replaced(tmp_path: Path) -> None:
    add(tmp_path, SOURCE, recorded(some(3)), FACTS)
    add(tmp_path, SOURCE, replace(recorded(some(3)), area="other"), FACTS)
    add(tmp_path, SOURCE, recorded(some(2), [TWO, RAISED]), {**FACTS, "cases": 2})
    read = Recording.load(tmp_path)
    assert read.source == SOURCE
    assert {name: facts.cases for name, facts in read.areas.items()} == {"other": 3, "tiny": 2}
    assert read.cases == 5
    assert read.area("tiny").answers == (TWO, RAISED)
    assert read.area("other").answers == (ONE, ONE, ONE)


def test_areas_of_two_builds_of_torch_make_no_recording(tmp_path: Path) -> None:
    add(tmp_path, SOURCE, recorded(some(3)), FACTS)
    elsewhere = replace(SOURCE, git_hash="1" * 40)
    with pytest.raises(RecordingError, match="another torch"):
        add(tmp_path, elsewhere, replace(recorded(some(3)), area="other"), FACTS)
    assert Recording.load(tmp_path).source == SOURCE
    assert add(tmp_path, elsewhere, recorded(some(3)), FACTS).source == elsewhere


def test_a_file_that_is_not_the_one_the_recording_speaks_of_is_refused(tmp_path: Path) -> None:
    add(tmp_path, SOURCE, recorded(some(3)), FACTS)
    (tmp_path / "tiny.json.xz").write_bytes(recorded(some(3), [TWO] * 3).pack())
    with pytest.raises(RecordingError, match="not the file that"):
        Recording.load(tmp_path).area("tiny")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "version": 1}'])
def test_what_is_no_recording_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(RecordingError, match="is no recording"):
        Recording.load(tmp_path)


def test_the_releases_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for release in ("2.13.0", "2.4.1", "2.10.0"):
        add(tmp_path / release, replace(SOURCE, release=release), recorded(some(3)), FACTS)
    assert known(tmp_path) == ["2.4.1", "2.10.0", "2.13.0"]


# The oracle -------------------------------------------------------------------------------------


def test_a_recorded_oracle_answers_for_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = some(3)
    add(tmp_path, SOURCE, recorded(cases, [ONE, TWO, Missing.NONDETERMINISTIC]), FACTS)
    monkeypatch.setenv(oracle.RECORDING_VARIABLE, str(tmp_path))
    chosen = oracle.chosen()
    assert (chosen.kind, chosen.release, chosen.profile) == ("recorded", "2.4.1", "2.4")
    assert list(chosen.ask("tiny", cases)) == [
        (cases[0], ONE),
        (cases[1], TWO),
        (cases[2], Missing.NONDETERMINISTIC),
    ]
    assert list(chosen.ask("other", cases[:1])) == [(cases[0], Missing.UNRECORDED)]


def test_a_live_oracle_counts_what_was_recorded_of_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path / "2.4.1", SOURCE, recorded(some(3)), FACTS)
    monkeypatch.setattr(oracle, "_shipped", lambda release: Recording.load(tmp_path / release))
    assert oracle.LiveOracle("2.4.1+none").count("tiny") == 3
    assert oracle.LiveOracle("2.4.1+none").count("other") is None


def test_a_live_oracle_of_which_nothing_was_recorded_counts_nothing() -> None:
    assert oracle.LiveOracle("1.0.0").count("keys") is None


def test_a_live_oracle_knows_nothing_before_it_is_asked() -> None:
    cases = some(2)
    assert list(oracle.LiveOracle("2.4.1").ask("tiny", cases)) == [(case, None) for case in cases]


# Passes -----------------------------------------------------------------------------------------


def test_two_passes_that_differ_leave_no_answer() -> None:
    case = Case("tiny", "t", "xp.rand()")
    assert settle(case, ONE, ONE) == ONE
    assert settle(case, CRASHED, CRASHED) == CRASHED
    assert settle(case, ONE, TWO) is Missing.NONDETERMINISTIC
    assert settle(case, ONE, CRASHED) is Missing.NONDETERMINISTIC


def test_floats_that_are_close_are_the_same_where_the_area_says_so() -> None:
    tensors = [
        Outcome("returned", {"dtype": "torch.float32", "values": [value]})
        for value in ("1.0000001", "1.0000002")
    ]
    exact = Case("tiny", "t", "xp.sum()")
    assert settle(exact, *tensors) is Missing.NONDETERMINISTIC
    assert settle(replace(exact, close=True), *tensors) == tensors[0]


@pytest.fixture
def kept(tmp_path: Path) -> Pass:
    made = Pass(tmp_path / "pass")
    made.begin(SOURCE)
    return made


def test_a_pass_keeps_a_part_and_knows_it_by_its_cases(kept: Pass) -> None:
    part = Part("tiny", 0, some(2))
    assert not kept.has(part)
    assert kept.read(part) is None
    kept.write(part, [ONE, RAISED])
    assert kept.has(part)
    assert kept.read(part) == [ONE, RAISED]
    other = Part("tiny", 0, some(2, "other"))
    assert not kept.has(other)
    assert kept.read(other) is None
    kept.forget(part)
    assert not kept.has(part)


def test_a_pass_goes_on_for_the_same_torch_alone(kept: Pass) -> None:
    part = Part("tiny", 0, some(2))
    kept.write(part, [ONE, ONE])
    kept.begin(SOURCE)
    assert kept.has(part)
    kept.begin(replace(SOURCE, git_hash="1" * 40))
    assert not kept.has(part)


def test_parts_hold_every_case_once_and_in_order() -> None:
    cases = some(2 * BATCH_SIZE + 500)
    area = Area("tiny", lambda profile: (), lambda profile: st.nothing())
    made = list(parts(area, cases))
    assert [case for part in made for case in part.cases] == cases
    assert [part.name for part in made] == [f"tiny-000{index}.json.gz" for index in range(3)]


@pytest.mark.torch
def test_a_name_that_torch_lacks_raises_there() -> None:
    """Only a third party's may be absent."""
    pytest.importorskip("torch")
    script = (
        "from conformance.oracle import choose_profile\n"
        "choose_profile()\n"
        "from conformance.case import Case\n"
        "from conformance.recorded.passes import asked\n"
        "from conformance.runner import Runner\n"
        "[outcome] = asked(Runner.live(), [Case('tls', 't', 'xp._C.nosuch')])\n"
        "print(outcome.kind, outcome.type)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "raised AttributeError\n"
