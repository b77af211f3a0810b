"""What changed in operator schemas: arguments, types, defaults, returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.drift.model import Item, Section, added_and_removed, section
from mindtorch_v2.profile import Profile


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as a schema prints it."""

    name: str
    type: str
    default: str
    keyword_only: bool


def drift(before: Profile, after: Profile) -> Section:
    """Operators that came and went, and what became of the others."""
    old, new = _by_name(before), _by_name(after)
    return section("schemas", [*added_and_removed("operator", old, new), *_changed(old, new)])


def _by_name(profile: Profile) -> dict[str, str]:
    """Schemas by the name of their operator; what the JIT alone knows is not dispatched."""
    dispatched = set(profile.schemas["dispatcher_names"])
    named = ((text.partition("(")[0], text) for text in profile.schemas["schemas"])
    return {name: text for name, text in named if name in dispatched}


def _changed(old: dict[str, str], new: dict[str, str]) -> Iterator[tuple[str, Item]]:
    for name, text in new.items():
        if name in old and old[name] != text:
            titles = list(dict.fromkeys(_what(old[name], text))) or ["the text changed otherwise"]
            for title in titles:
                yield title, Item(name, old[name], text)


def _what(old: str, new: str) -> Iterator[str]:
    """Every rule that tells the one schema from the other."""
    was, now = arguments(old), arguments(new)
    kept = [name for name in now if name in was]
    if len(now) > len(kept):
        yield "an argument was added"
    if len(was) > len(kept):
        yield "an argument was removed"
    for name in kept:
        if was[name].type != now[name].type:
            yield "the type of an argument changed"
        if was[name].default != now[name].default:
            yield "the default of an argument changed"
        if was[name].keyword_only != now[name].keyword_only:
            yield "an argument became keyword-only, or is no more"
    if kept != [name for name in was if name in now]:
        yield "the order of arguments changed"
    if _returns(old) != _returns(new):
        yield "what it returns changed"


def arguments(schema: str) -> dict[str, Argument]:
    """The arguments of a printed schema, in order, by name."""
    inside = schema.partition("(")[2].rpartition(" -> ")[0].removesuffix(")")
    found: dict[str, Argument] = {}
    keyword_only = False
    for part in _split(inside):
        if part == "*":
            keyword_only = True
            continue
        declared, _, default = part.partition("=")
        kind, _, name = declared.rpartition(" ")
        found[name] = Argument(name, kind, default, keyword_only)
    return found


def _returns(schema: str) -> str:
    return schema.rpartition(" -> ")[2]


def _split(text: str) -> list[str]:
    """``text`` at its commas, but for those in brackets and in strings."""
    parts = [""]
    depth, quoted = 0, False
    for char in text:
        quoted ^= char == '"'
        if not quoted:
            depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]
