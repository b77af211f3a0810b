"""A case as a page shows it: cut into stretches, long ones folded, hidden characters named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import name as unicode_name

from conformance.compare import Comparison, Span
from conformance.report.marks import PieceKind, code_point, command, is_plain, marked, panes
from conformance.report.model import Facts
from conformance.report.places import anchor

LEAST_FOLDED: Final = 120
"""Less than this is not worth a button."""
FOLD: Final[dict[PieceKind, tuple[int, int]]] = {
    "same": (160, 160),
    "only": (1200, 200),
    "gap": (0, 0),
}
"""How much of a long stretch stays in sight at its two ends."""

Token = tuple[str, str]
"""A run of plain characters and ``""``, or one hidden character as ``<U+…>`` and its name."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of an outcome as the page shows it."""

    kind: PieceKind
    marked: bool
    head: list[Token]
    folded: list[Token]
    tail: list[Token]
    left_out: int


@dataclass(frozen=True, slots=True)
class Block:
    """A case as the page shows it."""

    comparison: Comparison
    anchor: str
    text: list[Token]
    exact: bool
    """Whether the text as shown is the text itself, and can be copied from the page."""
    whole: bool
    """Whether the outcomes have nothing in common, so that marks would say nothing."""
    oracle: list[Stretch]
    subject: list[Stretch]
    command: str


def block(comparison: Comparison, facts: Facts | None = None) -> Block:
    text = tokens(comparison.case.text)
    difference = marked(comparison)
    left, right = stretches(difference)
    return Block(
        comparison,
        anchor(comparison.case.id),
        text,
        not any(name for _, name in text),
        _whole(difference),
        left,
        right,
        command(comparison, facts),
    )


def stretches(difference: Sequence[Span]) -> tuple[list[Stretch], list[Stretch]]:
    """The two sides of a difference; marks are for what differs within what is alike."""
    whole = _whole(difference)
    left, right = (
        [_stretch(kind, piece, whole) for kind, piece in side] for side in panes(difference)
    )
    return left, right


def _whole(difference: Sequence[Span]) -> bool:
    return bool(difference) and not any(kind == "same" for kind, _ in difference)


def _stretch(kind: PieceKind, text: str, whole: bool) -> Stretch:
    marked = kind == "only" and not whole
    head, tail = _fold(kind, text)
    parts = (text[:head], text[head:tail], text[tail:])
    begin, folded, end = (tokens(part, marked) for part in parts)
    return Stretch(kind, marked, begin, folded, end, tail - head)


def _fold(kind: PieceKind, text: str) -> tuple[int, int]:
    """Where the folded part of ``text`` begins and ends: between words, where there are any."""
    head, tail = FOLD[kind]
    if len(text) < head + tail + LEAST_FOLDED:
        return len(text), len(text)
    begin = text.rfind(" ", head - 40, head) + 1 or head
    end = text.find(" ", len(text) - tail, len(text) - tail + 40) + 1 or len(text) - tail
    return begin, end


def tokens(text: str, marked: bool = False) -> list[Token]:
    """``text`` cut at every character that a screen hides; in a marked difference, at line
    breaks too, since there they are what differs."""
    if text.replace("\n", "").isprintable() and not (marked and "\n" in text):
        return [(text, "")] if text else []
    found: list[Token] = []
    plain = ""
    for char in text:
        if is_plain(char) and not (marked and char == "\n"):
            plain += char
            continue
        if plain:
            found.append((plain, ""))
        plain = "\n" if char == "\n" else ""
        found.append((code_point(char), unicode_name(char, "control character")))
    return [*found, (plain, "")] if plain else found
