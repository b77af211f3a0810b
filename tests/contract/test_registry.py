"""The contract of the project's registry: stages, rules, snapshots, on the dispatcher alone."""

from collections.abc import Iterator

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.dispatch_table import DispatchTable
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.global_fallthrough import global_fallthrough_keys, set_global_fallthrough
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.registry import (
    AliasError,
    register_alias,
    register_functionalization_rule,
    register_kernels,
    register_schema,
    resolve,
    stages,
)

C = torch._C
X = torch.ones(2)
META = torch.empty(2, device="meta")


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = registry.snapshot()
    yield
    registry.restore(before)


def everything() -> tuple[object, ...]:
    """What the registry has, as far as a dump shows it."""
    names = ("mine::op", "mine::op_", "mine::other", "aten::abs")
    return (
        [(C._dispatch_dump(name), C._dispatch_dump_table(name)) for name in names],
        [registry.functionalization_rule(name) for name in names],
        C._dispatch_find_dangling_impls(),
        [C._dispatch_has_kernel(name) for name in names],
        resolve("mine::alias"),
    )


def schemaless(*args: object) -> object:
    return args[0]


# --- schemas and kernels ----------------------------------------------------------------------


def test_a_registered_schema_is_an_operator_of_torch_ops():
    undo = register_schema("mine::op(Tensor x, int y=2) -> Tensor")
    assert str(torch.ops.mine.op.default._schema) == "mine::op(Tensor x, int y=2) -> Tensor"
    undo()
    assert not C._dispatch_has_kernel("mine::op")


def test_the_stages_of_an_operator_are_kernels_of_its_table():
    register_schema("mine::op(Tensor x) -> Tensor")
    seen = []
    register_kernels(
        "mine::op",
        DispatchKey.CPU,
        impl=lambda x: seen.append("impl") or x,
        meta=lambda x: seen.append("meta") or x,
        plan=lambda x: seen.append("plan"),
    )
    find = C._jit_get_operation("mine::op")[0]
    find(X)
    find(META)
    assert seen == ["impl", "meta"]  # who plans is the pipeline
    found = stages("mine::op", DispatchKey.CPU)
    assert found.plan is not None
    found.plan(X)
    assert seen[-1] == "plan"
    assert found.impl is not None
    assert found.meta is not None
    assert C._dispatch_has_kernel_for_dispatch_key("mine::op", C.DispatchKey.CPU)


def test_stages_that_an_operator_has_not_are_none():
    register_schema("mine::op(Tensor x) -> Tensor")
    assert stages("mine::op", DispatchKey.CPU) == (None, None, None)


def test_stages_of_an_operator_that_does_not_exist_are_refused_as_torch_refuses_it():
    with pytest.raises(RuntimeError, match=r"^operator mine::op does not exist$"):
        stages("mine::op", DispatchKey.CPU)


def test_stages_may_come_before_the_schema():
    undo = register_kernels("mine::op", DispatchKey.CPU, impl=schemaless, plan=schemaless)
    register_schema("mine::op(Tensor x) -> Tensor")
    assert C._jit_get_operation("mine::op")[0](X) is X
    undo()
    assert stages("mine::op", DispatchKey.CPU).plan is None
    with pytest.raises(NotImplementedError, match="Could not run 'mine::op'"):
        C._jit_get_operation("mine::op")[0](X)


def test_the_extension_backend_has_stages_of_its_own():
    register_schema("mine::op(Tensor x) -> Tensor")
    register_kernels("mine::op", DispatchKey.NPU, impl=schemaless, plan=schemaless)
    assert stages("mine::op", DispatchKey.NPU).plan is schemaless
    assert stages("mine::op", DispatchKey.CPU).plan is None


def test_stages_are_found_by_an_alias():
    register_schema("mine::op(Tensor x) -> Tensor")
    register_alias("mine::alias", "mine::op")
    register_kernels("mine::alias", DispatchKey.CPU, impl=schemaless)
    assert stages("mine::op", DispatchKey.CPU).impl == stages("mine::alias", DispatchKey.CPU).impl


# --- refusals ---------------------------------------------------------------------------------


def test_a_schema_that_is_there_is_refused_in_torchs_words():
    register_schema("mine::op(Tensor x) -> Tensor")
    before = everything()
    with pytest.raises(RuntimeError) as refused:
        register_schema("mine::op(Tensor x) -> Tensor")
    assert str(refused.value).startswith(
        "Tried to register an operator (mine::op(Tensor x) -> Tensor) with the same name and "
        "overload name multiple times. Each overload's schema should only be registered with a "
        "single call to def(). Duplicate registration: "
    )
    assert everything() == before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mine::op(", "expected"),
        ("op(Tensor x) -> Tensor", "all symbols must have a namespace"),
        ("aten::abs(Tensor self) -> Tensor", "Tried to register an operator"),
    ],
)
def test_a_wrong_schema_changes_nothing(text, why):
    before = everything()
    with pytest.raises(RuntimeError, match=why):
        register_schema(text)
    assert everything() == before


