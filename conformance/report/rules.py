"""Rules: what a difference looks like once names, shapes and numbers are taken out of it.

Ten thousand mismatches have seldom more than a few dozen causes.  A cause shows itself as the same
words that differ between the same words, whatever operator, argument or size a case is about.  So
the two outcomes are compared word by word, what a case may choose freely is replaced by what it is
(``‹name›``, ``‹number›``), and of what is equal only the words next to the difference are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Final

from conformance.compare import Comparison, Span
from conformance.outcome import Outcome
from conformance.report.marks import SpanKind, matched, sides, visible

ID_DIGITS: Final = 10
WORDS_BEFORE: Final = 3
WORDS_AFTER: Final = 2
MAX_WORDS: Final = 16
"""The rest of a longer stretch is the case's own."""
MAX_HUNKS: Final = 3
"""Two outcomes that differ in more places are hardly alike; the first places tell them apart."""
MAX_COMPARED: Final = 4000
"""Characters of an outcome that are looked at: a rule that shows itself later is not short."""
MAX_WORD: Final = 40
ELLIPSIS: Final = "…"
LOOSE: Final = " ,;.:)]\n"
"""What would hang in the air behind an ellipsis."""

TOKEN: Final = re.compile(
    r"""
    (?m:^(?:raised|warned)\ [\w.]+:)           # how the outcome ended: always kept
    | \Areturned\ [\w.]+(?=[(\[{])             # and with what: always kept
    | \ :\ [\w.]+                              # the type of a value: always kept
    | (?<!\w)(?:'[^'\s]*'|"[^"\s]*")(?!\w)     # a quoted word
    | \[[\s\d.,'"einfaj+\-\[\]]*\]             # a shape, a stride, values
    | \((?:-?\d+,\s*)+(?:-?\d+)?\)             # the same as a tuple
    | -?\b\d\w*(?:\.\w+)*(?:(?<=e)[+-]\d+)?     # a number; with its unit, a version
    | \b(?:nan|inf|True|False|None)\b
    | \w+=                                     # a field or keyword: always kept
    | [^\W\d][\w.:]*\((?!s\))                  # what is called
    | [^\W\d]\w*(?:(?:::|\.)\w+)*              # a word, or a name, qualified or not
    | \s+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
KEPT: Final = re.compile(r"(raised|warned) .*:|returned .+| : .*|\w+=")
NAME: Final = re.compile(r"(?!\d)\w*(?:(?<=\w)(?:\.|::)|_|\d|[a-z][A-Z]|[A-Z]{2})", re.ASCII)
"""Beginnings of an identifier that is no word: a name that a program or torch has given."""
REPEATED: Final = re.compile(r"(‹\w+›)(?:,?\s*\1)+")
PIECE: Final = re.compile(r"‹\w+›| : [\w.]+|\w+=?|\W")
"""A token of a text from which names have been taken out."""
SPACES: Final = re.compile(r"\s+")
QUOTED: Final = "‹quoted›"
NUMBERS: Final = "‹numbers›"
NUMBER: Final = "‹number›"
CONSTANT: Final = "‹constant›"
A_NAME: Final = "‹name›"


@dataclass(frozen=True)
class Rule:
    """What the cases that differ in the same way have in common."""

    spans: tuple[Span, ...]
    """What both sides have, and what only one of them has, in reading order."""

    def __str__(self) -> str:
        """The rule on one line: ``must be {+a+} Tensor``."""
        brackets = {"same": "{}", "left": "[-{}-]", "right": "{{+{}+}}"}
        return "".join(brackets[kind].format(text) for kind, text in self.spans)

    @cached_property
    def id(self) -> str:
        """A short name that the same rule has in every run and every area."""
        return hashlib.sha256(visible(str(self)).encode()).hexdigest()[:ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule and the cases that break it, the smallest first."""

    rule: Rule
    comparisons: tuple[Comparison, ...]

    @property
    def smallest(self) -> Comparison:
        return self.comparisons[0]


def by_rule(comparisons: Iterable[Comparison]) -> list[Broken]:
    """The rules that ``comparisons`` break: what most cases break first, then the smallest."""
    cases: dict[Rule, list[Comparison]] = {}
    for comparison in comparisons:
        cases.setdefault(rule_of(comparison), []).append(comparison)
    broken = [Broken(rule, tuple(sorted(each, key=_smallness))) for rule, each in cases.items()]
    return sorted(broken, key=lambda each: (-len(each.comparisons), _smallness(each.smallest)))


def _smallness(comparison: Comparison) -> tuple[int, str, str]:
    return len(comparison.case.text), comparison.case.text, comparison.case.id


def rule_of(comparison: Comparison) -> Rule:
    """The rule that ``comparison`` breaks."""
    oracle, subject = comparison.oracle, comparison.subject
    if oracle.kind != subject.kind or oracle.kind not in ("returned", "raised"):
        return Rule((("left", _brief(oracle)), ("right", _brief(subject))))
    left, right = sides(comparison)
    return _rule(left[:MAX_COMPARED], right[:MAX_COMPARED])


def _brief(outcome: Outcome) -> str:
    """An outcome that has nothing in common with the other side's."""
    if outcome.kind == "returned":
        value = outcome.value
        type_ = value["type"] if isinstance(value, dict) else str(value).rpartition(" : ")[2]
        return f"returned a value : {type_}"
    if outcome.kind == "raised":
        return _general(TOKEN.findall(f"raised {outcome.type}: {outcome.message[:MAX_COMPARED]}"))
    # A signal, a limit, or the name that is lacking: that is the rule.
    return f"{outcome.kind}: {outcome.message}"


@lru_cache(maxsize=4096)
def _rule(left: str, right: str) -> Rule:
    hunks = list(_joined(_hunks(matched(TOKEN.findall(left), TOKEN.findall(right)))))
    spans: list[Span] = []
    for index, (same, only_left, only_right) in enumerate(hunks[:MAX_HUNKS]):
        differ = bool(only_left or only_right)
        spans.append(("same", _context(same, first=index == 0, last=not differ)))
        spans.append(("left", _general(only_left)))
        spans.append(("right", _general(only_right)))
    if len(hunks) > MAX_HUNKS:
        spans.append(("same", f" {ELLIPSIS}"))
    return Rule(tuple((kind, text) for kind, text in spans if text))


Tokens = list[str]
Hunk = tuple[Tokens, Tokens, Tokens]
"""Equal words, then the words of only the left and of only the right text after them."""


def _hunks(parts: Iterable[tuple[SpanKind, Sequence[str]]]) -> Iterator[Hunk]:
    same: Tokens = []
    found = (part for part in parts if part[1])
    for equal, group in groupby(found, lambda part: part[0] == "same"):
        only: dict[SpanKind, Tokens] = {"same": [], "left": [], "right": []}
        for kind, tokens in group:
            only[kind] += tokens
        if equal:
            same = only["same"]
        else:
            yield same, only["left"], only["right"]
            same = []
    yield same, [], []


def _joined(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    """Hunks with no word between them are one."""
    pending: Hunk | None = None
    for hunk in hunks:
        same, left, right = hunk
        if pending and (left or right) and not any(map(_is_word, same)):
            pending = pending[0], pending[1] + same + left, pending[2] + same + right
        else:
            if pending:
                yield pending
            pending = hunk
    if pending and any(pending):
        yield pending


def _context(tokens: Tokens, *, first: bool, last: bool) -> str:
    """Of an equal stretch, how the outcome ended and the words beside the differences.

    What is left out does not show in what is kept: a longer message has the same rule.
    """
    ending = tokens[0] if first and tokens and KEPT.fullmatch(tokens[0]) else ""
    body = PIECE.findall(_collapsed(tokens[1:] if ending else tokens))
    after = 0 if first else _reach(body, WORDS_AFTER)
    before = len(body) if last else len(body) - _reach(body[::-1], WORDS_BEFORE)
    whole = after >= before and sum(map(_is_word, body)) < WORDS_BEFORE + WORDS_AFTER * (not first)
    if whole or not body:
        return ending + SPACES.sub(" ", "".join(body))
    start = "".join(body[:after]).rstrip()
    end = "".join(body[max(before, after) :]).lstrip(LOOSE)
    begin = ending or start
    return f"{begin}{' ' if begin else ''}{ELLIPSIS}{' ' if end else ''}{SPACES.sub(' ', end)}"


def _reach(tokens: Sequence[str], words: int) -> int:
    """How many of ``tokens`` hold the first ``words`` words, and what stands before the next."""
    seen = 0
    for position, token in enumerate(tokens):
        if _is_word(token):
            if seen == words:
                return position
            seen += 1
    return len(tokens)


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))


def _general(tokens: Tokens) -> str:
    """A stretch with what a case chooses taken out, and its end if it is long."""
    reach = _reach(tokens, MAX_WORDS)
    text = _collapsed(tokens[:reach])
    return text if reach == len(tokens) else f"{text.rstrip()} {ELLIPSIS}"


def _collapsed(tokens: Iterable[str]) -> str:
    """``tokens`` as text, with what a case chooses taken out, and once where it is a list of it."""
    return REPEATED.sub(r"\1", "".join(map(general, tokens)))


def general(token: str) -> str:
    """What ``token`` is, if a case may choose it; else the token itself."""
    if KEPT.fullmatch(token):
        return token
    if token[0] in "'\"" and len(token) > 1:
        return QUOTED
    if token[0] in "[(" and len(token) > 1:
        return NUMBERS
    if token[-1] == "(" and len(token) > 1:
        return f"{A_NAME}("
    if token[0].isdigit() or (token[0] == "-" and len(token) > 1):
        return NUMBER
    if token in ("nan", "inf"):
        return NUMBER
    if token in ("True", "False", "None"):
        return CONSTANT
    if NAME.match(token):
        return A_NAME
    return token if len(token) <= MAX_WORD else token[:MAX_WORD] + ELLIPSIS
