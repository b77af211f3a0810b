"""The pages of a run: nothing that differs is lost on them, and no text in them does harm."""

import base64
import hashlib
import itertools
import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from fakes.page import Page
from fakes.planted import (
    ABSENT,
    KNOWN,
    MISMATCHES,
    MISSING_KEY,
    PLANTED,
    STRANGE,
    UNJUDGED,
    WRONG_TYPE,
    clean_run,
    differ,
    facts,
    planted_run,
    raised,
)

from conformance import report
from conformance.compare import Comparison
from conformance.report import area_page, index_page, marks, release_page
from conformance.report.area_page import OPEN_RULES
from conformance.report.places import anchor
from conformance.report.shelf import Shelf


def area(run: report.Run) -> str:
    """The page of the run's first area."""
    return area_page.render(run, run.areas[0])


def pages(run: report.Run) -> list[str]:
    return [area(run), release_page.render(run), index_page.render(Shelf((run,)))]


def test_the_page_of_an_area_shows_every_text_whole_and_as_text() -> None:
    page = Page(area(planted_run()))
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
    for plain, hostile in zip(pages(clean_run()), pages(planted_run()), strict=True):
        assert Page(plain).tags.count("script") == Page(hostile).tags.count("script") == 1
        assert "b" not in Page(hostile).tags
        assert "49" not in Page(hostile).text.split()
        assert all(marks.is_plain(char) for char in hostile)


def test_a_page_forbids_every_script_and_style_but_its_own() -> None:
    for text in pages(planted_run()):
        (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
        assert "default-src &#39;none&#39;" in policy
        for tag in ("script", "style"):
            (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy
        page = Page(text)
        assert not {"link", "img", "iframe", "object", "style=", "base"} & set(page.tags)
        assert not [each for each, _ in page.attributes if each.startswith("on") or each == "style"]


@pytest.mark.parametrize("run", [planted_run(), clean_run()])
def test_every_link_leads_somewhere_and_no_id_is_there_twice(
    run: report.Run, tmp_path: Path
) -> None:
    """On the site as it is written: links to other pages, and to places on them, as well."""
    twice = report.build_run([*PLANTED, *PLANTED], facts("2.13.0"))
    for each in (run, twice):
        report.write(each, tmp_path)
    found = {path: Page(path.read_text("utf-8")) for path in tmp_path.rglob("*.html")}
    assert len(found) == 3 + len(run.areas) + len(twice.areas)
    for path, page in found.items():
        ids = page.values("id")
        assert len(ids) == len(set(ids))
        for link in page.values("href"):
            there, _, place = link.partition("#")
            target = (path.parent / there).resolve() if there else path
            assert target.is_file()
            assert not place or place in found[target].values("id")
        for labelled in page.values("aria-labelledby") + page.values("for"):
            assert set(labelled.split()) <= set(ids)


def test_headings_go_down_one_level_at_a_time() -> None:
    for text in [*pages(planted_run()), *pages(clean_run())]:
        levels = [int(tag[1]) for tag in Page(text).tags if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_pages_without_differences_say_what_was_covered() -> None:
    run = clean_run()
    assert "mindtorch_v2 agrees with PyTorch 2.4.1 in all 42 cases." in release_page.render(run)
    assert "Covered: 42 cases about 9 targets in 2 areas." in release_page.render(run)
    page = Page(area(run))
    assert "keys: every case agrees" in page.text
    assert "40 cases about 7 targets" in page.text
    assert not {"article", "mark", "template"} & set(page.tags)
    assert "open" not in [name for name, _ in page.attributes]


def test_differences_are_marked_by_elements() -> None:
    text = area(report.build_run([WRONG_TYPE], facts()))
    assert "raised <mark>Runtime</mark>Error: no B" in text
    assert "raised <mark>Value</mark>Error: no B" in text


def test_long_equal_stretches_fold_on_the_page() -> None:
    text = area(report.build_run([MISSING_KEY], facts()))
    assert text.count('class="fold" aria-expanded="false"') == 2


def test_a_text_with_hidden_characters_is_not_offered_for_copying() -> None:
    """A shell or an editor would obey what the page shows."""
    text = area(report.build_run([STRANGE], facts()))
    assert 'data-copy="the case"' not in text
    assert 'data-copy="the command"' in text


def test_the_release_page_has_each_rule_once_with_its_smallest_case() -> None:
    text = release_page.render(report.build_run([*many(100), WRONG_TYPE], facts()))
    assert text.count('<code class="pattern') == 2
    assert "100 cases" in text
    assert ">xp.f(0)<" in text
    assert ">xp.f(1)<" not in text


# Many cases


def many(count: int, rules: int = 1) -> Iterable[Comparison]:
    """Mismatches of so many rules, about 40 targets."""
    for number in range(count):
        word = f"{'abcdefghij'[number % rules % 10] * (1 + number % rules // 10)}"
        yield differ(
            f"target{number % 40}",
            f"xp.f({number})",
            raised("TypeError", f"argument {number} must be Tensor, not int"),
            raised("TypeError", f"argument {number} must be {word} Tensor, not int"),
        )


def test_ten_thousand_mismatches_make_a_page_of_rules_with_the_rest_waiting() -> None:
    run = report.build_run(many(10_000, rules=40), facts())
    started = time.process_time()
    text = area(run)
    assert time.process_time() - started < 60
    assert text.count("<article") == 10_000
    assert text.count('<details class="rule"') == 40
    assert len(re.findall(r'<details class="rule"[^>]* open', text)) == OPEN_RULES
    in_sight = re.sub("<template>.*?</template>", "", text, flags=re.DOTALL)
    assert in_sight.count("<article") == OPEN_RULES


def test_a_page_lists_so_many_cases_and_says_how_many_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(area_page, "MOST_CASES", 100)
    text = area(report.build_run(many(120, rules=2), facts()))
    assert text.count("<article") == 100
    assert text.count("10 longer cases of this rule are only in the") == 2


def test_a_case_that_waits_has_its_place_on_the_page() -> None:
    run = report.build_run(many(500), facts())
    ids = Page(area(run)).values("id")
    assert {anchor(each.case.id) for each in run.areas[0].differing} <= set(ids)