def test_a_refused_plan_takes_the_other_stages_back():
    register_schema("mine::op(Tensor x) -> Tensor")
    register_kernels("mine::op", DispatchKey.CPU, plan=schemaless)
    before = everything()
    with pytest.raises(RuntimeError, match="multiple plans for operator mine::op at the same"):
        register_kernels(
            "mine::op", DispatchKey.CPU, impl=schemaless, meta=schemaless, plan=schemaless
        )
    assert everything() == before


def test_a_refused_rule_takes_the_schema_back():
    before = everything()
    with pytest.raises(RuntimeError, match="mutates none of its arguments"):
        register_schema("mine::op(Tensor x) -> Tensor", functionalization_rule=schemaless)
    assert everything() == before


# --- rules ------------------------------------------------------------------------------------


def test_a_rule_comes_with_the_schema_and_goes_with_it():
    undo = register_schema("mine::op_(Tensor(a!) x) -> ()", functionalization_rule=schemaless)
    assert registry.functionalization_rule("mine::op_") is schemaless
    undo()
    assert registry.functionalization_rule("mine::op_") is None
    assert not C._dispatch_has_kernel("mine::op_")


def test_a_mutating_schema_without_rule_is_refused_and_changes_nothing():
    before = everything()
    for text in (
        "mine::op_(Tensor(a!) x) -> ()",
        "mine::op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "mine::op(Tensor(a!) x, Tensor(b!)? y) -> ()",
    ):
        with pytest.raises(RuntimeError) as refused:
            register_schema(text)
        assert str(refused.value).startswith(
            "Found a custom (non-ATen) operator whose output has alias annotations: "
            f"{text}. We only support functionalizing operators whose outputs do not have alias"
        )
    assert everything() == before


@pytest.mark.parametrize(
    ("functional", "is_form"),
    [
        ("mine::op(Tensor x, int y=2) -> Tensor", True),
        ("mine::op(Tensor x) -> Tensor", False),
        ("mine::op(Tensor x, float y=2) -> Tensor", False),
        ("mine::op(Tensor x, int y=2) -> Tensor[]", False),
        ("mine::op(Tensor x, int y=2) -> (Tensor, Tensor)", False),
        ("mine::op.other(Tensor x, int y=2) -> Tensor", False),
    ],
)
def test_an_in_place_operator_is_derived_from_what_takes_and_makes_the_same(functional, is_form):
    register_schema(functional)
    text = "mine::op_(Tensor(a!) x, int y=2) -> Tensor(a!)"
    if is_form:
        register_schema(text)
        assert registry.functionalization_rule("mine::op_") is not None
    else:
        with pytest.raises(RuntimeError, match="whose output has alias annotations"):
            register_schema(text)


def test_a_rule_may_come_later_but_once():
    library = C._dispatch_library("FRAGMENT", "mine", "")
    library.def_("op_(Tensor(a!) x) -> ()")
    undo = register_functionalization_rule("mine::op_", schemaless)
    with pytest.raises(RuntimeError, match="multiple functionalization rules for operator mine"):
        register_functionalization_rule("mine::op_", schemaless)
    undo()
    register_functionalization_rule("mine::op_", print)
    assert registry.functionalization_rule("mine::op_") is print


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mine::nosuch", "operator mine::nosuch does not exist"),
        ("aten::abs", "mutates none of its arguments"),
    ],
)
def test_a_rule_for_what_needs_none_is_refused(name, why):
    before = everything()
    with pytest.raises(RuntimeError, match=why):
        register_functionalization_rule(name, schemaless)
    assert everything() == before


# --- aliases of operators that are defined ----------------------------------------------------


def test_an_alias_of_a_defined_operator_goes_when_the_operator_does():
    undo = register_schema("mine::op(Tensor x) -> Tensor")
    register_kernels("mine::op", DispatchKey.CPU, impl=schemaless)
    register_alias("mine::alias", "mine::op")
    assert torch.ops.mine.alias(X) is X
    undo()
    assert C._jit_get_operation("mine::alias") == (None, None)


def test_a_defined_operator_is_not_shadowed_by_an_alias():
    register_schema("mine::op(Tensor x) -> Tensor")
    with pytest.raises(AliasError, match="would shadow the operator of that name"):
        register_alias("mine::op", "aten::abs")
    register_alias("mine::other", "aten::abs")
    register_schema("mine::other(Tensor x) -> Tensor")
    assert resolve("mine::other") == "mine::other"


