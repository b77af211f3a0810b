"""The vocabulary of cases has what a case may say, by rule and by list, and nothing that harms."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest
from fakes.refusals import VOCABULARY, refused

import mindtorch_v2
from conformance import names
from conformance.grammar import parse
from conformance.vocabulary import (
    LITERAL_CALLS,
    Vocabulary,
    for_profile,
    operator_name,
    tensor_type,
)
from mindtorch_v2 import profile


def test_names_of_the_profile_come_in_unless_something_speaks_against_them() -> None:
    assert {"sinh", "indices", "CPU", "_dispatch_keys", "def_"} <= VOCABULARY.attributes
    out = {"os", "copy", "from_file", "load_something", "__class__", "_jit_set_profiling_mode"}
    assert not out & VOCABULARY.attributes


@pytest.mark.parametrize("name", ["os", "from_file", "__class__", "load_it", "higher_order"])
def test_a_vocabulary_with_a_forbidden_name_cannot_be_made(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Vocabulary(names.SETTABLE | {name})


def test_what_is_settable_is_an_attribute() -> None:
    with pytest.raises(ValueError, match="elem"):
        Vocabulary(names.SETTABLE - {"elem"})


def test_the_lists_contradict_neither_each_other_nor_the_rules() -> None:
    assert not names.JUDGED.keys() & names.NEVER.keys()
    assert not names.DEFINABLE & names.READABLE
    by_hand = names.C_NAMES.keys() | names.PROPERTIES | names.DISPATCH
    assert all(name in by_hand or name.startswith(names.C_PREFIXES) for name in LITERAL_CALLS)


def test_no_method_of_pythons_own_types_that_looks_up_by_string_is_listed() -> None:
    assert not {"format", "format_map", "mro", "translate"} & VOCABULARY.attributes


@pytest.mark.parametrize("name", profile.known())
def test_every_stored_profile_makes_a_vocabulary(name: str) -> None:
    made = for_profile(name)
    assert {"add", "float32", "CPU", "DispatchKeySet", "_dispatch_dump"} <= made.attributes
    assert "aten" in made.operators
    assert not {"os", "sys", "from_file", "_from_blob", "share_memory_"} & made.attributes


def reached(root: Any, names: frozenset[str], depth: int) -> Iterator[tuple[str, Any]]:
    """What attributes with these names reach from ``root``, and by which path."""
    seen: set[int] = set()
    level = [("xp", root)]
    for _ in range(depth):
        found = []
        for path, owner in level:
            for name in names.intersection(dir(owner)):
                value = getattr(owner, name, None)
                if isinstance(value, (type, ModuleType, FunctionType)) and id(value) not in seen:
                    seen.add(id(value))
                    found.append((f"{path}.{name}", value))
        yield from found
        level = found


def test_no_module_but_its_own_is_reached_in_the_subject() -> None:
    foreign = {
        path: value
        for path, value in reached(mindtorch_v2, for_profile("2.4").attributes, 5)
        if isinstance(value, ModuleType) and not value.__name__.startswith("mindtorch_v2")
    }
    assert not foreign


def test_free_attributes_are_asked_for() -> None:
    refused("xp.nosuch_name")
    free = VOCABULARY.with_free_attributes()
    assert parse("xp.nosuch_name.nosuch2, xp._C.nosuch_c", free)
    for text in ("xp.nosuchName", "xp.nosuc", "xp._nosuch", "xp.nosuch_x.os"):
        refused(text, free)
    with pytest.raises(ValueError, match="starts with"):
        VOCABULARY.with_free_attributes("o")


def test_helpers_are_added_and_the_vocabulary_itself_does_not_change() -> None:
    more = VOCABULARY.with_helpers("names")
    assert parse("names", more)
    refused("names")


@pytest.mark.parametrize("text", ["aten::add", "aten::add.out", "nowhere::zorg", "add", "", "::"])
def test_operators_are_named_by_strings(text: str) -> None:
    assert operator_name(text) is None


@pytest.mark.parametrize(
    "text", ["aten::save", "aten::from_file.out", "prim::x", "a::__x", "x::load_x", "b::a::save"]
)
def test_operators_that_are_refused_are_refused_in_strings(text: str) -> None:
    assert operator_name(text)


@pytest.mark.parametrize("text", ["torch.FloatTensor", "torch.cuda.HalfTensor"])
def test_tensor_types_are_named_by_strings(text: str) -> None:
    assert tensor_type(text) is None


@pytest.mark.parametrize("text", ["os.abort", "torch", "torch.a.b.XTensor", "os.XTensor", "é"])
def test_other_strings_name_no_tensor_type(text: str) -> None:
    assert tensor_type(text)
