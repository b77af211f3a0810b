"""A run keeps all that differs, marks where it does, and survives its JSON."""

import json
import re
import shlex
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.planted import (
    ABSENT,
    AGREE,
    BOTH_CRASHED,
    HOSTILE,
    HUNG,
    KEYS,
    KNOWN,
    LINES,
    LOOK_ALIKE,
    MISMATCHES,
    MISSING_KEY,
    PLANTED,
    STRANGE,
    UNJUDGED,
    WARNING,
    agreeing,
    clean_run,
    differ,
    facts,
    planted_run,
    returned,
)
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance import report
from conformance.compare import AreaCounts, Comparison
from conformance.report import json_report, marks
from conformance.report.atomic import write_text

DOCS = Path(__file__).parents[2] / "docs" / "report-format.md"


# The model


def test_counts_are_those_of_the_comparisons() -> None:
    (area,) = planted_run().areas
    assert area.counts == AreaCounts.of(PLANTED)
    by_target: dict[str, list[Comparison]] = {}
    for comparison in PLANTED:
        by_target.setdefault(comparison.case.target, []).append(comparison)
    assert {target.name: target.counts for target in area.targets} == {
        name: AreaCounts.of(comparisons) for name, comparisons in by_target.items()
    }


def test_what_differs_is_kept_whole_and_nothing_else() -> None:
    (area,) = planted_run().areas
    assert {each.case.id for each in area.differing} == {
        each.case.id for each in [*MISMATCHES, KNOWN, ABSENT]
    }
    assert {each.case.id for each in area.casualties} == {
        each.case.id for each in [*UNJUDGED, BOTH_CRASHED]
    }
    assert area.unjudged == len(UNJUDGED)


def test_differing_cases_stand_by_target_the_shortest_first() -> None:
    (area,) = planted_run().areas
    order = [(each.case.target, len(each.case.text)) for each in area.differing]
    assert order == sorted(order)


def test_a_run_does_not_depend_on_the_order_of_its_comparisons() -> None:
    assert report.build_run(PLANTED[::-1], facts(), seconds=1.5) == planted_run()


def test_areas_stand_as_planned_and_the_others_after_them_by_name() -> None:
    comparisons = [*agreeing(1, "b"), *agreeing(1, "a"), *agreeing(1, "z")]
    run = report.build_run(comparisons, facts(), planned={"z": 1, "empty": 2})
    assert [area.name for area in run.areas] == ["z", "empty", "a", "b"]
    assert run.areas[1].counts == AreaCounts()


def test_comparisons_that_agree_are_let_go() -> None:
    """A hundred thousand of them would be tens of megabytes."""
    tracemalloc.start()
    run = report.build_run(agreeing(100_000), facts())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.counts.agree == 100_000
    assert peak < 1_000_000


def test_an_area_that_did_not_end_says_how_many_cases_it_has() -> None:
    run = report.build_run(agreeing(3), facts(), planned={"keys": 10}, interrupted=True)
    assert run.areas[0].planned == 10
    assert run.verdict == (
        "mindtorch_v2 agrees with PyTorch 2.4.1 in all 3 cases "
        "that ran before the run was cut short."
    )
    assert run.notes == ("3 of 10 planned cases ran.",)
    assert not run.passed


def test_drawn_cases_do_not_stand_in_for_planned_ones() -> None:
    drawn = [replace(each, case=replace(each.case, origin="hypothesis")) for each in agreeing(9)]
    run = report.build_run([*agreeing(4), *drawn], facts(), planned={"keys": 5})
    assert run.areas[0].planned == 5 + 9
    assert not run.passed


