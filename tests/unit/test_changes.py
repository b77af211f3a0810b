"""Two reports: what got better and worse, what appeared and vanished, and what CI is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from imitated_run import FACTS

from conformance.__main__ import main
from conformance.case import Case
from conformance.changes import Count, changes
from conformance.compare import Comparison, Verdict, compare
from conformance.outcome import Outcome
from conformance.report import Run, RunBuilder, json_report

ONE = "1 : int"


def case(text: str, subject: str = ONE, target: str = "t", area: str = "keys") -> Comparison:
    oracle = Outcome("returned", ONE)
    return compare(Case(area, target, text), oracle, Outcome("returned", subject))


def listed(comparison: Comparison, verdict: Verdict) -> Comparison:
    return replace(comparison, verdict=verdict, reason="known")


def run(*comparisons: Comparison, planned: dict[str, int] | None = None) -> Run:
    builder = RunBuilder(FACTS, planned)
    for each in comparisons:
        builder.add(each)
    return builder.run()


def texts(before: Run, after: Run) -> dict[str, list[str]]:
    found = changes(before, after)
    kinds = ("better", "worse", "otherwise")
    return {kind: [change.text for change in getattr(found, kind)] for kind in kinds}


RIGHT, WRONG, OTHERWISE = case("a"), case("a", "2 : int"), case("a", "3 : int")
KNOWN = listed(WRONG, "known")


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (RIGHT, WRONG, "worse"),
        (KNOWN, WRONG, "worse"),
        (RIGHT, listed(WRONG, "absent"), "worse"),
        (WRONG, RIGHT, "better"),
        (WRONG, KNOWN, "better"),
        (WRONG, OTHERWISE, "otherwise"),
        (RIGHT, RIGHT, None),
        (WRONG, WRONG, None),
        (KNOWN, RIGHT, None),
    ],
)
def test_a_case_got_better_or_worse(
    before: Comparison, after: Comparison, kind: str | None
) -> None:
    expected: dict[str, list[str]] = {"better": [], "worse": [], "otherwise": []}
    if kind:
        expected[kind] = ["a"]
    assert texts(run(before), run(after)) == expected
    assert changes(run(before), run(after)).regressed == (kind == "worse")


def test_both_sides_of_a_change_are_told() -> None:
    [change] = changes(run(RIGHT), run(WRONG)).worse
    assert (change.before, change.after) == (
        "agree",
        "mismatch: returned 1 : int / returned 2 : int",
    )


def test_targets_that_have_more_or_fewer_cases_appear_or_vanish() -> None:
    found = changes(
        run(case("a"), case("b", target="old"), case("c"), case("d", target="same")),
        run(case("a"), case("b", target="new"), case("d", target="same")),
    )
    assert found.appeared == (Count("keys/new", None, 1),)
    assert found.vanished == (Count("keys/old", 1, None), Count("keys/t", 2, 1))
    assert not found.regressed


def test_what_vanished_with_its_target_got_no_better() -> None:
    found = changes(run(case("a"), case("b", "2 : int", target="old")), run(case("a")))
    assert found.better == ()
    assert [str(count) for count in found.vanished] == ["keys/old: 1 → none"]


def test_an_area_that_is_not_run_any_more_is_lost() -> None:
    both = run(case("a"), case("b", area="tls"))
    found = changes(both, run(case("a")))
    assert found.lost == ("tls",)
    assert found.vanished == (Count("tls", 1, None),)
    assert found.regressed
    back = changes(run(case("a")), both)
    assert back.appeared == (Count("tls", None, 1),)
    assert not back.regressed


def test_an_area_that_ran_in_part_is_lost_too() -> None:
    found = changes(run(case("a")), run(case("a"), planned={"keys": 2}))
    assert found.lost == ("keys",)
    assert changes(run(case("a"), planned={"keys": 2}), run(case("a"))).lost == ()


# The command ------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> dict[str, str]:
    paths = {"right": tmp_path / "right.json", "wrong": tmp_path / "wrong.json"}
    json_report.write(run(RIGHT), paths["right"])
    json_report.write(run(WRONG), paths["wrong"])
    return {name: str(path) for name, path in paths.items()}


@pytest.mark.parametrize(
    ("old", "new", "status"), [("right", "wrong", 1), ("wrong", "right", 0), ("wrong", "wrong", 0)]
)
def test_the_exit_status_says_whether_anything_got_worse(
    written: dict[str, str], old: str, new: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", written[old], written[new]]) == status
    printed = capsys.readouterr().out
    assert ("It got worse." if status else "Nothing got worse.") in printed
    assert main(["compare", "--json", written[old], written[new]]) == status
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["regressed"] == bool(status)
    assert [change["text"] for change in told["worse"]] == ["a"] * status


def test_a_file_that_is_no_report_is_named(
    written: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.json").write_text("{}")
    assert main(["compare", written["right"], str(tmp_path / "none.json")]) == 2
    assert main(["compare", written["right"], str(tmp_path / "missing.json")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "none.json: not a report" in printed.err
    assert "missing.json" in printed.err
