"""What changed in the outcomes of cases that two recordings share, by how they changed.

A release that words a message anew changes a thousand cases in one way.  So a rule is a stretch of
words that took the place of another, in which numbers and quoted names stand for any; a case is
found under every rule that changed it, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

from conformance.area import Area
from conformance.drift.model import Item, Rule, Section
from conformance.oracle import RecordedOracle
from conformance.outcome import Outcome
from conformance.recorded.area import Missing
from mindtorch_v2 import profile as profiles

NAMED: Final = r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|\d+(?:\.\d+)?"
"""What stands for any other of its kind: a quoted name, a number."""
WORD: Final = re.compile(rf"{NAMED}|\w+|\s+|[^\w\s]")
LONG: Final = 160
"""A rule's title has so many characters of each side."""

MAX_PAIRS: Final = 40_000
"""With more pairs of words than this, all that differs is one stretch: to look closer is slow."""

Pair = tuple[str, str]


def drift(
    areas: Iterable[Area], before: RecordedOracle, after: RecordedOracle
) -> Iterator[Section]:
    """A section for each area that both have recorded."""
    for area in areas:
        if area.name in before.recording.areas and area.name in after.recording.areas:
            yield _area(area, before, after)


def _area(area: Area, before: RecordedOracle, after: RecordedOracle) -> Section:
    earlier = {id: outcome for id, _, outcome in _outcomes(area, before)}
    rules: dict[Pair, list[Item]] = {}
    for id, text, outcome in _outcomes(area, after):
        old = earlier.get(id, outcome)
        if old != outcome:
            sides = str(old), str(outcome)
            for pair in replaced(*sides):
                rules.setdefault(pair, []).append(Item(text, *sides))
    ordered = sorted(rules.items(), key=lambda each: (-len(each[1]), each[0]))
    return Section(
        f"outcomes: {area.name}",
        tuple(
            Rule(f"{_short(old)} → {_short(new)}", tuple(sorted(items, key=lambda i: len(i.name))))
            for (old, new), items in ordered
        ),
    )


def _outcomes(area: Area, oracle: RecordedOracle) -> Iterator[tuple[str, str, Outcome]]:
    """Id, text and outcome of every case that came back."""
    cases = area.cases(profiles.load(oracle.profile))
    for case, answer in oracle.ask(area.name, cases):
        if answer is not None and not isinstance(answer, Missing) and answer.survived:
            yield case.id, case.text, answer


def replaced(before: str, after: str) -> list[Pair]:
    """What took the place of what, whatever the numbers and names in it; each pair once."""
    old, new = WORD.findall(before), WORD.findall(after)
    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if len(old) * len(new) > MAX_PAIRS:
        return [(_masked(old), _masked(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    found = [
        (_masked(old[a:b]), _masked(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
    return list(dict.fromkeys(found))


def _common(one: list[str], two: list[str]) -> int:
    """How many words they begin with alike."""
    for index, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return index
    return min(len(one), len(two))


def _masked(words: list[str]) -> str:
    return "".join("…" if re.fullmatch(NAMED, word) else word for word in words).strip()


def _short(text: str) -> str:
    if not text:
        return "nothing"
    return text if len(text) <= LONG else f"{text[:LONG]}…"
