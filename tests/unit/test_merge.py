"""Shards: every item is in one, and together they are the run that was split."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import patient
from hypothesis import given
from hypothesis import strategies as st
from imitated_run import FACTS

from conformance.__main__ import main
from conformance.case import Case
from conformance.compare import Comparison, compare
from conformance.merge import MergeError, find, merge, runs, with_stale
from conformance.outcome import Outcome
from conformance.report import Run, RunBuilder, ShardOf, json_report
from conformance.shard import Shard


def comparison(number: int, origin: str = "generated") -> Comparison:
    """Every third differs, every fifth PyTorch does not survive."""
    case = Case("keys" if number % 2 else "tls", f"t{number % 4}", f"xp.f({number})", origin)
    oracle = Outcome("returned", "1 : int") if number % 5 else Outcome("crashed", message="SIGSEGV")
    return compare(case, oracle, Outcome("returned", f"{1 + (number % 3 == 0)} : int"))


WHOLE = [comparison(number) for number in range(50)]
DRAWN = [comparison(number, "hypothesis") for number in range(50, 53)]
PLANNED = {"keys": 25, "tls": 25}


def one_run(comparisons: Sequence[Comparison] = (*WHOLE, *DRAWN)) -> Run:
    return built(comparisons, PLANNED)


def built(comparisons: Sequence[Comparison], planned: dict[str, int]) -> Run:
    builder = RunBuilder(FACTS, planned)
    for each in comparisons:
        builder.add(each)
    return builder.run()


def shards(count: int) -> list[Run]:
    """The same run, split."""
    made = []
    for index in range(1, count + 1):
        shard = Shard(index, count)
        part = [*shard.of(DRAWN), *shard.of(WHOLE)]
        planned = {
            area: number
            for area in PLANNED
            if (number := sum(c.case.area == area and c in WHOLE for c in part))
        }
        facts = replace(FACTS, started=f"2026-01-31T12:00:0{index}Z")
        made.append(
            replace(built(part, planned), facts=facts, shard=ShardOf(shard, planned, PLANNED))
        )
    return made


@patient
@given(st.integers(0, 30), st.integers(1, 12))
def test_every_item_is_in_one_shard(number: int, count: int) -> None:
    items = list(range(number))
    parts = [Shard(index, count).of(items) for index in range(1, count + 1)]
    assert sorted(item for part in parts for item in part) == items
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "１/2"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        Shard.parse(text)


def test_a_shard_reads_as_it_is_written() -> None:
    assert Shard.parse("2/3") == Shard(2, 3)
    assert str(Shard(2, 3)) == "2/3"


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_merge_into_the_run_that_was_split(count: int) -> None:
    run = merge(shards(count)[::-1])
    assert replace(run, facts=FACTS) == one_run()
    assert run.facts.started == "2026-01-31T12:00:01Z"
    assert not run.lost


def test_a_lost_shard_is_named_and_its_cases_are_missed() -> None:
    first, _, third = shards(3)
    run = merge([third, first])
    assert run.lost == (Shard(2, 3),)
    assert not run.complete
    assert not run.passed
    assert "1 shard is lost: 2/3." in run.notes
    for area in run.areas:
        assert area.planned is not None
        assert area.planned > area.counts.cases


def test_an_area_that_only_the_lost_shard_had_is_there_with_no_case() -> None:
    shard = ShardOf(Shard(1, 2), {"keys": 1}, {"keys": 1, "tls": 4})
    run = merge([replace(built([comparison(1)], {"keys": 1}), shard=shard)])
    assert [(area.name, area.counts.cases, area.planned) for area in run.areas] == [
        ("keys", 1, None),
        ("tls", 0, 4),
    ]


def test_a_lost_shard_that_had_nothing_planned_fails_the_run_too() -> None:
    agrees = comparison(1)
    shard = ShardOf(Shard(1, 2), {"keys": 1}, {"keys": 1})
    run = merge([replace(built([agrees], {"keys": 1}), shard=shard)])
    assert not run.passed
    assert run.lost == (Shard(2, 2),)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: replace(run, facts=replace(run.facts, subject="other")),
        lambda run: replace(run, facts=replace(run.facts, seed=1)),
        lambda run: replace(run, shard=replace(run.shard, shard=Shard(2, 3))),
        lambda run: replace(run, shard=replace(run.shard, shard=Shard(1, 2))),
        lambda run: replace(run, shard=replace(run.shard, whole={"keys": 1})),
        lambda run: replace(run, shard=None),
    ],
    ids=["subject", "seed", "count", "twice", "whole", "no shard"],
)
def test_shards_of_different_runs_do_not_merge(change: object) -> None:
    first, second = shards(2)
    assert callable(change)
    with pytest.raises(MergeError):
        merge([first, change(second)])


def test_what_a_recording_lacks_is_added_up() -> None:
    """Each shard sees its own part."""
    parts = [
        replace(run, areas=tuple(replace(a, unrecorded=n, nondeterministic=2) for a in run.areas))
        for n, run in enumerate(shards(3))
    ]
    assert [(a.unrecorded, a.nondeterministic) for a in merge(parts).areas] == [(3, 6), (3, 6)]


def test_the_ledger_judges_the_merged_run(tmp_path: Path) -> None:
    differs = next(c for c in WHOLE if c.verdict == "mismatch").case.id
    agrees = next(c for c in WHOLE if c.verdict == "agree").case.id
    ledger = tmp_path / "ledger.toml"
    entries = (f'[[known]]\ncase = "{case}"\nreason = "r"\n' for case in (differs, agrees))
    ledger.write_text("".join(entries))
    assert with_stale(merge(shards(3)), ledger).stale == (agrees,)
    assert with_stale(merge(shards(3)[:2]), ledger).stale == ()


def test_a_shard_survives_its_json(tmp_path: Path) -> None:
    for run in (*shards(2), merge(shards(3)[:1])):
        json_report.write(run, tmp_path / "report.json")
        assert json_report.read(tmp_path / "report.json") == run


# The command ------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Three shards as they are downloaded, with the comparisons of a batch each."""
    for run in shards(3):
        directory = tmp_path / f"live-{run.stem}"
        json_report.write(run, directory / f"{run.stem}.json")
        outcomes = directory / "outcomes" / run.stem
        outcomes.mkdir(parents=True)
        assert run.shard
        (outcomes / f"keys-000{run.shard.shard.index}.jsonl").write_text(run.stem)
    return tmp_path


