"""``torch-<version>.html``: a run as one page that needs nothing but itself.

Every text passes through Jinja's autoescape, and the page's own policy forbids any script or
style but the two whose hashes it names: a text that got past the escaping would still not run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final
from unicodedata import name as unicode_name

from jinja2 import Environment, StrictUndefined, Template

from conformance.compare import Comparison
from conformance.report.atomic import write_text
from conformance.report.marks import (
    PieceKind,
    code_point,
    command,
    is_plain,
    marked,
    panes,
    visible,
)
from conformance.report.model import DIFFERING, AreaResult, Run, number

TEMPLATE: Final = Path(__file__).with_name("template.html.j2")

LEAST_FOLDED: Final = 120
"""Less than this is not worth a button."""
FOLD: Final[dict[PieceKind, tuple[int, int]]] = {
    "same": (160, 160),
    "only": (1200, 200),
    "gap": (0, 0),
}
"""How much of a long stretch stays in sight at its two ends."""
OPEN: Final = 60
"""An area with more differing cases unfolds only its first target; with more targets, no table."""

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


@dataclass(frozen=True, slots=True)
class Group:
    """The differing cases of one target."""

    target: str
    anchor: str
    blocks: list[Block]
    open: bool


@dataclass(frozen=True, slots=True)
class Section:
    """An area as the page shows it."""

    area: AreaResult
    anchor: str
    groups: list[Group]
    casualties: list[Block]
    """Those that differ in nothing; the others stand among the differing cases."""
    elsewhere: list[tuple[str, str]]
    """The id and the anchor of each casualty that stands among the differing cases."""

    @property
    def anchors(self) -> dict[str, str]:
        """Where the differing cases of a target are."""
        return {group.target: group.anchor for group in self.groups}

    @property
    def open(self) -> bool:
        """Whether the table of targets is unfolded: it says where to look, while it is short."""
        return bool(self.groups) and len(self.area.targets) <= OPEN


def write(run: Run, path: Path) -> None:
    write_text(path, _pieces(run))


def render(run: Run) -> str:
    """The page."""
    return "".join(_pieces(run))


def _pieces(run: Run) -> Iterator[str]:
    template, policy = _template()
    seen: set[str] = set()
    sections = [_section(area, seen) for area in run.areas]
    return template.generate(run=run, sections=sections, policy=policy, facts=_facts(run))


@cache
def _template() -> tuple[Template, str]:
    """The template, and the policy that allows its own script and style alone."""
    source = TEMPLATE.read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(visible=visible, tokens=tokens, count=number)
    script, style = (_hash(source, tag) for tag in ("script", "style"))
    policy = (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.from_string(source), policy


def _hash(source: str, tag: str) -> str:
    (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _facts(run: Run) -> list[tuple[str, str]]:
    facts = run.facts
    rows = [
        ("PyTorch", f"{facts.full_version}, {facts.oracle}"),
        ("git hash", facts.git_hash),
        ("subject", facts.subject),
        ("profile", facts.profile),
        ("suite", facts.suite),
        ("Python", facts.python),
        ("platform", facts.platform),
        ("started", facts.started.replace("T", " ").replace("Z", " UTC")),
        ("took", _duration(run.seconds)),
        ("hypothesis", facts.hypothesis_profile),
        ("seed", "" if facts.seed is None else str(facts.seed)),
    ]
    return [(name, value) for name, value in rows if value]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _section(area: AreaResult, seen: set[str]) -> Section:
    first_only = len(area.differing) > OPEN
    groups: list[Group] = []
    for target, comparisons in groupby(area.differing, key=lambda each: each.case.target):
        anchor = _anchor(f"{area.name}/{target}")
        blocks = _blocks(comparisons, seen)
        groups.append(Group(target, anchor, blocks, not (first_only and groups)))
    casualties = [each for each in area.casualties if each.verdict not in DIFFERING]
    elsewhere = [
        (each.case.id, _anchor(each.case.id))
        for each in area.casualties
        if each.verdict in DIFFERING
    ]
    return Section(area, f"area-{_anchor(area.name)}", groups, _blocks(casualties, seen), elsewhere)


def _blocks(comparisons: Iterable[Comparison], seen: set[str]) -> list[Block]:
    """Blocks; a case that is there twice (generated, and drawn again) has its anchor once."""
    blocks = []
    for comparison in comparisons:
        anchor = _anchor(comparison.case.id)
        blocks.append(_block(comparison, "" if anchor in seen else anchor))
        seen.add(anchor)
    return blocks


def _block(comparison: Comparison, anchor: str) -> Block:
    text = tokens(comparison.case.text)
    difference = marked(comparison)
    whole = bool(difference) and not any(kind == "same" for kind, _ in difference)
    oracle, subject = panes(difference)
    return Block(
        comparison,
        anchor,
        text,
        not any(name for _, name in text),
        whole,
        [_stretch(kind, piece, whole) for kind, piece in oracle],
        [_stretch(kind, piece, whole) for kind, piece in subject],
        command(comparison),
    )


def _anchor(text: str) -> str:
    """``text`` as a fragment that needs no escaping; two texts never give the same one."""
    return re.sub(r"[^A-Za-z0-9_./-]", lambda char: f"~{ord(char[0]):x}~", text)


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