@pytest.mark.parametrize(
    ("comparisons", "others", "verdict", "passed"),
    [
        ([], {}, "No case ran: nothing is known of mindtorch_v2 and PyTorch 2.4.1.", False),
        ([AGREE], {}, "mindtorch_v2 agrees with PyTorch 2.4.1 in the one case.", True),
        ([AGREE, AGREE], {"stale": ["x"]}, "agrees with PyTorch 2.4.1 in all 2 cases.", False),
        ([AGREE, KNOWN], {}, "agrees with PyTorch 2.4.1 in 1 of 2 cases; the ledger lists", True),
        ([AGREE, WARNING], {}, "mindtorch_v2 differs from PyTorch 2.4.1 in 1 of 2 cases.", False),
        ([WARNING, KNOWN], {}, "in 1 of 2 cases; the ledger lists 1 more.", False),
        ([AGREE, ABSENT], {}, "differs from PyTorch 2.4.1 in 0 of 2 cases; in 1 it lacks", False),
        ([AGREE, HUNG], {}, "agrees with PyTorch 2.4.1 in the one case that PyTorch itself", True),
    ],
)
def test_the_verdict_is_one_plain_sentence(
    comparisons: list[Comparison], others: dict[str, Any], verdict: str, passed: bool
) -> None:
    run = report.build_run(comparisons, facts(), **others)
    assert verdict in run.verdict
    assert run.passed is passed


@pytest.mark.parametrize("torch", ["", "../2.4.1", "2.4.1/x", "main", "2.4.1\n"])
def test_a_release_that_could_not_name_a_file_is_refused(torch: str) -> None:
    with pytest.raises(ValueError, match="is not a release"):
        facts(torch)


def test_a_time_that_is_not_utc_is_refused() -> None:
    with pytest.raises(ValueError, match="not an ISO 8601 time in UTC"):
        facts(started="yesterday")


# Text and differences


@pytest.mark.parametrize("comparison", PLANTED, ids=lambda each: str(each.case.target)[:12])
def test_a_difference_gives_both_outcomes_back(comparison: Comparison) -> None:
    left, right = marks.sides(comparison)
    spans = marks.marked(comparison)
    assert "".join(text for kind, text in spans if kind != "right") == left
    assert "".join(text for kind, text in spans if kind != "left") == right


@given(st.text("abAB ,\n"), st.text("abAB ,\n"))
def test_any_difference_gives_both_texts_back(left: str, right: str) -> None:
    spans = marks.spans(left, right)
    assert "".join(text for kind, text in spans if kind != "right") == left
    assert "".join(text for kind, text in spans if kind != "left") == right
    assert all(text for _, text in spans)
    assert left == right or any(kind != "same" for kind, _ in spans)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ("no such key", "no such kez", "no such ke[-y-]{+z+}"),
        ("RuntimeError: x", "ValueError: x", "[-Runtime-]{+Value+}Error: x"),
        ("Set(CPU, Meta)", "Set(Meta, CPU)", "Set([-CPU, Meta-]{+Meta, CPU+})"),
        ("Set(A, CPU, B)", "Set(A, B)", "Set(A, [-CPU, -]B)"),
        ("got 'a'", "got 'a'.", "got 'a'{+.+}"),
        ("one\ntwo", "one two", "one[-<U+000A>-]{+ +}two"),
        ("abc", "xyz", "everything"),
        ("", "xyz", "everything"),
        ("xyz", "xyz", "none"),
    ],
)
def test_the_difference_is_marked_where_a_reader_would_mark_it(
    left: str, right: str, shown: str
) -> None:
    assert marks.inline(marks.spans(left, right)) == shown


def test_outcomes_that_read_alike_are_shown_exactly() -> None:
    assert str(LOOK_ALIKE.oracle) == str(LOOK_ALIKE.subject)
    left, right = marks.sides(LOOK_ALIKE)
    assert left != right


def test_long_equal_stretches_are_shortened() -> None:
    line = marks.inline(marks.marked(MISSING_KEY))
    assert "characters alike" in line
    assert "[-CUDA, -]" in line
    assert len(line) < 200


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("b" + "a " * 20_000 + "c", "d" + "a " * 20_000 + "e"),
        ("a " * 20_000, "b " * 20_000),
        ("ab" * 3000, "ba" * 3000),
        (", ".join(KEYS * 60), ", ".join(KEYS[::-1] * 60)),
    ],
    ids=["alike", "different", "shifted", "another order"],
)
def test_no_difference_takes_long(left: str, right: str) -> None:
    started = time.process_time()
    marks.spans(left, right)
    assert time.process_time() - started < 2


