"""What changed in two profiles besides schemas: keys, signatures, tables, and all the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.drift.model import Item, Section, added_and_removed, section
from mindtorch_v2.profile import KeyFacts, Profile

REST: Final = (
    *("messages", "tensors", "values", "kernels", "refs", "neural", "python_methods"),
    *(
        "conversions",
        "argument_parser",
        "devices",
        "indexing",
        "modes",
        "functionalization",
        "library",
    ),
    "schema_language",
)
"""Sections of a profile that hold single facts, each in a form of its own."""
LONG: Final = 200
"""A fact is shown up to so many characters."""


def notes(before: Profile, after: Profile) -> tuple[str, ...]:
    """What differs that is not the release's doing."""
    if before.keys.build == after.keys.build:
        return ()
    builds = " and ".join(f"{each.release}+{each.keys.build}" for each in (before, after))
    return (
        f"{builds} are different builds: a kernel for a device that one of them is built without "
        "is not gone from the release.",
    )


def keys(before: Profile, after: Profile) -> Section:
    """Dispatch keys, backends, aliases and guards."""
    old, new = before.keys, after.keys
    found = [
        *added_and_removed("key", old.functionality_keys, new.functionality_keys),
        *added_and_removed("backend", old.backends, new.backends),
        *added_and_removed("alias key", old.alias_keys, new.alias_keys),
        *added_and_removed("guard of torch._C", old.guards, new.guards),
        *added_and_removed("device", old.devices, new.devices),
        *_values("the value of a key changed", old.members, new.members),
        *_values("a guard acts at another time", *(_guards(each) for each in (old, new))),
        *_sets("an alias has other members", *(_alias_members(each) for each in (old, new))),
        *_sets("a keyset of torch._C has other keys", *(_keysets(each) for each in (old, new))),
    ]
    return section("keys", found)


def _alias_members(facts: KeyFacts) -> dict[str, set[str]]:
    """By names: another release has other numbers."""
    names = dict(enumerate(facts.functionality_keys))
    names |= {value: name for name, value in list(facts.members.items())[::-1]}
    return {
        alias: {names[value] for value in values} for alias, values in facts.alias_members.items()
    }


def _guards(facts: KeyFacts) -> dict[str, Any]:
    """When each acts, and how; its keysets are compared as such."""
    return {name: [g.at, g.restores_all, g.error] for name, g in facts.guards.items()}


def _keysets(facts: KeyFacts) -> dict[str, set[str]]:
    """Every keyset that is a constant, a default, or what a guard adds or takes away."""
    raw = dict(facts.constants)
    raw |= {"included by default": facts.default_included}
    raw |= {"excluded by default": facts.default_excluded}
    for name, guard in facts.guards.items():
        for change in ("included_added", "included_removed", "excluded_added", "excluded_removed"):
            raw[f"{name}: {change.replace('_', ', ')}"] = getattr(guard, change)
    bits = (*facts.backends, *facts.functionality_keys[1:])
    return {
        name: {key for bit, key in enumerate(bits) if keyset >> bit & 1}
        for name, keyset in raw.items()
    }


def signatures(before: Profile, after: Profile) -> Section:
    """How torch's Python names are called."""
    old, new = _signatures(before), _signatures(after)
    found = [*added_and_removed("function", old, new)]
    for name in new:
        for title, item in added_and_removed("signature", old.get(name, new[name]), new[name]):
            found.append(
                (title, Item(name, after=item.name) if "added" in title else Item(name, item.name))
            )
    fields = before.signatures["return_types"], after.signatures["return_types"]
    found += added_and_removed("return type", *fields)
    found += _values("a return type has other fields", *fields)
    return section("signatures", found)


def _signatures(profile: Profile) -> dict[str, list[str]]:
    """By module and name, what the parser is given."""
    facts = profile.signatures
    found = {
        f"{module}.{name}": [overload["signature"] for overload in function["overloads"]]
        for module, functions in facts["modules"].items()
        for name, function in functions.items()
    }
    for module, bindings in facts["manual"].items():
        for name, binding in bindings.items():
            found.setdefault(f"{module}.{name}", []).extend(binding["signatures"])
    return found


def tables(before: Profile, after: Profile) -> Section:
    """Which keys the operators have kernels at, and what stands behind them all."""
    old, new = _kernels(before), _kernels(after)
    found: list[tuple[str, Item]] = []
    for name in new:
        if name in old:
            found += ((f"a kernel at {key} is new", Item(name)) for key in new[name] - old[name])
            found += ((f"a kernel at {key} is gone", Item(name)) for key in old[name] - new[name])
    fallbacks = before.registrations["fallbacks"], after.registrations["fallbacks"]
    found += added_and_removed("backend fallback", *fallbacks)
    falls = [{key: each["fallthrough"] for key, each in side.items()} for side in fallbacks]
    found += _values("a fallback falls through, or does no more", *falls)
    return section("tables", found)


def _kernels(profile: Profile) -> dict[str, set[str]]:
    operators = profile.registrations["operators"]
    return {name: {kernel[0] for kernel in each["kernels"]} for name, each in operators.items()}


def rest(before: Profile, after: Profile) -> Iterator[Section]:
    """Every other section: its facts by where they stand in it."""
    for name in REST:
        old, new = dict(_leaves(getattr(before, name))), dict(_leaves(getattr(after, name)))
        found = [
            (_rule(path), Item(".".join(path), _short(old.get(path)), _short(new.get(path))))
            for path in dict.fromkeys((*old, *new))
            if old.get(path) != new.get(path)
        ]
        yield section(name.replace("_", " "), found)


def _rule(path: tuple[str, ...]) -> str:
    return path[0] if path else "all of it"


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is no object, with where it stands; a list is one fact."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    else:
        yield path, value


def _values(
    title: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Item]]:
    """What both have, and have otherwise."""
    for name, value in after.items():
        if name in before and before[name] != value:
            yield title, Item(name, _short(before[name]), _short(value))


def _sets(
    title: str, before: Mapping[str, set[str]], after: Mapping[str, set[str]]
) -> Iterator[tuple[str, Item]]:
    """The same of sets: what each of them alone has."""
    for name, members in after.items():
        gone, came = before.get(name, members) - members, members - before.get(name, members)
        if gone or came:
            yield title, Item(name, ", ".join(sorted(gone)), ", ".join(sorted(came)))


def _short(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= LONG else f"{text[:LONG]}…"
