"""The contract of functionalization for operators of the project's registry.

Each test has the sentence of the design that it is about.
"""

from collections.abc import Iterator

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.registry import register_alias, register_kernels, register_schema
from mindtorch_v2.func import functionalize


@pytest.fixture(autouse=True)
def operators() -> Iterator[None]:
    """``twice`` and ``twice_``, and ``both``, which changes all sorts of arguments by a rule."""
    before = registry.snapshot()
    register_schema("mine::twice(Tensor x, float by=2) -> Tensor")
    register_kernels("mine::twice", DispatchKey.CPU, impl=lambda x, by=2.0: x * by)
    register_schema("mine::twice_(Tensor(a!) x, float by=2) -> Tensor(a!)")
    register_schema(
        "mine::both(Tensor(a!) x, Tensor(b!)[] y, Tensor(c!)? z=None) -> (Tensor, Tensor(a!))",
        functionalization_rule=lambda x, y, z: (
            x.sum(),
            x + 1,
            [each * 2 for each in y],
            None if z is None else z.expand(2) - 1,
        ),
    )
    yield
    registry.restore(before)


def test_an_in_place_operator_with_a_clear_functional_name_needs_no_kernel_and_no_rule():
    x = torch.ones(2)
    assert torch.ops.mine.twice_(x) is x
    assert torch.ops.mine.twice_(x, 3.0).tolist() == x.tolist() == [6, 6]


def test_a_kernel_of_a_backend_goes_before_the_rule():
    register_kernels("mine::twice_", DispatchKey.CPU, impl=lambda x, by=2.0: x.fill_(7))
    assert torch.ops.mine.twice_(torch.ones(2)).tolist() == [7, 7]


def test_the_version_is_counted_once_for_a_change_and_views_see_it():
    x = torch.ones(2)
    view = x[1:]
    torch.ops.mine.twice_(view)
    assert (x.tolist(), x._version, view._version) == ([1, 2], 1, 1)


def test_autograd_behaves_as_for_any_change_in_place():
    leaf = torch.ones(2, requires_grad=True)
    x = leaf * 1
    torch.ops.mine.twice_(x, 5.0)
    with pytest.warns(UserWarning, match="mine::twice_?: an autograd kernel was not"):
        x.sum().backward()
    assert leaf.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        torch.ops.mine.twice_(leaf)
    assert (leaf.tolist(), leaf._version) == ([1, 1], 0)


def test_whatever_the_schema_marks_as_changed_gets_its_value_by_its_alias_set():
    x, y, z = torch.ones(2), [torch.ones(1), torch.ones(3)], torch.ones(2)
    total, same = torch.ops.mine.both(x, y, z)
    assert (total.tolist(), same is x) == (2, True)
    assert [each.tolist() for each in (x, *y, z)] == [[2, 2], [2], [2, 2, 2], [0, 0]]


def test_an_optional_argument_that_is_not_there_is_not_changed():
    x = torch.ones(2)
    torch.ops.mine.both(x, [])
    assert x.tolist() == [2, 2]


def test_nothing_has_changed_if_a_later_argument_cannot_be():
    x, y, z = torch.ones(2), torch.ones(1), torch.ones(1)
    with pytest.raises(RuntimeError, match=r"output with shape \[1\] doesn't match the broadcast"):
        torch.ops.mine.both(x, [y], z)  # its new value has two elements
    register_schema("mine::half_(Tensor(a!) x) -> ()", functionalization_rule=lambda x: x / 2)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        torch.ops.mine.half_(torch.ones(2).long())
    assert [each.tolist() for each in (x, y, z)] == [[1, 1], [1], [1]]
    assert [each._version for each in (x, y, z)] == [0, 0, 0]


def test_nothing_has_changed_if_the_kernel_fails():
    def fail(x, by=2.0):
        raise ValueError("no")

    x = torch.ones(2)
    with torch.library._scoped_library("mine", "IMPL") as library:
        library.impl("twice", fail, "AutogradCPU")
        with pytest.raises(ValueError, match="no"):
            torch.ops.mine.twice_(x)
    assert (x.tolist(), x._version) == ([1, 1], 0)


def test_a_rule_that_answers_too_little_is_refused():
    register_schema("mine::less_(Tensor(a!) x) -> ()", functionalization_rule=lambda x: [])
    with pytest.raises(RuntimeError, match="rule answered 0 values, where 1 were expected"):
        torch.ops.mine.less_(torch.ones(1))


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_a_transform_calls_the_rule_and_writes_back_in_the_end(remove):
    seen = []

    class Seen(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x, z = torch.ones(2, 2), torch.ones(2)
    with Seen():
        functionalize(lambda x, z: torch.ops.mine.both(x[0], [z])[0], remove=remove)(x, z)
    assert (x.tolist(), z.tolist()) == ([[2, 2], [1, 1]], [2, 2])
    assert [name for name in seen if name.split(".")[1].endswith("_")] == ["aten.copy_.default"] * 2
    assert not any("mine" in name for name in seen)


def test_a_transform_refuses_a_new_value_that_would_grow_its_argument():
    x, z = torch.ones(2), torch.ones(1)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        functionalize(lambda x, z: torch.ops.mine.both(x, [], z))(x, z)
    assert (x.tolist(), z.tolist(), x._version) == ([1, 1], [1], 0)


def test_a_plain_tensor_is_not_changed_by_a_functional_one():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="mutating a non-functional tensor with a functional"):
        torch.ops.mine.both(x, [torch._to_functional_tensor(torch.ones(2))])
    assert x.tolist() == [1, 1]


def test_aliases_are_resolved_first():
    undo = register_alias("mine::doubled_", "mine::twice_")
    x = torch.ones(2)
    functionalize(lambda x: torch.ops.mine.doubled_(x))(x)
    assert x.tolist() == [2, 2]
    undo()
