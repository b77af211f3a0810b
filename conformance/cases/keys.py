"""Area ``keys``: what dispatch keys there are, their values, names, classes and relations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import (
    KEY,
    C,
    all_keys,
    call,
    key_names,
    members,
    some_keys,
    value,
    wrong_calls,
)
from mindtorch_v2.profile import KeyFacts, Profile

OF_ONE_KEY: Final = (
    "_dispatch_key_name",
    "_dispatch_key_parse",
    "_dispatch_is_alias_key",
    "_to_functionality_key",
    "_functionality_to_backend_keys",
    "_dispatch_get_backend_keyset_from_autograd",
)
"""Functions of one key, which take its name as well."""

QUESTIONS: Final = (
    "{}",
    "{}.name",
    "{}.value",
    "int({})",
    "str({})",
    "hash({})",
    "bool({})",
    "float({})",
    "{}.__index__()",
    "type({})",
)

OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "|", "&", "^", "<<", "%", "in")

INTEGERS: Final = [
    "-1",
    "0",
    "1",
    "46",
    "47",
    "143",
    "255",
    "256",
    "65535",
    "65536",
    "100000",
    "1.0",
    "1.5",
    "True",
    "False",
    "None",
    "'1'",
    "b'1'",
    "[]",
    "1j",
]


def texts(profile: Profile) -> Iterator[Text]:
    facts = profile.keys
    yield from _the_enum(facts)
    yield from _functions(facts)
    yield from _aliases(facts)
    yield from _devices(facts)


def _the_enum(facts: KeyFacts) -> Iterator[Text]:
    listing = f"[(name, int(key)) for name, key in {KEY}.__members__.items()]"
    for text in (listing, f"{KEY}.__doc__", f"len({KEY}.__members__)", KEY, f"type({KEY})"):
        yield "DispatchKey", text
    for key in members(facts):
        for question in QUESTIONS:
            yield "DispatchKey", question.format(key)
    for number in [*range(max(facts.alias_keys.values()) + 20), *INTEGERS]:
        yield "DispatchKey.__init__", f"{KEY}({number})"
    for text in wrong_calls(KEY, ["1"]):
        yield "DispatchKey.__init__", text
    for text in (f"{KEY}.nosuch", f"{KEY}.CPU.nosuch", f"{KEY}['CPU']", f"{KEY}.CPU.CUDA"):
        yield "DispatchKey", text
    for other in (f"{KEY}.CPU", f"{KEY}.CUDA", value(1), "1", "None", '"CPU"', "1.5", "[]"):
        for operator in OPERATORS:
            yield f"DispatchKey {operator}", f"{KEY}.CPU {operator} {other}"
            yield f"DispatchKey {operator}", f"{other} {operator} {KEY}.CPU"
    for text in (f"-{KEY}.CPU", f"~{KEY}.CPU", f"abs({KEY}.CPU)", f"[0, 1][{KEY}.Dense]"):
        yield "DispatchKey operators", text


def _functions(facts: KeyFacts) -> Iterator[Text]:
    for name in OF_ONE_KEY:
        callee = f"{C}.{name}"
        for argument in all_keys(facts) + key_names(facts):
            yield name, call(callee, [argument])
        for text in wrong_calls(callee, [f"{KEY}.CPU"]):
            yield name, text
    for name in key_names(facts):
        yield "_parse_dispatch_key", f"{C}._parse_dispatch_key({name})"
    for text in wrong_calls(f"{C}._parse_dispatch_key", ['"CPU"']):
        yield "_parse_dispatch_key", text
    yield "_dispatch_num_backends", f"{C}._dispatch_num_backends()"
    for text in wrong_calls(f"{C}._dispatch_num_backends", []):
        yield "_dispatch_num_backends", text


def _aliases(facts: KeyFacts) -> Iterator[Text]:
    name = "_dispatch_is_included_in_alias"
    aliases = [f'"{alias}"' for alias in facts.alias_keys] + some_keys(facts)
    for key in all_keys(facts):
        for alias in aliases:
            yield name, f"{C}.{name}({key}, {alias})"
    for text in wrong_calls(f"{C}.{name}", [f"{KEY}.CPU", f"{KEY}.Autograd"]):
        yield name, text


def _devices(facts: KeyFacts) -> Iterator[Text]:
    name = "_dispatch_key_for_device"
    suffixes = ("", ":0", ":1", ":127", ":128", ":255", ":2147483648", ":01", ":-1", ":", ":a", " ")
    for device in (*facts.devices, "CPU", "nosuch", "", "_", "cpu_", "npux"):
        for suffix in suffixes:
            yield name, f'{C}.{name}("{device}{suffix}")'
    for text in wrong_calls(f"{C}.{name}", ['"cpu"']):
        yield name, text


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A function of keys with arguments that are mostly keys, names or integers."""
    facts = profile.keys
    argument = st.one_of(
        st.sampled_from(all_keys(facts)),
        st.sampled_from(key_names(facts)),
        st.integers(-2, 70000).map(value),
        st.text(st.characters(codec="utf-8"), max_size=12).map(repr),
        st.integers().map(repr),
        st.floats().filter(lambda number: number == number and abs(number) < 1e300).map(repr),
        st.binary(max_size=6).map(repr),
        st.sampled_from(["None", "True", "[]"]),
    )
    names = (*OF_ONE_KEY, "_parse_dispatch_key", "_dispatch_key_for_device")
    one = st.tuples(st.sampled_from([*names, "DispatchKey"]), argument).map(
        lambda drawn: (drawn[0], f"{C}.{drawn[0]}({drawn[1]})")
    )
    alias = st.tuples(argument, argument).map(
        lambda pair: (
            "_dispatch_is_included_in_alias",
            f"{C}._dispatch_is_included_in_alias({pair[0]}, {pair[1]})",
        )
    )
    number = st.integers(0, 999).map(str)
    name = "_dispatch_key_for_device"
    colons = st.sampled_from(["", ":", "::"])
    device = st.tuples(st.sampled_from(facts.devices), colons, number).map(
        lambda parts: (name, f"{C}.{name}({''.join(parts)!r})")
    )
    return st.one_of(one, alias, device)


AREA: Final = Area("keys", texts, strategy)
