"""The views of a run: nothing that differs is lost on the way, and no text does harm."""

import base64
import hashlib
import io
import itertools
import json
import re
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rich.console import Console

from conformance import report
from conformance.case import Case
from conformance.compare import AreaCounts, Comparison, compare
from conformance.outcome import Outcome
from conformance.report import html, json_report, junit, marks, parity, terminal

DOCS = Path(__file__).parents[2] / "docs" / "report-format.md"
KEYS = [f"{form}{key}" for form in ("", "Sparse", "Autograd") for key in ("CPU", "CUDA", "Meta")]
LONG = f"DispatchKeySet({', '.join(KEYS * 30)}) : torch._C.DispatchKeySet"
HOSTILE = (
    "xp.f('\u202e\u2066 </script><script>alert(1)</script> <b>&amp; ]]> --> {{ 7 * 7 }} {% raw %}"
    " \u2028 \x00\x1b[31m \x85 \x7f \ufffe \ud800 [bold]x[/bold] \u200b \ufeff \xa0"
    " é 中文 \U0001f600')"
)


def facts(torch: str = "2.4.1", **others: Any) -> report.Facts:
    values = {
        "torch": torch,
        "full_version": f"{torch}+cpu",
        "git_hash": "ee1b6804381c57161c477caa380a840a84167676",
        "platform": "Linux x86_64",
        "python": "3.11.7",
        "suite": "0.1.0",
        "subject": "mindtorch_v2",
        "profile": "2.4",
        "started": "2026-01-31T12:00:00Z",
    }
    return report.Facts(**{**values, **others})


def returned(value: Any, *warnings: tuple[str, str]) -> Outcome:
    return Outcome("returned", value, warnings=warnings)


def raised(kind: str, message: str) -> Outcome:
    return Outcome("raised", None, kind, message)


def differ(target: str, text: str, oracle: Outcome, subject: Outcome) -> Comparison:
    return compare(Case("keys", target, text), oracle, subject)


WRONG_TYPE = differ(
    "parse", "xp.p('B')", raised("RuntimeError", "no B"), raised("ValueError", "no B")
)
WRONG_WORD = differ("parse", "xp.p('CPU')", raised("E", "no such key"), raised("E", "no such kez"))
WRONG_ORDER = differ("or", "xp.a | xp.b", returned("Set(CPU, Meta)"), returned("Set(Meta, CPU)"))
MISSING_KEY = differ("full", "xp.full()", returned(LONG), returned(LONG.replace("CUDA, ", "", 1)))
WARNING = differ("warn", "xp.w()", returned("1 : int", ("UserWarning", "old")), returned("1 : int"))
SWALLOWED = differ("swallow", "xp.s()", raised("TypeError", "bad"), returned("None : NoneType"))
LINES = differ(
    "lines",
    "for i in range(2):\n    x = 'it\\'s'\nx",
    returned("1 : int"),
    raised("E", "line one\n\n  line three"),
)
LONG_MESSAGES = differ("long", "xp.long()", raised("E", "x" * 3000), raised("E", "x" * 2999 + "y"))
UNICODE = differ("unicode", "xp.u('é中文')", returned("'é' : str"), returned("'e\u0301' : str"))
STRANGE = differ(
    "</td><script>alert(2)</script>\u202e\x1b",
    HOSTILE,
    raised("E", f"oracle {HOSTILE}"),
    raised("E", f"subject {HOSTILE}"),
)
LOOK_ALIKE = differ(
    "alike",
    "xp.items()",
    returned({"type": "list", "items": ["1", "2"]}),
    returned({"type": "list", "items": ["1, 2"]}),
)
SUBJECT_CRASH = differ(
    "crash", "xp.c()", returned("1 : int"), Outcome("crashed", message="SIGSEGV")
)
KNOWN = replace(
    differ("known", "xp.k()", raised("E", "a"), raised("E", "b")),
    verdict="known",
    reason="<the reason> | of the \u202e ledger",
)
ABSENT = differ("absent", "xp.gone()", returned("1 : int"), Outcome("absent", message="xp.gone"))
CRASHED = differ("crashed", "xp.boom()", Outcome("crashed", message="SIGSEGV"), raised("E", "no"))
HUNG = differ("hung", "xp.loop()", Outcome("hung", message="10 s"), returned("1 : int"))
EXHAUSTED = differ("ate", "xp.eat()", Outcome("exhausted", message="2 GiB"), returned("1 : int"))
BOTH_CRASHED = differ(
    "both",
    "xp.both()",
    Outcome("crashed", message="SIGSEGV"),
    Outcome("crashed", message="SIGABRT"),
)
AGREE = differ("parse", "xp.p('Meta')", returned("1 : int"), returned("1 : int"))