def test_every_character_that_a_screen_hides_is_shown() -> None:
    shown = marks.visible(HOSTILE)
    assert shown.isprintable()
    assert "<U+202E>" in shown
    assert "<U+001B>" in shown
    assert "é 中文" in shown
    assert marks.visible("é\n", "ascii") == "<U+00E9>\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash reads the commands back")
@pytest.mark.parametrize("text", ["xp.f('a')", LINES.case.text, "a\x1b[201~\t\u202e\\ '\n\"$(ls)`"])
def test_a_shell_reads_the_case_back_from_the_command(text: str) -> None:
    command = marks.command(differ("t", text, returned("1"), returned("2")))
    assert command.isprintable()
    script = command.replace("nox -s reproduce --", "printf %s", 1)
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.decode() == text


def test_a_case_that_no_command_line_holds_goes_by_its_id() -> None:
    assert marks.command(STRANGE).endswith(f"{STRANGE.case.id[-12:]}'")
    assert marks.command(STRANGE).isprintable()


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({}, "nox -s reproduce --"),
        ({"subject": "tensorplay"}, "conformance reproduce --subject tensorplay"),
        ({"oracle": "recorded"}, "conformance reproduce --torch 2.4.1"),
        (
            {"subject": "torch", "oracle": "recorded"},
            "conformance reproduce --subject torch --torch 2.4.1",
        ),
    ],
    ids=["ours", "third party", "recorded", "a torch by another's recording"],
)
def test_the_command_runs_the_case_where_the_suite_was(others: dict[str, Any], words: str) -> None:
    comparison = differ("t", "xp.f()", returned("1"), returned("2"))
    command = marks.command(comparison, facts("2.4.1", **others))
    assert shlex.split(command) == [*words.split(), "xp.f()"]


# JSON


@pytest.mark.parametrize(
    "run",
    [
        planted_run(stale=["keys/a/*"], interrupted=True, planned={"keys": 1000}),
        clean_run(),
        report.build_run([], facts(seed=7, hypothesis_profile="ci", oracle="recorded")),
    ],
)
def test_a_run_survives_its_json(run: report.Run, tmp_path: Path) -> None:
    path = tmp_path / "torch-2.4.1.json"
    json_report.write(run, path)
    assert json_report.read(path) == run
    data = json.loads(path.read_text("ascii"))
    assert not list(validator().iter_errors(data))


def validator() -> Draft202012Validator:
    schema = json.loads(json_report.SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 3},
        {"stale": [1]},
        {"more": 1},
        {"areas": [{"name": "x"}]},
    ],
)
def test_the_schema_refuses_another_form(change: dict[str, Any]) -> None:
    assert list(validator().iter_errors({**json_report.to_json(clean_run()), **change}))


def test_the_documented_example_is_a_report() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    data = json.loads(example)
    assert not list(validator().iter_errors(data))
    run = json_report.from_json(data)
    assert json_report.to_json(run) == data
    assert run.counts.mismatch == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "torch-2.4.1.json: not JSON"),
        ("[]", "torch-2.4.1.json: not a report"),
        ('{"format": "junit"}', "its format is not 'mindtorch-conformance-report'"),
        (
            '{"format": "mindtorch-conformance-report", "version": 3}',
            "version=3 of the report's form; this suite reads version 2",
        ),
        ('{"format": "mindtorch-conformance-report", "version": 2}', "a damaged report: KeyError"),
    ],
)
def test_a_file_of_another_form_is_named_with_what_is_wrong(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "torch-2.4.1.json"
    path.write_text(content)
    with pytest.raises(report.ReportError, match=re.escape(message)):
        json_report.read(path)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path,
) -> None:
    path = tmp_path / "torch-2.4.1.html"
    path.write_text("old")

    def broken() -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_text(path, broken())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
