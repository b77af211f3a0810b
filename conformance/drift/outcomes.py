"""What changed in the outcomes of cases that two recordings share, by how they changed.

A release that words a message anew changes a thousand cases in one way.  So a rule is a stretch of
words that took the place of another, in which numbers and quoted names stand for any; a case is
found under every rule that changed it, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from conformance.drift.answers import Told, asked
from conformance.drift.model import Item, Rule, Section
from conformance.oracle import RecordedOracle
from conformance.outcome import Outcome

NAMED: Final = r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|\d+(?:\.\d+)?"
"""What stands for any other of its kind: a quoted name, a number.  A quoted sentence, such as a
line of a log, stands for those that begin with the same word."""
WORD: Final = re.compile(rf"{NAMED}|\w+|\s+|[^\w\s]")
LIST: Final = re.compile(r"-?…(?:, -?…)*")
SENTENCE: Final = re.compile(r"(['\"][^\s'\"]+)\s.*(['\"])", re.DOTALL)
TELLING: Final = re.compile(r"[^\W\d_]{2}")
"""Two letters: words without any, a line's number or the size of a shape, say nothing alone."""
CONTEXT: Final = 6
"""So many words stand on either side of those that say nothing alone, if both texts have them."""
NEAR: Final = 8
"""With fewer words than this between them, two changes are one: a sentence was worded anew."""
LONG: Final = 160
"""A rule's title has so many characters of each side."""

MAX_PAIRS: Final = 40_000
"""With more pairs of words than this, all that differs is one stretch: to look closer is slow."""

Pair = tuple[str, str]
Stretch = tuple[int, int, int, int]


def names(before: RecordedOracle, after: RecordedOracle) -> dict[str, str]:
    """The areas that both have recorded, by the names of their sections, in the order of before."""
    both = (area for area in before.recording.areas if area in after.recording.areas)
    return {f"outcomes: {area}": area for area in both}


def drift(
    sections: Mapping[str, str], before: RecordedOracle, after: RecordedOracle
) -> Iterator[Section]:
    """A section for each of :func:`names`, or for those of them that are given."""
    if not sections:
        return
    areas = tuple(sections.values())
    with asked(before, areas) as earlier, asked(after, areas) as later:
        for name in sections:
            yield changes(name, earlier.area(), later.area())


def changes(name: str, before: Iterable[Told], after: Iterable[Told]) -> Section:
    """What became of the cases that both sides have."""
    earlier = {told.id: told.outcome for told in before}
    rules: dict[Pair, list[Item]] = {}
    for id, text, outcome in after:
        old = earlier.get(id, outcome)
        if old != outcome:
            sides = str(old), str(outcome)
            pairs = replaced(*sides) if old.kind == outcome.kind else [(_end(old), _end(outcome))]
            for pair in pairs:
                rules.setdefault(pair, []).append(Item(text, *sides))
    ordered = sorted(rules.items(), key=lambda each: (-len(each[1]), each[0]))
    return Section(
        name,
        tuple(
            Rule(_title(*pair), tuple(sorted(items, key=lambda item: len(item.name))))
            for pair, items in ordered
        ),
    )


def _end(outcome: Outcome) -> str:
    """How a case ended that ends otherwise now: its value says nothing of why."""
    if outcome.kind == "returned":
        return "returned"
    return f"{outcome.kind} {outcome.type}: {_masked(WORD.findall(outcome.message))}"


def replaced(before: str, after: str) -> list[Pair]:
    """What took the place of what, whatever the numbers and names in it; each pair once.

    Where that says nothing alone, the words around it are told as well.
    """
    old, new = WORD.findall(before), WORD.findall(after)
    found = [_pair(old, new, stretch) for stretch in _stretches(old, new)]
    return list(dict.fromkeys(found))


def _stretches(old: list[str], new: list[str]) -> list[Stretch]:
    """Where the two differ: from and to in the one, from and to in the other."""
    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    ends = len(old) - end, len(new) - end
    if (ends[0] - start) * (ends[1] - start) > MAX_PAIRS:
        return [(start, ends[0], start, ends[1])]
    matcher = SequenceMatcher(None, old[start : ends[0]], new[start : ends[1]], autojunk=False)
    joined: list[Stretch] = []
    for tag, *places in matcher.get_opcodes():
        a, b, c, d = (start + place for place in places)
        if tag == "equal":
            continue
        if joined and a - joined[-1][1] < NEAR:
            a, _, c, _ = joined.pop()
        joined.append((a, b, c, d))
    return joined


def _pair(old: list[str], new: list[str], stretch: Stretch) -> Pair:
    a, b, c, d = stretch
    pair = _masked(old[a:b]), _masked(new[c:d])
    if any(map(TELLING.search, pair)):
        return pair
    left = min(CONTEXT, _common(old[:a][::-1], new[:c][::-1]))
    right = min(CONTEXT, _common(old[b:], new[d:]))
    return _masked(old[a - left : b + right]), _masked(new[c - left : d + right])


def _common(one: list[str], two: list[str]) -> int:
    """How many words they begin with alike."""
    for index, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return index
    return min(len(one), len(two))


def _masked(words: list[str]) -> str:
    return LIST.sub("…", "".join(map(_mask, words)).strip())


def _mask(word: str) -> str:
    if sentence := SENTENCE.fullmatch(word):
        return f"{sentence[1]} …{sentence[2]}"
    return "…" if re.fullmatch(NAMED, word) else word


def _title(old: str, new: str) -> str:
    if old == new:
        return f"{_short(old)}, with other names or numbers"
    return f"{_short(old)} → {_short(new)}"


def _short(text: str) -> str:
    if not text:
        return "nothing"
    return text if len(text) <= LONG else f"{text[:LONG]}…"
