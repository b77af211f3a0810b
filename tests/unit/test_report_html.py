"""The page of a run: nothing that differs is lost on it, and no text in it does harm."""

import base64
import hashlib
import re
import time
from collections.abc import Iterable

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
from conformance.report import html, marks


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
