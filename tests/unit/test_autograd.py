"""Formulas of derivatives.yaml, the graph that operators leave, and what backward makes of it."""

import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import profile
from mindtorch_v2.autograd import functions_manual, generated
from mindtorch_v2.autograd.formula import compiled


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(list(values), requires_grad=True)


@pytest.mark.parametrize("release", profile.known())
def test_every_formula_of_every_release_is_read(release: str) -> None:
    nodes = profile.load(release).derivatives["nodes"]
    formulas = {each["formula"] for facts in nodes.values() for each in facts["derivatives"]}
    unread = []
    for formula in sorted(formulas):
        try:
            compiled(formula)
        except NotImplementedError:
            unread.append(formula)
    assert not unread
    assert len(formulas) > 500


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-7 / 2", -3),
        ("1.0 / 4", 0.25),
        ("a.defined() ? 1 : 2", 2),
        ("!b && c > 1", False),
        ("std::get<1>(d)", "y"),
        ("std::tuple<Tensor, Tensor>()", [None, None]),
        ("{c, /* comment */ c}", [2, 2]),
        ("fmap(reverse_list(e), [](c10::SymInt i){return -i;})", [-2, -1]),
    ],
)
def test_expressions_of_cpp_have_their_value(text: str, value: object) -> None:
    names = {"a": None, "b": True, "c": 2, "d": ("x", "y"), "e": (1, 2)}
    assert compiled(text)(names) == value


def test_what_the_grammar_lacks_is_named() -> None:
    with pytest.raises(NotImplementedError, match=r"a % b"):
        compiled("a % b")


def test_an_operator_leaves_a_node_with_edges_to_accumulators() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    node = (x * y).grad_fn
    assert node.name() == "MulBackward0"
    assert node.next_functions[0][0].variable is x
    assert node._saved_other is y


def test_gradients_flow_along_every_way() -> None:
    x = leaf(1.0, 2.0)
    y = x * x + x
    (gradient,) = torch.autograd.grad(y, x, torch.tensor([1.0, 10.0]))
    assert gradient.tolist() == [3.0, 50.0]


def test_a_gradient_can_be_differentiated() -> None:
    x = leaf(2.0)
    one = torch.tensor([1.0])
    (first,) = torch.autograd.grad(x * x * x, x, one, create_graph=True)
    (second,) = torch.autograd.grad(first, x, one)
    assert (first.tolist(), second.tolist()) == ([12.0], [12.0])


def test_a_captured_node_is_gone_through_to_what_lies_behind_it() -> None:
    x = leaf(3.0)
    y = x * x
    found = torch.autograd.grad(y + y, [x, y], torch.tensor([1.0]))
    assert [each.tolist() for each in found] == [[12.0], [2.0]]


def test_saved_tensors_are_freed_and_watched() -> None:
    x, one = leaf(3.0), torch.tensor([1.0])
    y = x * x
    torch.autograd.grad(y, x, one)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x, one)
    z = x * x
    x.data.mul_(2)
    torch.autograd.grad(z, x, one)
    z = x * x
    x.detach().mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        torch.autograd.grad(z, x, one)


def test_leaves_and_their_views_are_not_changed_in_place() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable"):
        x.mul_(2)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable"):
        x[0].mul_(2)
    with torch.no_grad():
        x.mul_(2)
    assert x._version == 1


def test_a_change_of_a_view_is_a_change_of_its_base() -> None:
    x = leaf(1.0, 2.0)
    base = x * 1
    view = base[0]
    view.mul_(5)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert (base._version, view._version) == (1, 1)


def test_a_formula_without_its_helper_fails_at_backward_and_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The helper is taken away here, and the formula read anew: those that are lacking become fewer.
    monkeypatch.setattr(functions_manual, "find", lambda _: None)
    monkeypatch.setattr(generated, "compiled", compiled.__wrapped__)
    x = leaf(1.0, 2.0)
    with pytest.raises(NotImplementedError, match="no function prod_backward for backward yet"):
        x.prod().backward()


def test_the_number_beside_a_list_has_the_gradient_of_a_list_of_one_only() -> None:
    number = torch.tensor(0.5, requires_grad=True)
    (single,) = torch._foreach_mul([torch.ones(2)], number)
    (gradient,) = torch.autograd.grad(single.sum(), number)
    assert gradient.item() == 2.0
    first, second = torch._foreach_mul([torch.ones(2), torch.ones(3)], number)
    with pytest.raises(RuntimeError, match=r"^inconsistent range for TensorList output$"):
        torch.autograd.grad(first.sum() + second.sum(), number)


def test_a_function_of_the_user_is_recorded() -> None:
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * x

    x = leaf(2.0)
    y = Tripled.apply(x)
    assert y.grad_fn.name() == "TripledBackward"
    (gradient,) = torch.autograd.grad(y, x, torch.tensor([5.0]))
    assert gradient.tolist() == [10.0]


def test_a_formula_computes_the_last_argument_of_a_call_first() -> None:
    """As GCC does it: below, a mode sees the operators in this order."""
    seen: list[int] = []
    names = {"made": lambda value: (seen.append(value), value)[1], "taken": lambda *values: values}
    assert compiled("taken(made(1), made(2))")(names) == (1, 2)
    assert seen == [2, 1]