def test_reports_are_found_at_any_depth(written: Path) -> None:
    paths = find([written])
    assert len(paths) == 3
    assert [replace(run, facts=FACTS) for run in runs(paths)] == [one_run()]
    with pytest.raises(MergeError, match="does not exist"):
        find([written / "elsewhere"])


def test_live_and_recorded_shards_of_a_release_are_two_runs(tmp_path: Path) -> None:
    for run in shards(2):
        facts = replace(run.facts, oracle="recorded")
        for each in (run, replace(run, facts=facts)):
            json_report.write(each, tmp_path / f"{each.stem}.json")
    assert sorted(run.facts.oracle for run in runs(find([tmp_path]))) == ["live", "recorded"]


def test_merge_writes_the_report_and_joins_the_outcomes(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = written / "merged"
    status = main(["merge", str(written), "--reports", str(reports), "--json"])
    assert status == 1  # cases differ
    [told] = json.loads(capsys.readouterr().out)
    assert told["counts"]["cases"] == 53
    run = json_report.read(reports / "torch-2.4.1.json")
    assert replace(run, facts=FACTS, stale=()) == one_run()
    joined = sorted(path.name for path in (reports / "outcomes" / "torch-2.4.1").iterdir())
    assert joined == ["keys-0001.jsonl", "keys-0002.jsonl", "keys-0003.jsonl"]


def test_a_release_of_which_every_shard_is_lost_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agrees = comparison(1)
    shard = ShardOf(Shard(1, 1), {"keys": 1}, {"keys": 1})
    run = replace(built([agrees], {"keys": 1}), shard=shard)
    json_report.write(run, tmp_path / f"{run.stem}.json")
    arguments = ["merge", str(tmp_path), "--reports", str(tmp_path / "merged")]
    assert main([*arguments, "--expect", "2.4.1"]) == 0
    assert main([*arguments, "--expect", "2.4.1", "--expect", "2.13.0"]) == 1
    assert "torch 2.13.0: every shard is lost" in capsys.readouterr().err


def test_with_no_shard_at_all_nothing_is_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["merge", str(tmp_path), "--reports", str(tmp_path)]) == 2
    assert "all of them are lost" in capsys.readouterr().err
