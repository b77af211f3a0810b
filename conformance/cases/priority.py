"""Area ``priority``: which key of two is handled first, for all of torch's keys.

Where the extension keys stand torch cannot say; tests/contract/test_priority.py does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import C, keyset, value
from mindtorch_v2.profile import KeyFacts, Profile

HIGHEST: Final = "highestPriorityTypeId"


def _runtime_values(facts: KeyFacts) -> list[int]:
    """Every runtime key by value: functionalities first, then the per-backend blocks."""
    return list(range(1, min(facts.alias_keys.values())))


def texts(profile: Profile) -> Iterator[Text]:
    facts = profile.keys
    functionalities = range(1, len(facts.functionality_keys))
    for low, high in combinations(functionalities, 2):
        yield "functionalities", _highest([low, high], backend="")
        yield "functionalities", _highest([low, high], backend="CPU")
    for left, right in combinations(facts.backends, 2):
        for functionality, prefix in facts.per_backend.items():
            pair = [facts.members[prefix + left], facts.members[prefix + right]]
            yield f"backends of {functionality}", _highest(pair)
            yield f"backends of {functionality}", _union(pair)
    for low, high in pairwise(_runtime_values(facts)):
        yield "neighbours", _highest([low, high])
    yield from _peeled(facts)


def _peeled(facts: KeyFacts) -> Iterator[Text]:
    """The whole order: the full set, peeled from the top one functionality at a time."""
    peel = f"""\
rest = {C}._dispatch_keyset_full()
order = []
for step in range({len(facts.functionality_keys) + 1}):
    top = rest.{HIGHEST}()
    order.append(top)
    rest = rest.remove({C}._to_functionality_key(top))
order"""
    yield "the whole order", peel
    yield "the whole order", f"{C}._dispatch_keyset_full()"
    for functionality in facts.per_backend:
        keys = f"{C}._functionality_to_backend_keys({C}.DispatchKey.{functionality})"
        yield "the whole order", keys


def _union(values: list[int]) -> str:
    return " | ".join(keyset(value(number)) for number in values)


def _highest(values: list[int], backend: str = "") -> str:
    extra = f" | {keyset(f'{C}.DispatchKey.{backend}')}" if backend else ""
    return f"({_union(values)}{extra}).{HIGHEST}()"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """The highest of several runtime keys."""
    values = st.lists(st.sampled_from(_runtime_values(profile.keys)), min_size=1, max_size=8)
    return values.map(lambda drawn: ("sets", _highest(drawn)))


AREA: Final = Area("priority", texts, strategy)
