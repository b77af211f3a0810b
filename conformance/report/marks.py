"""How a case and its outcomes are shown: every character visible, every difference marked.

Case texts and messages come from strangers.  What a screen would hide or obey (control
characters, bidirectional overrides, zero-width and no-break spaces, lone surrogates) is shown
as ``<U+202E>``; the JSON report alone keeps such characters as they are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

from conformance.case import OWN_SUBJECT, Case
from conformance.compare import Comparison, Span, difference
from conformance.outcome import Outcome
from conformance.report.model import Facts

SpanKind = Literal["same", "left", "right"]
PieceKind = Literal["same", "only", "gap"]
Piece = tuple[PieceKind, str]
"""A piece of one side of a difference; ``gap`` stands where only the other side has text."""

WORD: Final = re.compile(r"\w+[,.:;]?\s*|[^\w\s]\s*|\s+")
"""A word goes with the comma and the space after it: alone, these would match everywhere."""
PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|.", re.DOTALL)
"""The parts of a word: ``AutogradCPU`` is ``Autograd`` and ``CPU``."""
MAX_PAIRS: Final = 1_000_000
"""Beyond so many pairs of equal words a difference would take seconds: it is left coarse."""
MAX_REFINED: Final = 400
"""A differing stretch longer than this is not searched for equal characters inside it."""
SHORT: Final = 12
"""An equal stretch up to this long may be marked along with the differences around it."""
ALIKE: Final = 0.3
"""With a smaller part of the shorter one in common, two texts are shown as wholly different."""


def is_plain(char: str) -> bool:
    """Whether a screen shows ``char`` as itself, and as nothing else."""
    return char.isprintable() or char == "\n"


def code_point(char: str) -> str:
    return f"<U+{ord(char):04X}>"


def visible(text: str, encoding: str = "utf-8") -> str:
    """``text`` with all that a screen hides, or ``encoding`` lacks, as ``<U+…>``."""
    if encoding == "utf-8" and text.replace("\n", "").isprintable():
        return text
    return "".join(
        char if is_plain(char) and _encodes(char, encoding) else code_point(char) for char in text
    )


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def command(comparison: Comparison, facts: Facts | None = None) -> str:
    """The reproduce command, on one line, of characters that are safe to paste.

    Of a run of mindtorch_v2 against a live torch, in the environments of nox.  These have no
    third-party subject, and a recording is of a torch that need not be there: such a case is run
    where the suite was.

    A text with line breaks or hidden characters is quoted as ``$'…'``, which bash, zsh and
    ksh read back exactly; one that no command line can hold goes by its id.
    """
    case = _argument(comparison.case)
    words = []
    if facts is not None and facts.subject != OWN_SUBJECT:
        words += ["--subject", shell_quote(visible(facts.subject))]
    if facts is not None and facts.oracle == "recorded":
        words += ["--torch", facts.torch]
    return " ".join(
        ["conformance reproduce", *words, case] if words else ["nox -s reproduce --", case]
    )


def _argument(case: Case) -> str:
    if case.text.isprintable():
        return shell_quote(case.text)
    if "\0" in case.text or any("\ud800" <= char <= "\udfff" for char in case.text):
        return shell_quote(visible(case.id))
    return f"$'{''.join(map(_ansi_c, case.text))}'"


def shell_quote(text: str) -> str:
    """``text`` as one word of a POSIX shell; line breaks and quotes included."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _ansi_c(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char == "\n":
        return "\\n"
    if char.isprintable():
        return char
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x80 else f"\\U{point:08x}"


def sides(comparison: Comparison) -> tuple[str, str]:
    """Both outcomes as text; as JSON where they differ and yet read alike."""
    left, right = str(comparison.oracle), str(comparison.subject)
    if left == right and comparison.oracle != comparison.subject:
        return _exact(comparison.oracle), _exact(comparison.subject)
    return left, right


def _exact(outcome: Outcome) -> str:
    return json.dumps(outcome.to_json(), ensure_ascii=False)


def marked(comparison: Comparison) -> list[Span]:
    """The difference of the two outcomes; of different kinds, they have nothing in common."""
    left, right = sides(comparison)
    if comparison.oracle.kind != comparison.subject.kind:
        return list(_spans([("", left, right)]))
    return spans(left, right)


def spans(left: str, right: str) -> list[Span]:
    """The character-level difference of two texts, in stretches that people can read.

    Words are matched first, then the parts of the words that differ, then characters; equal
    crumbs between two differences are marked with them.  The spans give both texts back.
    """
    return list(_spans(_refine(left, right, (WORD, PART))))


Hunk = tuple[str, str, str]
"""An equal stretch, then what only the left and what only the right text has after it."""