# --- the state as a whole ---------------------------------------------------------------------


def test_restore_takes_back_everything_that_came_since():
    register_schema("mine::op(Tensor x) -> Tensor")
    before, state = everything(), registry.snapshot()
    library = C._dispatch_library("FRAGMENT", "mine", "")
    library.def_("other(Tensor x) -> Tensor")
    everywhere = C._dispatch_library("IMPL", "_", "")
    everywhere.fallback_fallthrough("FPGA")
    aten = C._dispatch_library("IMPL", "aten", "")
    aten.impl("abs", "CUDA", schemaless)
    register_schema("mine::op_(Tensor(a!) x) -> ()", functionalization_rule=schemaless)
    register_kernels("mine::op", DispatchKey.CPU, impl=schemaless, plan=schemaless)
    register_alias("mine::alias", "aten::abs")
    keys = global_fallthrough_keys()
    set_global_fallthrough(DispatchKey.XLA)
    assert everything() != before
    registry.restore(state)
    assert everything() == before
    assert global_fallthrough_keys() == keys
    assert not C._dispatch_has_backend_fallback(C._parse_dispatch_key("FPGA"))
    assert stages("mine::op", DispatchKey.CPU).plan is None
    for gone in (library, everywhere, aten):
        gone.reset()
    assert everything() == before
    C._dispatch_check_all_invariants()


def test_a_table_that_is_not_what_the_registrations_make_of_it_is_noticed():
    _ = register_schema("mine::op(Tensor x) -> Tensor")
    _ = register_kernels("mine::op", DispatchKey.CPU, impl=schemaless)
    entry = DISPATCHER.find("mine::op")
    assert entry is not None
    table = entry.table
    C._dispatch_check_invariants("mine::op")
    for wrong in ({}, {**table, DispatchKey.Meta: entry.entry(DispatchKey.CPU)}):
        entry._table = DispatchTable(wrong)
        with pytest.raises(RuntimeError, match="Computed table:"):
            C._dispatch_check_invariants("mine::op")
    entry._table = table


def test_restore_brings_back_what_was_taken_back_since_and_it_can_be_taken_back_again():
    empty = everything()
    undo = register_schema("mine::op(Tensor x) -> Tensor")
    drop = register_kernels("mine::op", DispatchKey.CPU, impl=schemaless, plan=schemaless)
    before, state = everything(), registry.snapshot()
    call = C._jit_get_operation("mine::op")[0]
    undo()
    assert C._dispatch_find_dangling_impls() != []
    registry.restore(state)
    assert everything() == before
    assert call(X) is X
    undo()
    drop()
    assert everything() == empty


def test_an_operator_that_a_restore_removes_is_not_defined_for_who_still_holds_it():
    state = registry.snapshot()
    register_schema("mine::op(Tensor x) -> Tensor")
    register_kernels("mine::op", DispatchKey.CPU, impl=schemaless)
    call = C._jit_get_operation("mine::op")[0]
    assert call(X) is X
    registry.restore(state)
    with pytest.raises(RuntimeError, match="Tried to access the schema for mine::op"):
        call(X)


def test_a_library_of_a_namespace_is_part_of_the_state():
    state = registry.snapshot()
    first = C._dispatch_library("DEF", "mine", "")
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY can be used"):
        C._dispatch_library("DEF", "mine", "")
    registry.restore(state)
    second = C._dispatch_library("DEF", "mine", "")
    first.reset()
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY can be used"):
        C._dispatch_library("DEF", "mine", "")
    second.reset()


@pytest.mark.parametrize("asked", [True, False])
def test_the_second_of_two_alike_overloads_is_found_when_it_is_gone(asked: bool) -> None:
    """Torch knows them by their signatures, which is one; who goes unasked leaves no trace."""
    library = C._dispatch_library("FRAGMENT", "mine", "")
    kernels = C._dispatch_library("IMPL", "mine", "")
    library.def_("op.one(Tensor _0) -> Tensor")
    library.def_("op.two(Tensor _0) -> Tensor")
    kernels.impl_t_t("op.two", "CPU", debug="kept")
    if asked:
        assert len(C._jit_get_schemas_for_operator("mine::op")) == 2
    library.reset()
    if asked:
        with pytest.raises(RuntimeError, match=r"for mine::op\.two which doesn't have a schema"):
            C._jit_get_schemas_for_operator("mine::op")
        kernels.reset()
    assert C._jit_get_schemas_for_operator("mine::op") == []
