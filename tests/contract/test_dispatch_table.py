"""The runtime index of a key, offsets and masks, and what an operator's table passes over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mindtorch_v2 as xp
from mindtorch_v2 import profile
from mindtorch_v2.dispatch import PRIORITY, DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.dispatch_table import (
    NUM_RUNTIME_ENTRIES,
    OFFSETS_AND_MASKS,
    DispatchTable,
    table_index,
    table_index_of_key,
)
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import MISSING, Kernel, fallthrough
from mindtorch_v2.dispatch.key import EXTENSION_KEYS, to_functionality_key
from mindtorch_v2.dispatch.keyset import (
    FULL,
    highest_priority_type_id,
    runtime_keys,
    table_key,
)
from mindtorch_v2.dispatch.library import Library, python_kernel
from mindtorch_v2.dispatch.operator_entry import OperatorEntry
from mindtorch_v2.schema.parser import parse_schema

FACTS: Final = profile.active().keys
K: Final = DispatchKey
BACKENDS: Final = len(FACTS.backends)
PER_BACKEND: Final = tuple(FACTS.per_backend)
RUNTIME: Final = [K.Undefined, *map(K, runtime_keys(FULL))]
ALL: Final = [key for key in PRIORITY if DispatchKeySet(key).mask]


def kernel(name: str) -> Kernel:
    return python_kernel(lambda: name, name)


def table_of(**kernels: Kernel) -> DispatchTable:
    return DispatchTable({int(K[name]): each for name, each in kernels.items()})


# Places -----------------------------------------------------------------------------------------


def test_there_is_a_place_for_each_functionality_and_each_further_backend() -> None:
    functionalities = len(FACTS.functionality_keys)
    assert functionalities + len(PER_BACKEND) * (BACKENDS - 1) == NUM_RUNTIME_ENTRIES
    assert len(RUNTIME) == NUM_RUNTIME_ENTRIES


def test_the_sizes_of_the_releases() -> None:
    """Counted by hand: functionalities, Undefined among them, and for each of the six that are
    customizable all backends but one."""
    sizes = {"2.4": 46 + 6 * 14, "2.13": 47 + 6 * 15}
    assert sizes.get(profile.active().name, NUM_RUNTIME_ENTRIES) == NUM_RUNTIME_ENTRIES


def test_a_functionality_begins_where_the_one_before_it_ends() -> None:
    expected = 0
    for functionality, (offset, mask) in enumerate(OFFSETS_AND_MASKS):
        per_backend = FACTS.functionality_keys[functionality] in PER_BACKEND
        assert offset == expected
        assert mask == ((1 << BACKENDS) - 1 if per_backend else 0)
        expected += BACKENDS if per_backend else 1
    assert expected == NUM_RUNTIME_ENTRIES


def test_every_runtime_key_has_a_place_of_its_own() -> None:
    assert [table_index_of_key(key) for key in RUNTIME] == list(range(NUM_RUNTIME_ENTRIES))


def test_the_extension_keys_have_theirs_behind_all_of_torchs() -> None:
    places = sorted(table_index_of_key(key) for key in EXTENSION_KEYS.values())
    first = NUM_RUNTIME_ENTRIES
    assert places == list(range(first, first + len(EXTENSION_KEYS)))


@pytest.mark.parametrize("name", PER_BACKEND)
def test_a_functionality_without_backend_has_the_place_of_the_first_backend(name: str) -> None:
    first = K[FACTS.per_backend[name] + FACTS.backends[0]]
    assert table_index_of_key(K[name]) == table_index_of_key(first)


@pytest.mark.parametrize("name", ["Undefined", "Autograd", "CompositeImplicitAutograd"])
def test_what_is_in_no_set_has_the_first_place(name: str) -> None:
    assert table_index_of_key(K[name]) == 0


@given(st.lists(st.sampled_from(ALL)))
def test_the_place_of_a_set_is_that_of_its_highest_key(keys: list[DispatchKey]) -> None:
    mask = DispatchKeySet.of(*keys).mask
    assert table_index(mask) == table_index_of_key(table_key(highest_priority_type_id(mask)))


@given(st.lists(st.sampled_from(ALL)), st.sets(st.sampled_from(ALL)))
def test_a_table_answers_the_kernel_at_the_highest_key(
    keys: list[DispatchKey], present: set[DispatchKey]
) -> None:
    table = DispatchTable({int(key): kernel(key.name) for key in present})
    highest = next(DispatchKeySet.of(*keys).iter_keys(), None)
    if highest is not None:
        found = table.lookup(DispatchKeySet.of(*keys).mask)
        assert found == (highest, table.get(highest, MISSING))


def test_a_table_keeps_nothing_of_what_is_missing() -> None:
    table = table_of(CPU=kernel("CPU"), Meta=MISSING)
    assert list(table) == [K.CPU]
    assert table.lookup(DispatchKeySet(K.Meta).mask) == (K.Meta, MISSING)


# What is passed over ----------------------------------------------------------------------------


def left(table: DispatchTable, *names: str) -> str:
    """The keys that are left of a call with these."""
    mask = DispatchKeySet.of(*(K[name] for name in names)).mask
    return str(DispatchKeySet.from_mask(table.non_fallthrough(mask, mask)))


def test_without_fallthroughs_all_keys_are_left() -> None:
    table = table_of(CPU=kernel("CPU"))
    assert not table.requires_bitset_per_backend
    assert set(table.non_fallthrough_keys_per_backend.values()) == {FULL}
    assert left(table, "CPU", "AutogradCPU", "Conjugate") == (
        "DispatchKeySet(CPU, Conjugate, AutogradCPU)"
    )


def test_a_functionality_of_all_backends_is_passed_over_for_all() -> None:
    table = table_of(Conjugate=fallthrough(""), BackendSelect=fallthrough(""))
    assert not table.requires_bitset_per_backend
    for backend in ("CPU", "CUDA", "NPU", "Meta"):
        keys = (backend, "Conjugate", "Negative", "BackendSelect")
        assert left(table, *keys) == left(table, backend, "Negative")


def test_a_functionality_of_one_backend_is_passed_over_where_that_is_the_highest() -> None:
    table = table_of(AutogradCUDA=fallthrough(""))
    assert table.requires_bitset_per_backend
    assert left(table, "CPU", "AutogradCPU") == "DispatchKeySet(CPU, AutogradCPU)"
    assert left(table, "CUDA", "AutogradCUDA") == "DispatchKeySet(CUDA)"
    assert left(table, "CPU", "CUDA", "AutogradCPU") == "DispatchKeySet(CPU, CUDA)"
    assert left(table, "CUDA", "Meta", "AutogradCUDA") == (
        "DispatchKeySet(CUDA, Meta, AutogradCUDA, AutogradMeta)"
    )


def test_passing_over_a_backends_kernels_leaves_its_bit() -> None:
    """As everywhere, what is taken away is a functionality: no other backend is called instead."""
    table = table_of(CUDA=fallthrough(""), CPU=kernel("CPU"))
    mask = DispatchKeySet.of(K.CPU, K.CUDA).mask
    rest = table.non_fallthrough(mask, mask)
    assert rest == mask & ((1 << BACKENDS) - 1)
    assert table.lookup(rest) == (K.Undefined, MISSING)


@pytest.mark.parametrize("name", ["Pipeline", "NPU", "AutogradNPU"])
def test_extension_keys_are_passed_over_like_torchs(name: str) -> None:
    table = table_of(**{name: fallthrough("")})
    assert left(table, name, "BackendSelect") == "DispatchKeySet(BackendSelect)"
    assert left(table_of(CPU=kernel("CPU")), name) == f"DispatchKeySet({name})"


@given(st.lists(st.sampled_from(ALL)), st.sets(st.sampled_from(ALL)))
@example([K.NestedTensorNPU, K.QuantizedPrivateUse3], {K.NestedTensorNPU})  # a bit above torch's
def test_what_is_left_is_what_its_backend_does_not_pass_over(
    keys: list[DispatchKey], passed: set[DispatchKey]
) -> None:
    """Against a model: the highest key is found by asking one key after the other."""
    table = DispatchTable({int(key): fallthrough("") for key in passed})
    mask = DispatchKeySet.of(*keys).mask
    rest = DispatchKeySet.from_mask(table.non_fallthrough(mask, mask))
    functionalities: dict[int, DispatchKey] = {}
    for key in DispatchKeySet.from_mask(mask).iter_keys():
        functionalities.setdefault(to_functionality_key(int(key)), key)
    # one key per functionality: that of the highest backend
    tops = [key for key in functionalities.values() if key not in passed]
    highest = highest_priority_type_id(rest.mask)
    backends_only = not functionalities
    assert backends_only or (K(highest) == tops[0] if tops else highest == K.Undefined)


# Operators --------------------------------------------------------------------------------------


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library("FRAGMENT", "contract", None)
    made.define_schema(parse_schema("table(Tensor x) -> Tensor"), "CONSERVATIVE")
    try:
        yield made
    finally:
        made.reset()


def entry() -> OperatorEntry:
    found = DISPATCHER.find("contract::table")
    assert found is not None
    return found


def test_an_operators_masks_follow_its_registrations(library: Library) -> None:
    cpu = 1
    before = entry().table.non_fallthrough_keys_per_backend[cpu]
    assert before & DispatchKeySet(K.AutogradFunctionality).mask
    other = Library("IMPL", "contract", None)
    other.impl("table", fallthrough(""), K.AutogradCPU)
    after = entry().table.non_fallthrough_keys_per_backend[cpu]
    assert after == before & ~DispatchKeySet(K.AutogradFunctionality).mask
    other.reset()
    assert entry().table.non_fallthrough_keys_per_backend[cpu] == before


def test_default_fallbacks_that_fall_through_are_in_the_masks(library: Library) -> None:
    masks = entry().table.non_fallthrough_keys_per_backend.values()
    for name in ("BackendSelect", "ADInplaceOrView", "AutocastCPU"):
        assert not any(mask & DispatchKeySet(K[name]).mask & ~1 for mask in masks)


def test_a_table_is_replaced_and_never_changed(library: Library) -> None:
    """A call that has begun goes on with the masks and kernels that belong together."""
    before = entry().table
    library.impl("table", fallthrough(""), K.CPU)
    assert entry().table is not before
    assert K.CPU not in before
    assert before.non_fallthrough_keys_per_backend[1] & DispatchKeySet(K.Dense).mask
    assert xp._C._dispatch_has_kernel("contract::table")
