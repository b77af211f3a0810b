"""The documents say what is so: links lead somewhere, examples are true, commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.normalise import BOTH_SIDES, DEVICE_NAME, Rule, subject_module
from conformance.report.index_page import SIGNS

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "tests" / "README.md"]
RULES = {rule.name: rule for rule in (*BOTH_SIDES, subject_module("mindtorch_v2"), DEVICE_NAME)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sessions_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"nox -s \"?([a-z_]+)", page.read_text(encoding="utf-8"))
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert {name for name in named if f"\ndef {name}(session" not in noxfile} == set()


def test_every_page_of_the_documents_is_in_their_list() -> None:
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in listed} == set()


def examples() -> list[tuple[str, str, str]]:
    text = (ROOT / "docs" / "normalisation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]* \| `(.*?)` \| `(.*?)` \|$", text, re.MULTILINE)
    return [(name, before.replace(r"\n", "\n"), after) for name, before, after in rows]


def test_every_normalisation_rule_has_an_example_and_a_paragraph() -> None:
    text = (ROOT / "docs" / "normalisation.md").read_text(encoding="utf-8")
    assert [name for name, _, _ in examples()] == list(RULES)
    assert re.findall(r"^\*\*([\w-]+)\.\*\*", text, re.MULTILINE) == list(RULES)


@pytest.mark.parametrize(("name", "before", "after"), examples())
def test_a_rule_does_what_its_example_shows(name: str, before: str, after: str) -> None:
    rule: Rule = RULES[name]
    assert rule(before) == after
    assert before != after


def test_the_signs_of_the_matrix_are_explained() -> None:
    text = (ROOT / "docs" / "reading-a-report.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\S) \|", text, re.MULTILINE) == [
        SIGNS[status] for status in ("agrees", "differs", "known", "short", "empty")
    ]
