"""The operators of the profile by name: which there are, in torch's order, and their schema texts.

No schema is parsed here.  Mirrors ``getAllOperatorsFor`` and ``getAllSortedOperatorsFor`` in
``torch/csrc/jit/runtime/operator.cpp``: of one name, the dispatcher's overloads come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from mindtorch_v2 import profile


class OperatorText(NamedTuple):
    """One operator: ``aten::add``, ``Tensor``, its schema as text, whether dispatch knows it."""

    name: str
    overload_name: str
    schema: str
    in_dispatcher: bool


@cache
def registered() -> Mapping[str, tuple[OperatorText, ...]]:
    """Every name with its operators in the order of registration."""
    facts = profile.active().schemas
    dispatched = frozenset(facts["dispatcher_names"])
    found: dict[str, list[OperatorText]] = {}
    for text in facts["schemas"]:
        full_name = text.partition("(")[0]
        name, _, overload_name = full_name.partition(".")
        operator = OperatorText(name, overload_name, text, full_name in dispatched)
        found.setdefault(name, []).append(operator)
    return {name: tuple(operators) for name, operators in found.items()}


def in_registration_order(name: str) -> tuple[OperatorText, ...]:
    """The operators of one name; none if there is no such name."""
    return registered().get(name, ())


def in_call_order(name: str) -> tuple[OperatorText, ...]:
    """The operators of one name in the order in which a call of the packet tries them."""
    return tuple(sorted(in_registration_order(name), key=lambda found: not found.in_dispatcher))


def check_qualified(name: str) -> None:
    """``Symbol::fromQualString``: RuntimeError for a name without namespace."""
    if "::" not in name:
        raise RuntimeError(
            f"all symbols must have a namespace, <namespace>::<string>, but found: {name}"
        )
