"""The contract of aliases: other names for operators, which errors keep as the user typed them."""

from collections.abc import Iterator

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.binding.operators import find_operator
from mindtorch_v2.dispatch.registry import AliasError, register_alias, resolve

X = torch.empty(2, device="meta")


@pytest.fixture
def magnitude() -> Iterator[str]:
    undo = register_alias("aten::magnitude", "aten::abs")
    yield "aten::magnitude"
    undo()


def test_an_alias_stands_for_all_overloads_of_its_target(magnitude):
    packet = torch.ops.aten.magnitude
    assert packet.overloads() == torch.ops.aten.abs.overloads()
    assert str(packet.out) == "aten.magnitude.out"


def test_a_kernel_is_looked_up_by_the_canonical_name(magnitude):
    operator = find_operator(magnitude, "out")
    assert operator is not None
    assert operator.canonical == "aten::abs.out"
    assert resolve(magnitude) == "aten::abs"


def test_errors_keep_the_name_that_was_typed(magnitude):
    with pytest.raises(RuntimeError) as refused:
        torch.ops.aten.magnitude.default()
    assert str(refused.value) == (
        "aten::magnitude() is missing value for argument 'self'. "
        "Declaration: aten::magnitude(Tensor self) -> Tensor"
    )


def test_an_alias_runs_the_kernel_of_its_target(magnitude):
    assert torch.ops.aten.magnitude(X).device == X.device


def test_an_alias_of_an_alias_resolves_to_the_operator(magnitude):
    undo = register_alias("mine::size", magnitude)
    assert resolve("mine::size") == "aten::abs"
    assert str(torch.ops.mine.size) == "mine.size"
    undo()


def test_a_cycle_is_refused(magnitude):
    undo = register_alias("mine::a", magnitude)
    with pytest.raises(AliasError, match="would stand for itself"):
        register_alias(magnitude, "mine::a")
    with pytest.raises(AliasError, match="would stand for itself"):
        register_alias("mine::b", "mine::b")
    assert resolve(magnitude) == "aten::abs"
    undo()


@pytest.mark.parametrize(
    ("alias", "target", "why"),
    [
        ("aten::add", "aten::abs", "would shadow the operator"),
        ("mine::x", "aten::nosuch", "unknown target"),
        ("mine::x", "aten::abs.out", "all overloads"),
        ("mine::x.out", "aten::abs", "all overloads"),
    ],
)
def test_what_cannot_be_an_alias_is_refused_and_changes_nothing(alias, target, why):
    before = resolve(alias)
    with pytest.raises(AliasError, match=why):
        register_alias(alias, target)
    assert resolve(alias) == before


def test_a_name_without_namespace_is_refused_as_torch_refuses_it():
    with pytest.raises(RuntimeError, match="all symbols must have a namespace"):
        register_alias("x", "aten::abs")


def test_another_target_for_the_same_alias_is_refused(magnitude):
    with pytest.raises(AliasError, match="stands for 'aten::abs' already"):
        register_alias(magnitude, "aten::neg")
    register_alias(magnitude, "aten::abs")  # the same once more is no change


def test_without_the_alias_the_name_is_gone():
    undo = register_alias("mine::gone", "aten::abs")
    undo()
    assert find_operator("mine::gone", "") is None


def test_torch_ops_follows_what_an_alias_stands_for():
    undo = register_alias("mine::moving", "aten::abs")
    packet = torch.ops.mine.moving
    assert torch.ops.mine.moving is packet
    undo()
    with pytest.raises(AttributeError, match="'mine' object has no attribute 'moving'"):
        _ = torch.ops.mine.moving
    undo = register_alias("mine::moving", "aten::relu_")
    assert torch.ops.mine.moving.overloads() == ["default"]
    undo()


def test_torchs_own_aliases_are_operators_of_their_own():
    for name in ("absolute", "concat", "arccos", "multiply"):
        assert resolve(f"aten::{name}") == f"aten::{name}"
        with pytest.raises(RuntimeError, match=rf"aten::{name}\(\) is missing"):
            getattr(torch.ops.aten, name).default() if name != "multiply" else (
                torch.ops.aten.multiply.Tensor()
            )
