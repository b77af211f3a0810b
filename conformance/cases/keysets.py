"""Area ``keysets``: construction, set operations and priorities, for every pair of keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import (
    KEY,
    KEYSET,
    WRONG,
    C,
    all_keys,
    call,
    key_names,
    keyset,
    members,
    some_keys,
    unlisted,
    wrong_calls,
)
from mindtorch_v2.profile import KeyFacts, Profile

OPERATORS: Final = ("|", "&", "-")
METHODS: Final = ("has", "add", "remove")
UNUSUAL_OPERATORS: Final = ("==", "!=", "<", "^", "+", "*", "in")
CONSTANTS: Final = (
    "_dispatch_autogradother_backends",
    "_additional_keys_to_prop_for_wrapper_tensors",
    "_after_autograd_keyset",
    "_after_ADInplaceOrView_keyset",
)
RAW: Final = [
    "0",
    "1",
    "2",
    "5",
    "65535",
    "65536",
    "65537",
    "32769",
    "(1<<15)",
    "(1<<16)",
    "(1<<40)",
    "(1<<61)",
    "(1<<62)",
    "(1<<63)",
    "(1<<62)+(1<<63)",
    "(1<<63)+65537",
    "(1<<64)-1",
    "(1<<64)",
    "-1",
    "True",
    "1.0",
]


def texts(profile: Profile) -> Iterator[Text]:
    facts = profile.keys
    yield from _sets_of_one_key(facts)
    yield from _named_sets(facts)
    yield from _pairs(facts)
    yield from _wrong_calls()


def _sets_of_one_key(facts: KeyFacts) -> Iterator[Text]:
    for key in all_keys(facts) + key_names(facts):
        yield "DispatchKeySet.__init__", keyset(key)
    for key in all_keys(facts):
        one = keyset(key)
        yield "DispatchKeySet.highestPriorityTypeId", f"{one}.highestPriorityTypeId()"
        yield "DispatchKeySet.raw_repr", f"{one}.raw_repr()"
        yield "_dispatch_keyset_to_string", f"{C}._dispatch_keyset_to_string({one})"
        yield "_dispatch_keyset_full_after", f"{C}._dispatch_keyset_full_after({key})"
    for raw in RAW:
        yield "DispatchKeySet.from_raw_repr", f"{KEYSET}.from_raw_repr({raw})"
        highest = f"{KEYSET}.from_raw_repr({raw}).highestPriorityTypeId()"
        yield "DispatchKeySet.from_raw_repr", highest


def _named_sets(facts: KeyFacts) -> Iterator[Text]:
    sets = [f"{C}._dispatch_keyset_full()", *(f"{C}.{name}" for name in CONSTANTS)]
    for named in sets:
        for text in (named, f"{named}.highestPriorityTypeId()", f"{named}.raw_repr()"):
            yield "named sets", text
        for key in all_keys(facts):
            yield "named sets", f"{named} - {keyset(key)}"
            yield "named sets", f"{named} & {keyset(key)}"
            yield "named sets", f"{named}.has({key})"
            yield "named sets", f"({named} - {keyset(key)}).highestPriorityTypeId()"


def _pairs(facts: KeyFacts) -> Iterator[Text]:
    """Every pair of the enum's keys, under every operation; unlisted values with some of them."""
    some = some_keys(facts)
    pairs = [*product(members(facts), repeat=2)]
    pairs += [*product(unlisted(facts), some), *product(some, unlisted(facts))]
    for left, right in pairs:
        for operator in OPERATORS:
            yield f"DispatchKeySet {operator}", f"{keyset(left)} {operator} {keyset(right)}"
        for method in METHODS:
            yield f"DispatchKeySet.{method}", f"{keyset(left)}.{method}({right})"
    for left, right in product(some, repeat=2):
        for operator in UNUSUAL_OPERATORS:
            yield f"DispatchKeySet {operator}", f"{keyset(left)} {operator} {keyset(right)}"
        both = f"({keyset(left)} | {keyset(right)})"
        yield "DispatchKeySet.highestPriorityTypeId", f"{both}.highestPriorityTypeId()"


def _wrong_calls() -> Iterator[Text]:
    cpu = keyset(f"{KEY}.CPU")
    for text in wrong_calls(KEYSET, [f"{KEY}.CPU"]):
        yield "DispatchKeySet.__init__", text
    for method in METHODS:
        for text in wrong_calls(f"{cpu}.{method}", [f"{KEY}.CUDA"]):
            yield f"DispatchKeySet.{method}", text
        for text in wrong_calls(f"{KEYSET}.{method}", [cpu, f"{KEY}.CUDA"]):
            yield f"DispatchKeySet.{method}", text
    for method in ("__or__", "__and__", "__sub__", "__eq__"):
        for text in wrong_calls(f"{cpu}.{method}", [cpu]):
            yield f"DispatchKeySet.{method}", text
    for method in ("highestPriorityTypeId", "raw_repr", "__repr__", "nosuch"):
        for text in wrong_calls(f"{cpu}.{method}", []):
            yield f"DispatchKeySet.{method}", text
    for operator, wrong in product((*OPERATORS, *UNUSUAL_OPERATORS), WRONG):
        yield f"DispatchKeySet {operator}", f"{cpu} {operator} {wrong}"
        yield f"DispatchKeySet {operator}", f"{wrong} {operator} {cpu}"
    for text in (f"len({cpu})", f"list({cpu})", f"bool({cpu})", f"~{cpu}"):
        yield "DispatchKeySet", text
    for name, good in (
        ("_dispatch_keyset_full", []),
        ("_dispatch_keyset_full_after", [f"{KEY}.CPU"]),
        ("_dispatch_keyset_to_string", [cpu]),
    ):
        for text in wrong_calls(f"{C}.{name}", good):
            yield name, text
    for text in wrong_calls(f"{KEYSET}.from_raw_repr", ["1"]):
        yield "DispatchKeySet.from_raw_repr", text


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Expressions over keysets, nested, asked for what they hold."""
    facts = profile.keys
    key = st.one_of(
        st.sampled_from(members(facts)),
        st.sampled_from(unlisted(facts)),
        st.integers(0, 300).map(lambda number: f"{KEY}({number})"),
    )
    leaf = st.one_of(
        key.map(keyset),
        key.map(lambda drawn: call(f"{C}._dispatch_keyset_full_after", [drawn])),
        st.sampled_from([f"{C}._dispatch_keyset_full()", *(f"{C}.{name}" for name in CONSTANTS)]),
        st.integers(0, (1 << 64) - 1).map(lambda raw: f"{KEYSET}.from_raw_repr({raw})"),
    )

    def grow(sets: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        operation = st.tuples(sets, st.sampled_from(OPERATORS), sets).map(
            lambda drawn: f"({' '.join(drawn)})"
        )
        method = st.tuples(sets, st.sampled_from(["add", "remove"]), key).map(
            lambda drawn: f"{drawn[0]}.{drawn[1]}({drawn[2]})"
        )
        return operation | method

    nested = st.recursive(leaf, grow, max_leaves=6)
    questions = st.one_of(
        st.sampled_from(["{}", "{}.highestPriorityTypeId()", "{}.raw_repr()"]),
        st.just(f"{C}._dispatch_keyset_to_string({{}})"),
        key.map(lambda drawn: f"{{}}.has({drawn})"),
    )
    return st.tuples(nested, questions).map(
        lambda drawn: ("expressions", drawn[1].format(drawn[0]))
    )


AREA: Final = Area("keysets", texts, strategy)
