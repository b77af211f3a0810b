"""What a drift is: rules, each with everything it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a rule holds for; ``before`` and ``after`` where its name does not say all."""

    name: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What happened, in words, and to what: ``an argument was added``."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A kind of facts: keys, schemas, tables, outcomes …"""

    name: str
    rules: tuple[Rule, ...]

    @property
    def count(self) -> int:
        return sum(len(rule.items) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Drift:
    """From one release to another."""

    before: str
    after: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know besides."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def section(name: str, found: Iterable[tuple[str, Item]]) -> Section:
    """What was found, gathered by the title of its rule: the rule with the most items first."""
    rules: dict[str, list[Item]] = {}
    for title, item in found:
        rules.setdefault(title, []).append(item)
    ordered = sorted(rules.items(), key=lambda rule: (-len(rule[1]), rule[0]))
    return Section(name, tuple(Rule(title, tuple(items)) for title, items in ordered))


def added_and_removed(
    what: str, before: Iterable[str], after: Iterable[str]
) -> Iterator[tuple[str, Item]]:
    """What only one of the releases has, in that release's order."""
    old, new = list(before), list(after)
    known_old, known_new = set(old), set(new)
    for name in new:
        if name not in known_old:
            yield f"{what} added", Item(name)
    for name in old:
        if name not in known_new:
            yield f"{what} removed", Item(name)
