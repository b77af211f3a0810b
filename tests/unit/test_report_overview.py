"""What is over several runs: the index, kept summaries and their trends, badges; and a job's
summary, which is read before any of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fakes.page import Page
from fakes.planted import (
    ABSENT,
    AGREE,
    HOSTILE,
    HUNG,
    KNOWN,
    PLANTED,
    WRONG_TYPE,
    WRONG_WORD,
    agreeing,
    clean_run,
    differ,
    facts,
    planted_run,
    raised,
)
from jsonschema import Draft202012Validator

from conformance import report
from conformance.compare import Comparison
from conformance.drift.model import Drift, Item, Rule, Section
from conformance.report import (
    badge,
    drift_page,
    history,
    index_page,
    job_summary,
    marks,
    shelf,
    trend,
)
from conformance.report.shelf import Shelf

DOCS = Path(__file__).parents[2] / "docs" / "report-format.md"


def on(day: int, comparisons: list[Comparison], **others: Any) -> report.Run:
    started = f"2026-01-{day:02}T12:00:00Z"
    return report.build_run(comparisons, facts(started=started), **others)


# Summaries


def test_every_run_is_kept_and_the_same_run_once(tmp_path: Path) -> None:
    later, earlier = on(9, PLANTED), on(2, [AGREE])
    for run in (later, earlier, later):
        history.write(run, tmp_path)
    kept, unread = history.read(tmp_path, "torch-2.4.1")
    assert kept == (history.summary(earlier), history.summary(later))
    assert unread == ()
    assert kept[1].counts == later.counts
    assert not history.read(tmp_path, "torch-2.13.0")[0]


def test_a_summary_is_small_and_has_the_documented_form(tmp_path: Path) -> None:
    path = history.write(planted_run(), tmp_path)
    data = json.loads(path.read_text("ascii"))
    assert not list(validator().iter_errors(data))
    assert path.stat().st_size < 1500
    assert list(validator().iter_errors({**data, "more": 1}))
    assert list(validator().iter_errors({**data, "areas": {"keys": {"cases": 1}}}))


def validator() -> Draft202012Validator:
    schema = json.loads(history.SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("{", "Expecting property name"),
        ("[]", "its format is not 'mindtorch-conformance-summary'"),
        ('{"format": "mindtorch-conformance-summary", "version": 7}', "version=7"),
        ('{"format": "mindtorch-conformance-summary", "version": 1}', "damaged summary: KeyError"),
    ],
)
def test_a_summary_that_cannot_be_read_is_named_on_the_index(
    content: str, wrong: str, tmp_path: Path
) -> None:
    report.write(clean_run(), tmp_path)
    (tmp_path / "history" / "torch-2.4.1" / "bad.json").write_text(content)
    report.write_overview(tmp_path)
    text = Page((tmp_path / "index.html").read_text("utf-8")).text
    assert "history/torch-2.4.1/bad.json: " in text
    assert wrong in text


# Trends


def test_a_trend_has_a_point_for_each_run_higher_where_more_differed() -> None:
    runs = [on(1, [WRONG_TYPE, WRONG_WORD]), on(2, [WRONG_TYPE, AGREE]), on(3, [AGREE])]
    made = trend.of_runs([history.summary(run) for run in runs], "2.4.1")
    assert made is not None
    assert [point.differing for point in made.points] == [2, 1, 0]
    heights = [point.y for point in made.points]
    assert heights == sorted(set(heights))
    assert heights[-1] == made.ticks[0][0]
    assert [label for _, label in made.ticks] == ["0", "1", "10"]
    assert [point.day for point in made.points] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert made.path.count(",") == 3


def test_names_that_are_missing_are_counted_apart(tmp_path: Path) -> None:
    runs = [on(1, [WRONG_TYPE, ABSENT]), on(2, [ABSENT, ABSENT])]
    made = trend.of_runs([history.summary(run) for run in runs])
    assert made is not None
    assert [(point.differing, point.absent) for point in made.points] == [(1, 1), (0, 2)]
    for run in runs:
        report.write(run, tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "0 of 2 cases differed in the last of 2 runs" in Page(page).text
    assert '<th scope="col">absent</th>' in page


def test_a_run_of_a_part_is_a_point_and_not_on_the_line() -> None:
    whole = [AGREE, *agreeing(1, "tls")]
    runs = [on(1, whole), on(2, [WRONG_TYPE]), on(3, whole), on(4, whole, planned={"keys": 9})]
    made = trend.of_runs([history.summary(run) for run in runs])
    assert made is not None
    assert [point.whole for point in made.points] == [True, False, True, False]
    assert made.path.count(",") == 2
    area = trend.of_area([history.summary(run) for run in runs], "tls")
    assert area is not None
    assert len(area.points) == 3


def test_one_run_is_no_trend() -> None:
    assert trend.of_runs([history.summary(clean_run())]) is None
    assert trend.of_area([], "keys") is None


def test_the_newest_runs_are_drawn() -> None:
    many = [history.summary(on(1 + number % 28, [AGREE])) for number in range(100)]
    made = trend.of_runs(many)
    assert made is not None
    assert len(made.points) == trend.NEWEST
    assert [point.day for point in made.points] == [s.facts.started[:10] for s in many[-60:]]


def test_pages_draw_the_trend_and_give_its_numbers_as_a_table(tmp_path: Path) -> None:
    report.write(on(1, [WRONG_TYPE, AGREE]), tmp_path)
    report.write(on(2, [AGREE, AGREE]), tmp_path)
    for name in ("index.html", "torch-2.4.1.html", "torch-2.4.1/keys.html"):
        page = Page((tmp_path / name).read_text("utf-8"))
        assert page.tags.count("circle") == 2
        assert "2026-01-01 12:00: 1 of 2 differed" in page.text
        assert "0 of 2 cases differed in the last of 2 runs" in page.text


# The index


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([], "No run has been reported yet."),
        ([clean_run()], "mindtorch_v2: no difference from PyTorch in the one run, 42 cases."),
        (
            [clean_run(), clean_run("2.13.0")],
            "mindtorch_v2: no difference from PyTorch in all 2 runs, 84 cases.",
        ),
        (
            [clean_run(), planted_run()],
            "mindtorch_v2: 13 cases of 61 differ from PyTorch, in 1 of 2 runs; in 1 a name is "
            "missing.",
        ),
        (
            [on(1, [AGREE], planned={"keys": 2})],
            "mindtorch_v2: no difference from PyTorch in the one run, 1 case that ran.",
        ),
    ],
)
def test_the_index_says_it_in_one_sentence(runs: list[report.Run], verdict: str) -> None:
    assert index_page.verdict(runs) == verdict
    assert verdict in Page(index_page.render(Shelf(tuple(runs)))).text


@pytest.mark.parametrize(
    ("comparisons", "others", "cell"),
    [
        ([AGREE], {}, "✓ 1 all agree"),
        ([AGREE, WRONG_TYPE, ABSENT], {}, "✗ 1 of 3 differ, and 1 lack a name"),
        ([AGREE, KNOWN], {}, "≈ 1 of 2 differ, as the ledger lists"),
        ([AGREE], {"planned": {"keys": 5}}, "… 1 of 5 planned ran"),
        ([WRONG_TYPE], {"planned": {"keys": 5}}, "✗ 1 of 1 differ"),
        ([], {"planned": {"keys": 5}}, "– 0 not run"),
    ],
)
def test_a_cell_of_the_matrix_says_what_its_colour_says(
    comparisons: list[Comparison], others: dict[str, Any], cell: str
) -> None:
    page = index_page.render(Shelf((on(1, comparisons, **others), clean_run("2.13.0"))))
    row = re.search("<tbody>\n<tr>(.*?)</tr>", page, re.DOTALL)
    assert row is not None
    words = re.sub("<[^>]*>", " ", row[1]).split()
    assert " ".join(words).startswith(f"keys {cell} ✓ 40 all agree")


def test_releases_stand_in_order_and_drift_pages_are_linked(tmp_path: Path) -> None:
    for torch in ("2.13.0", "2.4.1", "2.9.1"):
        report.write(clean_run(torch), tmp_path)
    for name in ("2.9.1-to-2.13.0.html", "2.4.1-to-2.9.1.html", "a#b.html"):
        (tmp_path / "drift").mkdir(exist_ok=True)
        (tmp_path / "drift" / name).write_text("")
    found = shelf.read(tmp_path)
    assert [run.facts.torch for run in found.runs] == ["2.4.1", "2.9.1", "2.13.0"]
    page = Page(index_page.render(found))
    links = [link for link in page.values("href") if link.startswith("drift/")]
    assert links == ["drift/a%23b.html", "drift/2.4.1-to-2.9.1.html", "drift/2.9.1-to-2.13.0.html"]
    assert "2.4.1 → 2.9.1" in page.text


def test_a_live_run_stands_before_one_against_what_was_recorded(tmp_path: Path) -> None:
    for oracle in ("recorded", "live"):
        run = report.build_run([AGREE], facts(oracle=oracle))
        report.write(run, tmp_path)
    assert [run.facts.oracle for run in shelf.read(tmp_path).runs] == ["live", "recorded"]


def test_pages_of_areas_that_a_run_has_no_more_are_gone(tmp_path: Path) -> None:
    report.write(clean_run(), tmp_path)
    assert (tmp_path / "torch-2.4.1" / "tls.html").exists()
    report.write(planted_run(), tmp_path)
    assert [path.name for path in (tmp_path / "torch-2.4.1").iterdir()] == ["keys.html"]


@pytest.mark.parametrize("name", [HOSTILE, "../../up", "x" * 300, "con/nul", "", "A"])
def test_an_area_of_any_name_has_a_page_of_its_own(name: str, tmp_path: Path) -> None:
    report.write(report.build_run([*agreeing(2, name), AGREE], facts()), tmp_path)
    pages = list((tmp_path / "torch-2.4.1").iterdir())
    assert len(pages) == 2
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", page.name) for page in pages)
    links = Page((tmp_path / "index.html").read_text("utf-8")).values("href")
    assert {f"torch-2.4.1/{page.name}" for page in pages} <= set(links)


# Drift pages


def test_a_drift_page_has_every_rule_with_both_texts_and_is_on_the_index(tmp_path: Path) -> None:
    items = (Item(f"aten::f{HOSTILE}", f"f(int a) {HOSTILE}", f"f(int a, int b) {HOSTILE}"),)
    more = tuple(Item(f"key{number}") for number in range(drift_page.MOST_ITEMS + 5))
    sections = (
        Section("schemas", (Rule("an argument was added", items),)),
        Section("keys", (Rule("key added", more),)),
        Section("tables", ()),
    )
    drift_page.write(Drift("2.4.1", "2.13.0", sections, (HOSTILE,)), tmp_path)
    report.write_overview(tmp_path)
    text = (tmp_path / "drift" / "2.4.1-to-2.13.0.html").read_text("utf-8")
    page = Page(text)
    assert all(marks.is_plain(char) for char in text)
    assert page.tags.count("script") == 1
    assert "b" not in page.tags
    for shown in (items[0].name, items[0].before, items[0].after):
        assert any(marks.visible(shown) == code.replace("<U+000A>", "") for code in page.codes)
    assert "What changed from PyTorch 2.4.1 to 2.13.0" in page.text
    assert "5 more are in conformance drift --json" in page.text
    assert "tables" not in page.text
    assert "drift/2.4.1-to-2.13.0.html" in (tmp_path / "index.html").read_text("utf-8")
    for link in page.values("href"):
        assert link[1:] in page.values("id") if link.startswith("#") else link == "../index.html"


# Badges


@pytest.mark.parametrize(
    ("runs", "message", "colour"),
    [
        ([], "no run", "lightgrey"),
        ([clean_run()], "100 %", "brightgreen"),
        ([clean_run(), clean_run("2.13.0")], "100 % of 2 releases", "brightgreen"),
        ([on(1, [AGREE, KNOWN])], "50.0 %", "green"),
        ([on(1, [AGREE, HUNG])], "100 %", "brightgreen"),
        ([on(1, [AGREE, WRONG_TYPE])], "50.0 %", "red"),
        ([on(1, [*agreeing(999), WRONG_TYPE])], "99.9 %", "orange"),
        ([on(1, [AGREE], planned={"keys": 2})], "cut short", "lightgrey"),
        ([on(1, [AGREE], stale=["keys/*"])], "100 %", "orange"),
    ],
)
def test_a_badge_has_the_share_and_the_colour_of_the_worst(
    runs: list[report.Run], message: str, colour: str
) -> None:
    assert badge.badge(runs, "x") == {
        "schemaVersion": 1,
        "label": "x",
        "message": message,
        "color": colour,
    }


@pytest.mark.parametrize(
    ("agree", "judged", "shown"),
    [
        (3, 3, "100 %"),
        (2, 3, "66.7 %"),
        (9_999, 10_000, "99.99 %"),
        (915_045, 915_046, "99.9999 %"),
        (10**8 - 1, 10**8, "under 100 %"),
        (0, 7, "0.0 %"),
    ],
)
def test_a_share_is_never_rounded_up_to_the_whole(agree: int, judged: int, shown: str) -> None:
    assert badge.share(agree, judged) == shown


def test_there_is_a_badge_for_each_run_and_one_for_all(tmp_path: Path) -> None:
    (tmp_path / "badges").mkdir()
    (tmp_path / "badges" / "torch-1.0.json").write_text("{}")
    for run in (clean_run(), report.build_run([AGREE], facts("2.9.1", oracle="recorded"))):
        report.write(run, tmp_path)
    labels = {
        path.name: json.loads(path.read_text("utf-8"))["label"]
        for path in (tmp_path / "badges").iterdir()
    }
    assert labels == {
        "all.json": "PyTorch parity",
        "torch-2.4.1.json": "PyTorch 2.4.1",
        "torch-2.9.1-recorded.json": "PyTorch 2.9.1, recorded",
    }


# A job's summary


def test_the_summary_of_a_job_has_the_verdict_the_areas_and_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    assert job_summary.append(planted_run(), {"GITHUB_STEP_SUMMARY": str(path)})
    before, verdict, *rest = path.read_text("utf-8").splitlines()
    assert before == "before"
    assert verdict.startswith("## ❌ mindtorch&#95;v2 differs from PyTorch 2.4.1 in 13 of 16 cases")
    assert "| ❌ | <code>keys</code> | 19 | 1 | 13 | 1 | 1 |" in rest
    assert "| ✅ | <code>tls</code> | 2 | 2 | 0 | 0 | 0 |" in job_summary.render(clean_run())
    assert job_summary.render(clean_run()).startswith("## ✅ ")


def test_elsewhere_there_is_no_summary() -> None:
    assert not job_summary.append(clean_run(), {})


def test_no_text_of_a_case_means_anything_in_the_summary() -> None:
    text = job_summary.render(planted_run(stale=[HOSTILE, "a | b"]))
    assert all(marks.is_plain(char) for char in text)
    assert set(re.findall("</?([a-z]+)", text)) == {"code", "details", "summary", "pre"}
    # Within a <pre> on one line, Markdown begins nowhere; outside, nothing begins it.
    assert all(line.endswith("</pre>") for line in text.splitlines() if "<pre>" in line)
    assert "for i in range(2):&#10;    x" in text
    outside = re.sub("<pre>.*</pre>", "", text)
    assert "[bold]" not in outside
    assert "{{" not in outside


def test_a_summary_stays_below_what_github_takes() -> None:
    """Sixty rules, each with a case whose text alone is 50,000 characters."""
    huge = [
        differ("t", f"xp.f('{'&' * 50_000}')", raised("E", "a"), raised("E", "b" * length))
        for length in range(1, 61)
    ]
    text = job_summary.render(report.build_run(huge, facts()))
    assert "### What differs, by rule, the first 20 of" in text
    assert text.count("<details>") == 20
    assert len(text.encode()) < 1 << 20