MISMATCHES = [
    WRONG_TYPE,
    WRONG_WORD,
    WRONG_ORDER,
    MISSING_KEY,
    WARNING,
    SWALLOWED,
    LINES,
    LONG_MESSAGES,
    UNICODE,
    STRANGE,
    LOOK_ALIKE,
    SUBJECT_CRASH,
    BOTH_CRASHED,
]
UNJUDGED = [CRASHED, HUNG, EXHAUSTED]
PLANTED = [*MISMATCHES, KNOWN, ABSENT, *UNJUDGED, AGREE]


def agreeing(count: int, area: str = "keys") -> Iterator[Comparison]:
    for number in range(count):
        case = Case(area, f"target{number % 7}", f"xp.f({number})")
        yield compare(case, returned(f"{number} : int"), returned(f"{number} : int"))


def planted_run(**others: Any) -> report.Run:
    return report.build_run(PLANTED, facts(), seconds=1.5, **others)


def clean_run(torch: str = "2.4.1") -> report.Run:
    comparisons = itertools.chain(agreeing(40), agreeing(2, "tls"))
    return report.build_run(comparisons, facts(torch), planned={"keys": 40, "tls": 2})


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
    started = time.monotonic()
    marks.spans(left, right)
    assert time.monotonic() - started < 2


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
        {"version": 2},
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
            '{"format": "mindtorch-conformance-report", "version": 2}',
            "version=2 of the report's form; this suite reads version 1",
        ),
        ('{"format": "mindtorch-conformance-report", "version": 1}', "a damaged report: KeyError"),
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "torch-2.4.1.html"
    path.write_text("old")

    def broken(run: report.Run) -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    monkeypatch.setattr(html, "_pieces", broken)
    with pytest.raises(KeyboardInterrupt):
        html.write(clean_run(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# HTML


class Page(HTMLParser):
    """What a browser would see of a page: its tags, its ids and links, and its code blocks."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.codes: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.text += data
        if "code" in self._open:
            self.codes[-1] += data

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.attributes if each == name]


def test_the_page_shows_every_text_whole_and_as_text() -> None:
    page = Page(html.render(planted_run()))
    for comparison in [*MISMATCHES, KNOWN, ABSENT, *UNJUDGED]:
        assert marks.visible(comparison.case.text) in page.codes
        assert marks.command(comparison) in page.codes
        assert marks.visible(comparison.case.id) in page.text
    for comparison in MISMATCHES:
        for side in marks.sides(comparison):
            shown = marks.visible(side)
            assert any(code.replace("<U+000A>", "") == shown for code in page.codes), side
    assert "<the reason> | of the <U+202E> ledger" in page.text


def test_no_text_becomes_markup() -> None:
    plain, hostile = (Page(html.render(run)) for run in (clean_run(), planted_run()))
    assert plain.tags.count("script") == hostile.tags.count("script") == 1
    assert "b" not in hostile.tags
    assert "49" not in hostile.text.split()
    raw = html.render(planted_run())
    assert all(marks.is_plain(char) for char in raw)


def test_the_page_forbids_every_script_and_style_but_its_own() -> None:
    text = html.render(planted_run())
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    assert "default-src &#39;none&#39;" in policy
    for tag in ("script", "style"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy
    page = Page(text)
    assert not {"link", "img", "iframe", "object", "style=", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("run", [planted_run(), clean_run()])
def test_every_link_leads_somewhere_and_no_id_is_there_twice(run: report.Run) -> None:
    page = Page(html.render(report.build_run([*PLANTED, *PLANTED], facts())))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for link in page.values("href"):
        assert link[1:] in ids if link.startswith("#") else "://" not in link
    for labelled in page.values("aria-labelledby") + page.values("for"):
        assert labelled in ids


def test_a_page_without_differences_says_what_was_covered() -> None:
    page = Page(html.render(clean_run()))
    assert "mindtorch_v2 agrees with PyTorch 2.4.1 in all 42 cases." in page.text
    assert "Covered: 42 cases about 9 targets in 2 areas." in page.text
    assert "40 cases about 7 targets, all agree." in " ".join(page.text.split())
    assert "article" not in page.tags
    assert "mark" not in page.tags
    assert "open" not in [name for name, _ in page.attributes]


def test_differences_are_marked_by_elements() -> None:
    text = html.render(report.build_run([WRONG_TYPE], facts()))
    assert "raised <mark>Runtime</mark>Error: no B" in text
    assert "raised <mark>Value</mark>Error: no B" in text


def test_long_equal_stretches_fold_on_the_page() -> None:
    text = html.render(report.build_run([MISSING_KEY], facts()))
    assert text.count('class="fold" aria-expanded="false"') == 2


def test_a_text_with_hidden_characters_is_not_offered_for_copying() -> None:
    """A shell or an editor would obey what the page shows."""
    text = html.render(report.build_run([STRANGE], facts()))
    assert "Copy the case" not in text
    assert "Copy the command" in text


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


def test_writing_a_run_writes_every_view_and_the_table_over_all_runs(tmp_path: Path) -> None:
    report.write(clean_run("2.13.0"), tmp_path)
    written = report.write(planted_run(), tmp_path)
    names = ["torch-2.4.1.json", "torch-2.4.1.html", "torch-2.4.1.xml", "PARITY.md"]
    assert [path.name for path in written] == names
    assert "| area | 2.4.1 | 2.13.0 |" in (tmp_path / "PARITY.md").read_text(encoding="utf-8")
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".html", ".xml", ".md"}


def test_a_report_of_another_version_is_named_and_costs_no_other_its_column(
    tmp_path: Path,
) -> None:
    (tmp_path / "torch-2.13.0.json").write_text(
        '{"format": "mindtorch-conformance-report", "version": 0}'
    )
    table = report.write(clean_run(), tmp_path)[-1].read_text(encoding="utf-8")
    assert "| area | 2.4.1 |" in table
    assert "Not shown:\n\n- `torch-2.13.0.json: version=0 of the report's form" in table


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


@pytest.mark.parametrize(
    "render",
    [
        json_report.render,
        html.render,
        junit.render,
        terminal.text,
        lambda run: parity.render([run]),
    ],
    ids=["json", "html", "junit", "terminal", "parity"],
)
def test_a_view_is_a_pure_function_of_the_run(render: Any) -> None:
    run, same = planted_run(), planted_run()
    assert render(run) == render(run) == render(same)
    assert run == same


@pytest.mark.parametrize(
    "render",
    [html.render, junit.render, terminal.text, lambda run: parity.render([run])],
    ids=["html", "junit", "terminal", "parity"],
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
    if render is html.render:
        assert Page(render(run)).tags.count("script") == 1
    if render is junit.render:
        ElementTree.fromstring(render(run))


def many(count: int) -> Iterable[Comparison]:
    for number in range(count):
        yield differ(
            f"target{number % 40}",
            f"xp.f({number})",
            raised("TypeError", f"argument {number} must be Tensor, not int"),
            raised("TypeError", f"argument {number} must be a Tensor, not int"),
        )


def test_ten_thousand_mismatches_make_a_page_of_folded_targets() -> None:
    run = report.build_run(many(10_000), facts())
    started = time.monotonic()
    text = html.render(run)
    assert time.monotonic() - started < 60
    assert text.count("<article") == 10_000
    assert text.count('<details class="group"') == 40
    assert len(re.findall(r'<details class="group"[^>]* open', text)) == 1
