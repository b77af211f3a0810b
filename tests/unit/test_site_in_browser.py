"""The site in a browser: clicked through, searched, copied from, by keyboard, light and dark.

Cases with every kind of hostile text are on it, and it is opened from the file system, offline.
Without a browser these tests are skipped, and say why.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.planted import (
    HOSTILE,
    PLANTED,
    WRONG_TYPE,
    agreeing,
    clean_run,
    differ,
    facts,
    raised,
)

from conformance import report
from conformance.compare import Comparison
from conformance.report.marks import command, visible
from conformance.report.places import anchor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
RULES, CASES = 25, 54
MANY = RULES * CASES
IN_SIGHT = 4000
"""Elements: what is in the document of a page on which 10,000 cases wait is less by far."""


def wrong(number: int) -> Comparison:
    """What a subject that is wrong in ``RULES`` ways answers; its cases come rule after rule."""
    word = "abcdefghijklmnopqrstuvwxyz"[number % RULES % 26] * (1 + number % RULES // 26)
    left, right = (f"f(): argument {number} must be {each}Tensor" for each in ("", f"{word} "))
    text = f"xp.f({number})"
    return differ(
        f"target{number % 7}", text, raised("TypeError", left), raised("TypeError", right)
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's browser: nothing is downloaded."""
    reason = "playwright is not installed: pip install -e '.[browser]'"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip(f"no browser is on the path: looked for {', '.join(NAMES)}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases, one of them with every difference there is, run three times."""
    directory = tmp_path_factory.mktemp("site")
    drift = directory / "drift" / "2.4.1-to-2.13.0.html"
    drift.parent.mkdir()
    drift.write_text("<!doctype html><title>drift</title>")
    for day in ("2026-01-29", "2026-01-30"):
        earlier = report.build_run([WRONG_TYPE, *agreeing(9)], facts(started=f"{day}T12:00:00Z"))
        report.write(earlier, directory)
    report.write(clean_run("2.13.0"), directory)
    many = map(wrong, range(MANY))
    report.write(report.build_run([*PLANTED, *many, *agreeing(3, "tls")], facts()), directory)
    return directory


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)  # a page of 10,000 mismatches, on a busy machine
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that must not complain, ask, or fetch anything but files."""
    page = context.new_page()
    wrongs: list[str] = []
    page.on("pageerror", lambda error: wrongs.append(f"error: {error}"))
    page.on("console", lambda message: wrongs.append(f"console: {message.text}"))
    page.on("dialog", lambda dialog: wrongs.append(f"dialog: {dialog.message}"))
    page.on("request", lambda each: _note(wrongs, each.url))
    yield page
    assert wrongs == []


def _note(wrongs: list[str], url: str) -> None:
    if not url.startswith("file:///"):
        wrongs.append(f"request: {url}")


def found(page: Page) -> str:
    """What the search says, once it has said it."""
    output = page.locator(".search output:not(:empty)")
    output.wait_for(state="attached")
    return output.text_content() or ""


def sought(page: Page, words: str) -> str:
    page.evaluate("document.querySelector('.search output').textContent = ''")
    page.fill("#query", words)
    return found(page)


def shown(page: Page, selector: str = "article") -> int:
    return page.locator(f"{selector}:visible").count()


def test_every_page_is_reached_by_links_and_leads_back(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    assert "differ from PyTorch, in 1 of 2 runs; in 1 a name is missing." in page.inner_text("h1")
    page.click("tr:has-text('keys') td.differs a")
    assert page.url.endswith("/torch-2.4.1/keys.html")
    assert page.inner_text("h1") == f"keys: {MANY + 13:,} cases differ, 1 case lacks a name"
    page.click("nav a:has-text('PyTorch 2.4.1')")
    assert page.url.endswith("/torch-2.4.1.html")
    rule = page.locator(".rules li", has_text=f"{CASES} cases").first
    pattern = rule.locator("h3").inner_text()
    rule.locator("a").press("Enter")
    here = page.locator(":target summary h3")
    assert here.inner_text() == pattern
    # By keyboard: while the page still moves to its rule, a link is not where a click goes to.
    page.press("nav a:has-text('All releases')", "Enter")
    page.wait_for_url("**/index.html")
    page.click("section:has(#drift) a")
    assert page.url.endswith("/drift/2.4.1-to-2.13.0.html")


def test_the_matrix_says_everything_without_colour_and_is_filtered(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    cells = page.locator("tbody tr:has-text('tls') td.status").all_text_contents()
    assert [" ".join(cell.split()) for cell in cells] == ["✓ 3 all agree", "✓ 2 all agree"]
    (keys, _) = page.locator("tbody tr:has-text('keys') td.status").all_text_contents()
    expected = f"✗ {MANY + 13:,} of {MANY + 19:,} differ, and 1 lack a name"
    assert " ".join(keys.split()) == expected
    assert page.locator(".trend circle").count() == 3
    page.check("#differing")
    assert found(page) == "1 of 2 areas"
    assert page.locator(".matrix tbody tr:visible th").all_inner_texts() == ["keys"]
    page.uncheck("#differing")
    assert sought(page, "TLS") == "1 of 2 areas"
    assert page.locator(".matrix tbody tr:visible th").all_inner_texts() == ["tls"]


def test_a_page_of_many_cases_keeps_them_out_of_the_document(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    assert page.evaluate("document.querySelectorAll('*').length") < IN_SIGHT
    rule = page.locator("details.rule").first
    assert shown(page, "details.rule >> nth=0 >> article") == 1
    button = rule.locator(".more button")
    assert button.inner_text() == f"Show 50 more of {CASES - 1}"
    button.press("Enter")
    assert rule.locator("article").count() == 51
    # The keyboard goes on where the new cases begin.
    assert (
        page.evaluate("[...document.querySelectorAll('article')].indexOf(document.activeElement)")
        == 1
    )
    assert button.inner_text() == f"Show {CASES - 51} more"
    button.press("Enter")  # a click may go to where it was before the new cases
    assert rule.locator("article").count() == CASES
    assert not button.is_visible()
    texts = rule.locator(".case code").all_text_contents()
    assert texts == sorted(texts, key=lambda text: (len(text), text))


def test_a_folded_rule_shows_its_smallest_case_when_it_is_opened(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    place = page.locator("details.rule:not([open])").first.get_attribute("id")
    rule = page.locator(f"#{place}")
    assert rule.locator("article").count() == 0
    rule.locator("summary").press("Enter")
    rule.locator("article").wait_for()
    assert rule.locator("article").count() == 1


def test_a_search_finds_what_waits_and_escape_ends_it(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    before = shown(page)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    last = MANY - 1
    assert sought(page, f"XP.F({last}) tensor") == "1 case found"
    assert page.locator("article:visible .case code").all_inner_texts() == [f"xp.f({last})"]
    assert page.locator("details.rule:visible .count").all_inner_texts() == [f"1 of {CASES} cases"]
    assert sought(page, "no such words") == "0 cases found"
    assert shown(page, "details.rule") == 0
    assert sought(page, "argument") == f"{MANY:,} cases found"
    assert page.evaluate("document.querySelectorAll('*').length") < IN_SIGHT + 3 * RULES * 25
    page.keyboard.press("Escape")
    page.locator(".search output:empty").wait_for(state="attached")
    assert shown(page) == before
    assert page.input_value("#query") == ""


def test_cases_are_filtered_by_target_and_by_verdict(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    page.select_option("#target", "target3")
    of_target = len([number for number in range(MANY) if number % 7 == 3])
    assert found(page) == f"{of_target} cases found"
    assert sought(page, "xp.f(3)") == "1 case found"
    page.fill("#query", "")
    page.select_option("#target", "")
    page.evaluate("document.querySelector('.search output').textContent = ''")
    page.select_option("#verdict", "known")
    assert found(page) == "1 case found"
    assert page.locator("article:visible .tag").inner_text() == "known"


def test_a_link_to_a_case_that_waits_brings_it_to_light(page: Page, site: Path) -> None:
    case = wrong(MANY - 1).case
    address = (site / "torch-2.4.1" / "keys.html").as_uri()
    page.goto(f"{address}#{anchor(case.id)}")
    article = page.locator(f"[id='{anchor(case.id)}']")
    assert article.locator(".case code").inner_text() == case.text
    page.wait_for_timeout(1000)  # in which others get their heights
    box = article.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 900


def test_a_link_to_a_case_that_a_search_hides_ends_the_search(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    assert sought(page, "no such words") == "0 cases found"
    case = wrong(0).case
    page.evaluate(f"location.hash = '{anchor(case.id)}'")
    page.locator(f"[id='{anchor(case.id)}']").wait_for()
    assert page.input_value("#query") == ""


@pytest.mark.parametrize(
    ("name", "text"), [("case", WRONG_TYPE.case.text), ("command", command(WRONG_TYPE))]
)
def test_what_is_copied_is_the_case_and_the_command(
    page: Page, site: Path, name: str, text: str
) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    assert sought(page, "xp.p('B')") == "1 case found"
    article = page.locator("article:visible")
    page.evaluate("document.body.append(document.createElement('textarea'))")
    pasted = page.locator("textarea")
    article.get_by_role("button", name=f"Copy the {name}", exact=True).click()
    article.get_by_role("button", name="Copied").wait_for()
    pasted.focus()
    page.keyboard.press("Control+V")
    assert pasted.input_value() == text


def test_a_fold_opens_on_both_sides(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    sought(page, "xp.full()")
    folds = page.locator("article:visible .fold")
    assert folds.count() == 2
    folds.first.click()
    assert [fold.get_attribute("aria-expanded") for fold in folds.all()] == ["true", "true"]


def test_a_hostile_text_is_shown_and_does_nothing(page: Page, site: Path) -> None:
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    assert sought(page, "alert(2) 中文") == "1 case found"
    assert visible(HOSTILE) in page.locator("article:visible .case code").inner_text()
    assert page.locator("article:visible").get_by_role("button", name="Copy the case").count() == 0


def test_without_scripts_the_smallest_cases_are_there(browser: Browser, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "torch-2.4.1" / "keys.html").as_uri())
    assert page.locator("article").count() == 20
    assert not page.locator("form.search").is_visible()
    assert (
        page.locator(".more:visible").first.inner_text().startswith(f"{CASES - 1} more cases are")
    )
    context.close()


PAGES = ("index.html", "torch-2.4.1.html", "torch-2.4.1/keys.html", "torch-2.13.0/keys.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(page: Page, site: Path, scheme: Any) -> None:
    """At least 4.5 to 1, as WCAG 2 asks of text."""
    page.emulate_media(color_scheme=scheme)
    for name in PAGES:
        page.goto((site / name).as_uri())
        assert page.evaluate(FAINT) == [], name


FAINT = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((c) => linear(c / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const colour = channels(getComputedStyle(node).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!text.length || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = channels(element instanceof SVGElement ? style.fill : style.color);
    const [high, low] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (high + .05) / (low + .05);
    if (ratio < 4.5) faint.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(faint)];
}"""


@pytest.mark.parametrize("width", [360, 800])
def test_a_narrow_page_is_not_wider_than_the_screen(page: Page, site: Path, width: int) -> None:
    """Tables scroll by themselves; the page does not."""
    page.set_viewport_size({"width": width, "height": 800})
    for name in PAGES:
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_all_that_is_operated_has_a_name_and_is_reached_by_keyboard(page: Page, site: Path) -> None:
    for name in PAGES:
        page.goto((site / name).as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        tree = page.locator("body").aria_snapshot()
        nameless = re.compile(
            r"- (button|link|searchbox|combobox|checkbox|region|img)(:|$| \[)", re.M
        )
        assert not nameless.search(tree), name
        unlabelled = (
            "[...document.querySelectorAll('input, select')].filter((it) => !it.labels.length)"
        )
        assert page.evaluate(f"{unlabelled}.length") == 0, name
        for landmark in ("banner", "main", "contentinfo"):
            assert re.search(rf"^- {landmark}:", tree, re.M), (name, landmark)
