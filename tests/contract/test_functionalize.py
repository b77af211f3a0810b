"""The contract of functionalization: a change without a change, which its users see as one."""

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.registry import register_alias, register_schema
from mindtorch_v2.func import functionalize


def logged(function, *args):
    """The operators that a function comes to below functionalization."""
    log = []

    class Logging(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func))
            return func(*args, **(kwargs or {}))

    with Logging():
        function(*args)
    return log


def test_a_change_in_place_updates_its_input():
    x = torch.ones(2)
    same = functionalize(lambda x: x.add_(1))(x)
    assert x.tolist() == same.tolist() == [2, 2]


def test_no_operator_that_changes_runs_below_but_the_copy_to_the_input():
    x = torch.ones(2, 2)

    def change(x):
        x[0].mul_(2)
        torch.add(x, x, out=x)

    names = ["aten.select.int", "aten.mul.Tensor", "aten.select_scatter.default", "aten.select.int"]
    log = logged(functionalize(change), x)
    assert log[: len(names)] == names
    assert [name for name in log if name.split(".")[1].endswith("_")] == ["aten.copy_.default"]


def test_without_views_no_operator_views_either():
    def change(x):
        x.t()[0].mul_(2)

    log = logged(functionalize(change, remove="mutations_and_views"), torch.ones(2, 2))
    assert {"aten.t_copy.default", "aten.select_copy.int"} <= set(log)
    assert not {"aten.t.default", "aten.select.int"} & set(log)


def test_the_version_counts_one_change_of_an_input_and_none_without():
    x, y = torch.ones(2), torch.ones(2)
    functionalize(lambda x, y: (x.add_(1), x.mul_(y)))(x, y)
    assert (x._version, y._version) == (1, 0)


def test_autograd_records_the_functional_operators():
    x = torch.arange(3.0, requires_grad=True)

    def double_first(x):
        y = x * 1
        y[0].mul_(2)
        y.add_(x)
        return y.sum()

    (expected,) = torch.autograd.grad(double_first(x), x)
    (found,) = torch.autograd.grad(functionalize(double_first)(x), x)
    assert found.tolist() == expected.tolist() == [3, 2, 2]


def test_a_composite_below_a_transform_calls_operators_alone():
    """What it did by itself, it would do to a functional tensor, which has no memory."""
    x = torch.arange(2.0)
    log = logged(functionalize(lambda x: torch.where(x > 0, 1j, x)), x)
    assert log == [
        "aten.gt.Scalar",
        "aten.scalar_tensor.default",
        "aten._to_copy.default",
        "aten.where.self",
    ]


def test_a_change_that_would_broadcast_its_input_is_refused():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="broadcast"):
        functionalize(lambda x: x.mul_(torch.ones(3, 2)))(x)
    assert x._version == 0


REFUSAL = (
    "Found a custom (non-ATen) operator whose output has alias annotations: {}. We only support "
    "functionalizing operators whose outputs do not have alias annotations (e.g. 'Tensor(a)' is a "
    "Tensor with an alias annotation whereas 'Tensor' is a Tensor without. The '(a)' is the alias "
    "annotation). The alias annotation specifies that the output Tensor shares storage with an "
    "input that has the same annotation. Please check if (1) the output needs to be an output (if "
    "not, don't return it), (2) if the output doesn't share storage with any inputs, then delete "
    "the alias annotation. (3) if the output indeed shares storage with an input, then add a "
    ".clone() before returning it to prevent storage sharing and then delete the alias annotation. "
    "Otherwise, please file an issue on GitHub."
)
"""torch's whole message about an operator that has no functional form."""


def test_a_custom_operator_with_aliases_is_refused():
    library = torch.library.Library("functionalized", "DEF")
    library.define("change(Tensor(a!) x) -> ()")
    library.impl("change", lambda x: None, "CPU")
    undo = register_alias("functionalized::altered", "functionalized::change")
    for name in ("change", "altered"):  # the name that was typed
        operator = getattr(torch.ops.functionalized, name)
        with pytest.raises(RuntimeError) as refused:
            functionalize(operator)(torch.ones(1))
        assert str(refused.value) == REFUSAL.format(f"functionalized::{name}(Tensor(a!) x) -> ()")
    undo()
    library._destroy()


def test_a_missing_rule_is_refused_in_the_same_words_when_an_operator_is_registered():
    text = "functionalized::change(Tensor(a!) x) -> ()"
    with pytest.raises(RuntimeError) as refused:
        register_schema(text)
    assert str(refused.value) == REFUSAL.format(text)


def test_one_key_serves_every_backend():
    """It is a functionality that no backend customises."""
    assert [name for name in DispatchKey.__members__ if "Functionalize" in name] == [
        "Functionalize"
    ]

    def change(x):
        x.t()[0].mul_(2)
        x.add_(1)

    on_cpu, on_meta = (
        logged(functionalize(change), torch.ones(2, 2, device=device)) for device in ("cpu", "meta")
    )
    assert on_cpu == on_meta
    assert on_cpu.count("aten.copy_.default") == 1


def test_a_plain_tensor_is_not_changed_by_a_functional_one():
    plain = torch.ones(2)
    with pytest.raises(RuntimeError, match="mutating a non-functional tensor"):
        plain.add_(torch._to_functional_tensor(torch.ones(2)))
    assert plain.tolist() == [1, 1]


def test_aliases_are_resolved_before_functionalization():
    undo = register_alias("aten::tripled_", "aten::mul_")
    x = torch.ones(2)
    log = logged(functionalize(lambda x: torch.ops.aten.tripled_.Tensor(x, x + 2)), x)
    undo()
    assert x.tolist() == [3, 3]
    assert log == ["aten.add.Tensor", "aten.mul.Tensor", "aten.copy_.default"]
