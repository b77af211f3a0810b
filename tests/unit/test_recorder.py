"""Recording: two passes, what they agree in, interruptions, and whether a recording still holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import strategies as st

from conformance.area import Area
from conformance.case import Case
from conformance.outcome import Outcome
from conformance.recorded import passes
from conformance.recorded import recorder as recorders
from conformance.recorded.area import Missing, RecordingError
from conformance.recorded.passes import BATCH_SIZE, Pass, parts, wanted
from conformance.recorded.recorder import Recorder, Told
from conformance.recorded.recording import Recording, Source
from conformance.shard import Shard
from mindtorch_v2.profile import Profile

PROFILE = cast(Profile, None)
SOURCE = Source(
    release="2.4.1",
    full_version="2.4.1+none",
    git_hash="0" * 40,
    build="none",
    platform="Linux",
    python="3.11.7",
    numpy="2.0",
)
Answers = Callable[[Case, int], Outcome]
"""What the torch of a pass, by its number, does with a case."""


def area(name: str, number: int) -> Area:
    texts = [("t", f"xp.{name}({index})") for index in range(number)]
    return Area(name, lambda profile: texts, lambda profile: st.nothing())


def steady(case: Case, number: int) -> Outcome:
    return Outcome("returned", f"{case.text} : str")


def wavering(case: Case, number: int) -> Outcome:
    return Outcome("returned", f"{number} : int") if "(3)" in case.text else steady(case, number)


class Torch:
    """Stands in for the processes of the passes."""

    def __init__(self, answers: Answers, parts_until_interrupted: int = 1_000_000) -> None:
        self.answers = answers
        self.left = parts_until_interrupted
        self.ran: list[str] = []

    def run(
        self,
        passes: Sequence[Pass],
        areas: Sequence[Area],
        workers: int,
        known: Recording | None,
        advance: Told,
    ) -> None:
        for number, kept in enumerate(passes, 1):
            for each in areas:
                for part in parts(each, wanted(each, PROFILE, known)):
                    if not kept.has(part):
                        if not self.left:
                            raise KeyboardInterrupt
                        self.left -= 1
                        self.ran.append(f"{number} {part.name}")
                        kept.write(part, (self.answers(case, number) for case in part.cases))
                    advance(each.name, len(part.cases))


@pytest.fixture
def record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Torch], tuple[Recorder, dict[str, int]]]:
    """A recorder of this torch, and how many cases it has told of."""

    def made(torch: Torch) -> tuple[Recorder, dict[str, int]]:
        monkeypatch.setattr(recorders, "run", torch.run)
        monkeypatch.setattr(recorders, "installed", lambda: SOURCE)
        return Recorder(PROFILE, tmp_path / "2.4.1", tmp_path / "work"), {}

    return made


Record = Callable[[Torch], tuple[Recorder, dict[str, int]]]


def silent(area: str, cases: int) -> None:
    """Told of what nobody wants to know."""


def test_a_release_is_recorded_twice_and_what_differs_is_dropped_and_counted(
    record: Record,
) -> None:
    torch = Torch(wavering)
    recorder, told = record(torch)
    areas = [area("one", 10), area("two", 5)]

    def advance(name: str, cases: int) -> None:
        told[name] = told.get(name, 0) + cases

    [*_, recording] = recorder.record(areas, silent, advance)
    assert told == {"one": 20, "two": 10}
    assert sorted(torch.ran) == [
        f"{number} {name}-0000.json.gz" for number in (1, 2) for name in ("one", "two")
    ]
    assert Recording.load(recorder.target) == recording
    assert {name: facts.cases for name, facts in recording.areas.items()} == {"one": 10, "two": 5}
    for each in areas:
        cases = list(each.cases(PROFILE))
        [dropped] = recording.areas[each.name].nondeterministic
        assert dropped == cases[3].id
        for case, answer in recording.area(each.name).ask(cases):
            expected = Missing.NONDETERMINISTIC if case is cases[3] else steady(case, 1)
            assert answer == expected


def test_an_interrupted_recording_goes_on_where_it_was(record: Record) -> None:
    first = Torch(steady, parts_until_interrupted=3)
    recorder, _ = record(first)
    areas = [area("one", BATCH_SIZE + 1), area("two", 5)]
    with pytest.raises(KeyboardInterrupt):
        list(recorder.record(areas, silent, silent))
    assert not recorder.target.exists()
    second = Torch(steady)
    recorder, _ = record(second)
    [*_, recording] = recorder.record(areas, silent, silent)
    assert recording.cases == BATCH_SIZE + 6
    assert len(first.ran) == 3
    assert len(second.ran) == 3
    assert not set(first.ran) & set(second.ran)


def test_what_is_recorded_is_recorded_anew_the_next_time(record: Record) -> None:
    """Outcomes of last month's suite are not taken for those of today's."""
    areas = [area("one", 5)]
    for _ in range(2):
        torch = Torch(steady)
        recorder, _told = record(torch)
        list(recorder.record(areas, silent, silent))
        assert len(torch.ran) == 2


def test_a_part_that_no_pass_has_is_named(record: Record) -> None:
    torch = Torch(steady)
    recorder, _ = record(torch)
    with pytest.raises(RecordingError, match=r"two: two-0000\.json\.gz is missing"):
        recorder._assemble(
            area("two", 5), SOURCE, [Pass(recorder.work / "1"), Pass(recorder.work / "2")], None
        )


def test_what_is_missing_is_recorded_alone(record: Record) -> None:
    recorder, _ = record(Torch(wavering))
    list(recorder.record([area("one", 400)], silent, silent))
    known = Recording.load(recorder.target).area("one")
    run: list[str] = []

    def noted(case: Case, number: int) -> Outcome:
        run.append(case.text)
        return steady(case, number)

    recorder, _ = record(Torch(noted))
    areas = [area("one", 401), area("two", 5)]
    [*_, recording] = replace(recorder, missing=True).record(areas, silent, silent)
    last = known.sizes[-1]  # the block at the end, to which a case was added
    new = [f"xp.one({index})" for index in range(400 - last, 401)]
    assert run == [*new, *(f"xp.two({index})" for index in range(5))] * 2
    assert recording.areas["one"].cases == 401
    for each in areas:
        cases = list(each.cases(PROFILE))
        for case, answer in recording.area(each.name).ask(cases):
            dropped = case.text == "xp.one(3)"
            assert answer == (Missing.NONDETERMINISTIC if dropped else steady(case, 1))
    run.clear()
    [*_, again] = replace(recorder, missing=True).record(areas, silent, silent)
    assert not run
    assert again == recording


def test_what_is_missing_is_not_taken_from_another_torch(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, _ = record(Torch(steady))
    list(recorder.record([area("one", 5)], silent, silent))
    monkeypatch.setattr(recorders, "installed", lambda: replace(SOURCE, git_hash="1" * 40))
    with pytest.raises(RecordingError, match="recorded from another torch"):
        list(replace(recorder, missing=True).record([area("one", 6)], silent, silent))


def test_what_is_missing_is_taken_from_the_same_torch_on_another_processor(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, _ = record(Torch(steady))
    builds = [f"GCC 13 - CPU capability usage: {name} - C++" for name in ("AVX512", "AVX2")]
    first, second = (replace(SOURCE, build=build) for build in builds)
    monkeypatch.setattr(recorders, "installed", lambda: first)
    list(recorder.record([area("one", 5)], silent, silent))
    monkeypatch.setattr(recorders, "installed", lambda: second)
    [recording] = replace(recorder, missing=True).record([area("one", 6)], silent, silent)
    assert recording.areas["one"].cases == 6
    monkeypatch.setattr(recorders, "installed", lambda: replace(second, build="GCC 14"))
    with pytest.raises(RecordingError, match="recorded from another torch"):
        list(replace(recorder, missing=True).record([area("one", 7)], silent, silent))


def test_a_recording_that_holds_has_no_differences(record: Record) -> None:
    recorder, _ = record(Torch(wavering))
    areas = [area("one", 10)]
    list(recorder.record(areas, silent, silent))
    assert list(recorder.check(areas, silent, silent)) == []


def test_a_case_that_ends_otherwise_or_is_new_is_a_difference(record: Record) -> None:
    recorder, _ = record(Torch(wavering))
    list(recorder.record([area("one", 10)], silent, silent))

    def changed(case: Case, number: int) -> Outcome:
        return Outcome("raised", type="E") if "(5)" in case.text else steady(case, number)

    recorder, _ = record(Torch(changed))
    [difference] = recorder.check([area("one", 10)], silent, silent)
    assert difference.case.text == "xp.one(5)"
    assert difference.recorded == steady(difference.case, 1)
    assert "recorded: returned xp.one(5) : str\nlive:     raised E: " in str(difference)
    assert difference.to_json()["live"] == {"kind": "raised", "type": "E", "message": ""}
    new = list(recorder.check([area("two", 2)], silent, silent))
    assert [each.recorded for each in new] == [Missing.UNRECORDED] * 2
    assert "recorded: nothing" in str(new[0])


@pytest.mark.parametrize("failing", [1, 2])
def test_a_pass_whose_process_fails_ends_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    started = []

    def start(
        kept: Pass, seed: int, areas: Sequence[Area], worker: Shard, known: Recording | None
    ) -> subprocess.Popen[str]:
        script = "import sys; sys.exit(3)" if seed == failing else "import time; time.sleep(60)"
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    monkeypatch.setattr(recorders, "_start", start)
    passes = [Pass(tmp_path / "1"), Pass(tmp_path / "2")]
    with pytest.raises(RecordingError, match="ended with status 3"):
        recorders.run(passes, [area("one", 1)], 1, None, silent)
    assert all(process.returncode is not None for process in started)


def test_another_torch_begins_anew(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Torch(steady, parts_until_interrupted=1)
    recorder, _ = record(first)
    with pytest.raises(KeyboardInterrupt):
        list(recorder.record([area("one", 5)], silent, silent))
    second = Torch(steady)
    recorder, _ = record(second)
    monkeypatch.setattr(recorders, "installed", lambda: replace(SOURCE, git_hash="1" * 40))
    list(recorder.record([area("one", 5)], silent, silent))
    assert len(second.ran) == 2


def test_a_build_names_compilers_without_their_directories() -> None:
    shown = "built with:\n  - GCC 13.3\n  - CXX_COMPILER=/opt/tools/bin/c++, CXX_FLAGS= -O2 -I/x"
    assert passes._build(shown) == (
        "built with: - GCC 13.3 - CXX_COMPILER=c++, CXX_FLAGS= -O2 -I/x"
    )
