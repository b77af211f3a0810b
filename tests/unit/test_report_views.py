"""JUnit XML, PARITY.md, the terminal, every view: nothing is lost, and no text does harm."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fakes.page import Page
from fakes.planted import (
    AGREE,
    HOSTILE,
    MISMATCHES,
    PLANTED,
    STRANGE,
    UNICODE,
    UNJUDGED,
    clean_run,
    facts,
    planted_run,
)
from rich.console import Console

from conformance import report
from conformance.outcome import Outcome
from conformance.report import (
    area_page,
    index_page,
    json_report,
    junit,
    marks,
    parity,
    release_page,
    terminal,
)
from conformance.report.shelf import Shelf

# JUnit XML


def test_the_xml_parses_and_has_every_mismatch_as_a_failure() -> None:
    root = ElementTree.fromstring(junit.render(planted_run()))
    failures = root.findall("testsuite/testcase/failure")
    assert len(failures) == len(MISMATCHES)
    texts = {str(failure.text) for failure in failures}
    for comparison in MISMATCHES:
        (text,) = [each for each in texts if each.startswith(marks.visible(comparison.case.id))]
        assert marks.visible(comparison.case.text) in text
        for side in marks.sides(comparison):
            assert marks.visible(side) in text
        assert "difference: " in text
        assert f"reproduce: {marks.command(comparison)}" in text


def test_the_xml_aggregates_what_agrees_and_skips_what_is_known() -> None:
    root = ElementTree.fromstring(junit.render(planted_run()))
    suite = root.find("testsuite[@name='keys']")
    assert suite is not None
    target = suite.find("testcase[@name='parse']/system-out")
    assert target is not None
    assert target.text == "1 case agree"
    skipped = [str(each.get("message")) for each in suite.findall("testcase/skipped")]
    assert "known: <the reason> | of the <U+202E> ledger" in skipped
    assert "absent from mindtorch_v2" in skipped
    assert "unjudged: PyTorch itself crashed: SIGSEGV" in skipped
    assert len(skipped) == 2 + len(UNJUDGED)
    for element in (root, suite):
        assert element.get("failures") == str(len(MISMATCHES))
        assert element.get("skipped") == str(len(skipped))


def test_the_xml_fails_for_a_stale_entry_and_for_a_run_cut_short() -> None:
    run = report.build_run([AGREE], facts(), planned={"keys": 5}, interrupted=True, stale=["k/*"])
    root = ElementTree.fromstring(junit.render(run))
    (error,) = root.findall("testsuite/testcase/error")
    assert "1 of 5 planned cases ran." in str(error.text)
    (failure,) = root.findall("testsuite/testcase/failure")
    assert "k/*" in str(failure.text)
    assert not ElementTree.fromstring(junit.render(clean_run())).findall(".//failure")


# PARITY.md


def test_parity_has_a_column_for_each_release_in_order() -> None:
    newer = report.build_run(PLANTED, facts("2.13.0", git_hash="cf30153c4c131c81"))
    table = parity.render([newer, clean_run(), clean_run("2.9.1")]).splitlines()
    assert "| area | 2.4.1 | 2.9.1 | 2.13.0 |" in table
    counts = newer.counts
    expected = f"{counts.agree} / {counts.cases} (13 differ, 1 known, 1 absent, 3 unjudged)"
    assert f"| `keys` | 40 / 40 | 40 / 40 | {expected} |" in table
    assert "| `tls` | 2 / 2 | 2 / 2 | not run |" in table
    assert f"| **all** | **42 / 42** | **42 / 42** | **{expected}** |" in table
    assert "| day | 2026-01-31 | 2026-01-31 | 2026-01-31 |" in table
    assert not any("12:00" in line for line in table)


def test_parity_cannot_be_broken_by_a_fact() -> None:
    (line,) = [
        line
        for line in parity.render(
            [report.build_run([AGREE], facts(platform="a`|\n<b>\u202e"))]
        ).splitlines()
        if "platform" in line
    ]
    assert line == "| platform | `a'\\| <b><U+202E>` |"


def test_writing_a_run_writes_every_view_and_those_over_all_runs(tmp_path: Path) -> None:
    report.write(clean_run("2.13.0"), tmp_path)
    written = report.write(planted_run(), tmp_path)
    names = ["torch-2.4.1.json", "torch-2.4.1.xml", "torch-2.4.1.html", "PARITY.md", "index.html"]
    assert [path.name for path in written] == names
    assert "| area | 2.4.1 | 2.13.0 |" in (tmp_path / "PARITY.md").read_text(encoding="utf-8")
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {
        *names,
        "torch-2.4.1/keys.html",
        *("torch-2.13.0.json", "torch-2.13.0.xml", "torch-2.13.0.html"),
        *("torch-2.13.0/keys.html", "torch-2.13.0/tls.html"),
        *("badges/all.json", "badges/torch-2.4.1.json", "badges/torch-2.13.0.json"),
        "history/torch-2.4.1/20260131T120000Z.json",
        "history/torch-2.13.0/20260131T120000Z.json",
    }


def test_a_report_of_another_version_is_named_and_costs_no_other_its_column(
    tmp_path: Path,
) -> None:
    (tmp_path / "torch-2.13.0.json").write_text(
        '{"format": "mindtorch-conformance-report", "version": 0}'
    )
    report.write(clean_run(), tmp_path)
    table = (tmp_path / "PARITY.md").read_text(encoding="utf-8")
    assert "| area | 2.4.1 |" in table
    assert "Not shown:\n\n- `torch-2.13.0.json: version=0 of the report's form" in table


def test_parity_says_which_releases_were_recorded() -> None:
    recorded = report.build_run(PLANTED, facts("2.9.1", oracle="recorded"))
    assert "| area | 2.4.1 | 2.9.1 recorded |" in parity.render([recorded, clean_run()])


# The terminal


def test_the_terminal_shows_every_mismatch_whole() -> None:
    shown = terminal.text(planted_run())
    for comparison in MISMATCHES:
        assert marks.visible(comparison.case.id) in shown
        assert marks.command(comparison) in shown
        for side in marks.sides(comparison):
            for line in marks.visible(side).split("\n"):
                assert line in shown
    assert "\x1b" not in shown
    assert all(marks.is_plain(char) for char in shown)
    assert "[bold]x[/bold]" in shown


def test_the_terminal_stops_after_the_first_and_says_where_the_rest_is() -> None:
    shown = terminal.text(planted_run(), limit=2)
    assert shown.count("  reproduce ") == 2
    assert "13 more, known differences included: see reports/torch-2.4.1.html" in shown
    assert shown.splitlines()[-1] == planted_run().verdict


def test_the_terminal_is_quiet_about_a_clean_run() -> None:
    *table, verdict = terminal.text(clean_run()).splitlines()
    assert verdict == "mindtorch_v2 agrees with PyTorch 2.4.1 in all 42 cases."
    assert [line.split()[0] for line in table if line[0].isalpha()] == [
        "torch-2.4.1",
        "keys",
        "tls",
        "all",
    ]


def test_colour_changes_nothing_but_colour() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="truecolor", width=200)
    terminal.render(planted_run(), console)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert "\x1b[" in file.getvalue()
    assert plain == terminal.text(planted_run())


def test_a_terminal_that_cannot_encode_a_character_shows_its_code_point() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    terminal.render(report.build_run([UNICODE], facts()), Console(file=file, width=200))
    file.flush()
    shown = file.buffer.getvalue().decode("ascii")
    assert "xp.u('<U+00E9><U+4E2D><U+6587>')" in shown


# All views


def area(run: report.Run) -> str:
    return area_page.render(run, run.areas[0])


def index(run: report.Run) -> str:
    return index_page.render(Shelf((run,), unread=(HOSTILE,)))


PAGES = [area, release_page.render, index]


@pytest.mark.parametrize(
    "render",
    [
        json_report.render,
        *PAGES,
        junit.render,
        terminal.text,
        lambda run: parity.render([run]),
    ],
    ids=["json", "area", "release", "index", "junit", "terminal", "parity"],
)
def test_a_view_is_a_pure_function_of_the_run(render: Any) -> None:
    run, same = planted_run(), planted_run()
    assert render(run) == render(run) == render(same)
    assert run == same


@pytest.mark.parametrize(
    "render",
    [*PAGES, junit.render, terminal.text, lambda run: parity.render([run])],
    ids=["area", "release", "index", "junit", "terminal", "parity"],
)
def test_a_view_shows_hidden_characters_wherever_they_come_from(render: Any) -> None:
    strange = replace(STRANGE, case=replace(STRANGE.case, area=HOSTILE), verdict="known")
    crash = replace(strange, oracle=Outcome("crashed", message=HOSTILE), verdict="unjudged")
    names = ("full_version", "git_hash", "platform", "python", "suite", "subject", "profile")
    others = dict.fromkeys((*names, "hypothesis_profile"), HOSTILE)
    run = report.build_run(
        [replace(strange, reason=HOSTILE), crash, replace(STRANGE, verdict="absent")],
        facts(**others),
        stale=[HOSTILE],
        planned={HOSTILE: 10},
    )
    assert all(marks.is_plain(char) for char in render(run))
    if render in PAGES:
        assert Page(render(run)).tags.count("script") == 1
    if render is junit.render:
        ElementTree.fromstring(render(run))
