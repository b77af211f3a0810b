"""A drift to read: sections, rules, and the first of what each holds for."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.drift.model import Drift, Item, Rule
from conformance.report.marks import visible


def lines(
    drift: Drift, limit: int | None, rule_limit: int | None = None
) -> Iterator[tuple[str, str]]:
    """Each line with its style; of a section so many rules are listed, of a rule so many items."""
    yield f"PyTorch {drift.before} → {drift.after}", "bold"
    for note in drift.notes:
        yield note, ""
    for section in drift.sections:
        if not section.rules:
            continue
        rules = f"{len(section.rules):,} rule{'s' * (len(section.rules) != 1)}"
        yield "", ""
        yield f"{section.name}: {section.count:,} changes, {rules}", "bold"
        shown = section.rules if rule_limit is None else section.rules[:rule_limit]
        for rule in shown:
            yield from _rule(rule, limit)
        if len(section.rules) > len(shown):
            fewer = sum(len(rule.items) for rule in section.rules[len(shown) :])
            yield f"  … {len(section.rules) - len(shown):,} more rules, of {fewer:,} changes", "dim"


def _rule(rule: Rule, limit: int | None) -> Iterator[tuple[str, str]]:
    yield f"  {visible(_line(rule.title))}: {len(rule.items):,}", ""
    shown = rule.items if limit is None else rule.items[:limit]
    for item in shown:
        yield from _item(item)
    if len(rule.items) > len(shown):
        yield f"    … {len(rule.items) - len(shown):,} more", "dim"


def _item(item: Item) -> Iterator[tuple[str, str]]:
    yield f"    {visible(_line(item.name))}", ""
    for sign, text in (("-", item.before), ("+", item.after)):
        if text:
            yield f"      {sign} {visible(_line(text))}", "dim"


def _line(text: str) -> str:
    return text.replace("\n", "⏎")
