"""``drift/<before>-to-<after>.html``: what changed between two releases, by rule, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.drift.model import Drift, Item, Rule, Section
from conformance.report import page
from conformance.report.atomic import write_text
from conformance.report.blocks import Stretch, stretches
from conformance.report.marks import spans
from conformance.report.places import INDEX
from conformance.report.shelf import DRIFT

MOST_ITEMS: Final = 200
"""So many of a rule are on the page: its first few hundred show what it is."""
MOST_RULES: Final = 400
"""So many of a section: what follows are rules that hold for one item each."""


@dataclass(frozen=True, slots=True)
class Change:
    """An item, and its two texts with the difference marked."""

    item: Item
    before: list[Stretch]
    after: list[Stretch]


def write(drift: Drift, directory: Path) -> Path:
    """Write the page into the directory of reports, and give its path."""
    path = directory / DRIFT / f"{drift.before}-to-{drift.after}.html"
    write_text(path, pieces(drift))
    return path


def pieces(drift: Drift) -> Iterator[str]:
    return page.pieces(
        "drift.html.j2",
        drift=drift,
        root="../",
        index=INDEX,
        sections=[section for section in drift.sections if section.rules],
        rules=rules,
        changes=changes,
        most_items=MOST_ITEMS,
    )


def render(drift: Drift) -> str:
    """The page."""
    return "".join(pieces(drift))


def rules(section: Section) -> Sequence[Rule]:
    return section.rules[:MOST_RULES]


def changes(rule: Rule) -> Iterator[Change]:
    """The first items of a rule; made one by one, as the page is written."""
    for item in rule.items[:MOST_ITEMS]:
        yield Change(item, *stretches(spans(item.before, item.after)))