def _refine(left: str, right: str, levels: tuple[re.Pattern[str], ...]) -> list[Hunk]:
    """The hunks of two texts, cut by ``levels`` in turn; one hunk when they are hardly alike."""
    if levels:
        hunks = _join_crumbs(_refined(_matched(left, right, levels[0]), levels[1:]))
    elif max(len(left), len(right)) > MAX_REFINED:
        return [("", left, right)]
    else:
        hunks = _join_crumbs(_hunks(difference(left, right)))
    shared = sum(len(same) for same, _, _ in hunks)
    return hunks if shared >= ALIKE * min(len(left), len(right)) else [("", left, right)]


def _refined(parts: Iterable[Span], levels: tuple[re.Pattern[str], ...]) -> Iterator[Hunk]:
    for same, left, right in _hunks(parts):
        if left and right:
            first, *rest = _refine(left, right, levels)
            yield same + first[0], first[1], first[2]
            yield from rest
        else:
            yield same, left, right


def _matched(left: str, right: str, unit: re.Pattern[str]) -> Iterator[Span]:
    """The difference by ``unit``."""
    for kind, found in matched(unit.findall(left), unit.findall(right)):
        yield kind, "".join(found)


def matched(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[SpanKind, Sequence[str]]]:
    """The difference of two lists of words, sought between what both begin and end with."""
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    yield "same", a[:head]
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    counts_a, counts_b = Counter(middle_a), Counter(middle_b)
    if sum(count * counts_b[word] for word, count in counts_a.items()) > MAX_PAIRS:
        yield "left", middle_a
        yield "right", middle_b
    else:
        matcher = SequenceMatcher(None, middle_a, middle_b, autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag == "equal":
                yield "same", middle_a[i:j]
            else:
                yield "left", middle_a[i:j]
                yield "right", middle_b[k:m]
    yield "same", a[len(a) - tail :]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words ``a`` and ``b`` begin with in common."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(a), len(b)))


def _hunks(parts: Iterable[Span]) -> Iterator[Hunk]:
    same = left = right = ""
    for kind, text in parts:
        if not text:
            continue
        if kind == "same":
            if left or right:
                yield same, left, right
                same = left = right = ""
            same += text
        elif kind == "left":
            left += text
        else:
            right += text
    yield same, left, right


def _join_crumbs(hunks: Iterable[Hunk]) -> list[Hunk]:
    """Join two hunks when the equal stretch between them is smaller than either of them."""
    joined: list[Hunk] = []
    for same, left, right in hunks:
        while joined:
            before, left_before, right_before = joined[-1]
            differed = max(len(left_before), len(right_before))
            differs = max(len(left), len(right))
            if differed and len(same) > min(SHORT, differed, differs):
                break
            joined.pop()
            if differed:
                left, right = left_before + same + left, right_before + same + right
                same = before
            else:
                same = before + same
        joined.append((same, left, right))
    return joined


def _spans(hunks: Sequence[Hunk]) -> Iterator[Span]:
    for same, left, right in hunks:
        if same:
            yield "same", same
        if left:
            yield "left", left
        if right:
            yield "right", right


def panes(parts: Sequence[Span]) -> tuple[list[Piece], list[Piece]]:
    """A difference as two sides, each with its own text and a gap where it lacks some."""
    left: list[Piece] = []
    right: list[Piece] = []
    for same, only_left, only_right in _hunks(parts):
        if same:
            left.append(("same", same))
            right.append(("same", same))
        if only_left or only_right:
            left.append(("only", only_left) if only_left else ("gap", ""))
            right.append(("only", only_right) if only_right else ("gap", ""))
    return left, right


def inline(parts: Sequence[Span], context: int = 60) -> str:
    """A difference on one line, as ``same [-left-]{+right+} same``, long equal parts shortened."""
    kinds = {kind for kind, _ in parts}
    if "same" not in kinds:
        return "everything"
    if kinds == {"same"}:
        return "none"
    shown = []
    for position, (kind, text) in enumerate(parts):
        if kind == "left":
            shown.append(f"[-{text}-]")
        elif kind == "right":
            shown.append(f"{{+{text}+}}")
        else:
            head = 0 if position == 0 else context
            tail = 0 if position == len(parts) - 1 else context
            shown.append(_shortened(text, head, tail))
    return "".join(shown).replace("\n", "<U+000A>")


def _shortened(text: str, head: int, tail: int) -> str:
    left_out = len(text) - head - tail
    if left_out < 40:
        return text
    return f"{text[:head]}[... {left_out:,} characters alike ...]{text[len(text) - tail :]}"
