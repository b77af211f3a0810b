"""Usual calls of bound functions: that their forms are told apart, and answers stay the same."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.binding.python.bindings import _Binding
from mindtorch_v2.binding.python.manual import READ_AT_ONCE
from mindtorch_v2.binding.python.usual import Form, are_integers, form_of
from mindtorch_v2.dispatch.observers import OBSERVERS

_OFTEN = 12


def binding_of(function: Any) -> _Binding:
    found = getattr(function, "call", None) or function._call
    assert isinstance(found, _Binding)
    return found


def forms_of(binding: _Binding) -> list[Form]:
    return [lines.form for lines in binding._lines]


def test_a_form_is_learned_once_it_comes_often() -> None:
    binding, x = binding_of(xp.Tensor.select), xp.ones(2, 2)
    for _ in range(_OFTEN):
        x.select(0, 1)  # type: ignore[attr-defined]
    assert ((int, int), (), ()) in forms_of(binding)


@pytest.mark.parametrize(
    ("text", "usual", "other"),
    [
        ("x.view({})", "4", "(2, 2)"),
        ("x.view({})", "2, 2", "xp.int32"),
        ("x.view({})", "[2, 2]", "[xp.tensor(2), 2]"),
        ("x.view({})", "(4,)", "(1 << 70,)"),
        ("x.view({})", "(4,)", "()"),
        ("x.view({})", "4", "True"),
        ("x.select({})", "0, 1", "0, 1 << 70"),
        ("x.select({})", "0, 1", "0, xp.tensor(1)"),
        ("x.select({})", "0, 1", "'N', 1"),
        ("x.sum({})", "0", "(0,)"),
        ("x.sum({})", "0, keepdim=True", "0, keepdim=None"),
        ("x.sum({})", "dim=0", "axis=0"),
        ("xp.add({})", "x, x", "x, 1"),
        ("xp.add({})", "x, x", "x, 1 << 70"),
        ("xp.add({})", "x, x, alpha=2", "x, x, alpha=1 << 70"),
        ("xp.add({})", "x, x, alpha=2", "x, x, alpha=2.0"),
        ("xp.add({})", "x, x, out=None", "x, x, out=y"),
        ("xp.add({})", "x, x, out=y", "x, y, out=x"),
        ("x.mul({})", "2", "xp.tensor(2)"),
        ("xp.pow({})", "x, 2", "2, x"),
        ("x == {}", "y", "x.numpy()"),
        ("x == {}", "y", "xp.ones(3)"),
        ("x.to({})", "xp.int8", "x"),
        ("x.add_({})", "x", "x, x"),
        ("xp.ones({})", "2", "2, out=y"),
        ("xp.ones({})", "2, dtype=xp.int8", "2, dtype=int"),
        ("xp.ones({})", "2, requires_grad=True", "2, dtype=xp.int8, requires_grad=True"),
        ("xp.empty({})", "0, device='meta'", "0, device='nowhere'"),
        ("xp.empty({})", "0, device='meta'", "0, device=xp.device('cpu')"),
        ("xp.randint({})", "1, (2,)", "1, (2,), dtype=xp.float32"),
        ("xp.zeros_like({})", "x", "x, device='meta'"),
        ("xp.full({})", "(2,), True", "(2,), 1j"),
        ("xp.cat({})", "[x, y]", "[]"),
        ("xp.cat({})", "[x, y]", "[x, None]"),
        ("xp.cat({})", "(x, y)", "(x, 1)"),
        ("xp.cat({})", "[x, y], dim=0", "[x, y], dim='N'"),
        ("xp.stack({})", "[x, y]", "[xp.nn.Parameter(xp.ones(4)), y]"),
        ("xp.block_diag({})", "x, y", "[x, y]"),
    ],
)
def test_calls_answer_the_same_once_another_form_is_usual(
    text: str, usual: str, other: str
) -> None:
    first, expected = answer(text.format(other)), answer(text.format(usual))
    for _ in range(_OFTEN):
        assert answer(text.format(usual)) == expected
    assert answer(text.format(other)) == first


def answer(text: str) -> Any:
    names = {"xp": xp, "x": xp.ones(4, dtype=xp.int64), "y": xp.ones(4, dtype=xp.int64)}
    try:
        found = eval(text, names)
    except Exception as error:
        return type(error), str(error)
    elements = found.shape if found.is_meta else found.tolist()
    kind = found.dtype, found.device, found.requires_grad
    return kind, tuple(found.shape), elements, names["y"].tolist()


def test_functions_that_make_a_tensor_like_another_are_usual_where_there_is_a_kernel() -> None:
    binding, x, sparse = binding_of(xp.zeros_like), xp.ones(2), xp.ones(2).to_sparse()
    for _ in range(_OFTEN):
        made = xp.zeros_like(x, requires_grad=True)
    assert ((xp.Tensor,), ("requires_grad",), (bool,)) in forms_of(binding)
    assert (made.tolist(), made.requires_grad, made._version) == ([0, 0], True, 0)
    assert xp.zeros_like(sparse, requires_grad=False).layout is xp.sparse_coo
    with xp.inference_mode():
        assert xp.zeros_like(x, requires_grad=False).is_inference()


def test_what_is_passed_on_to_another_function_is_usual_there() -> None:
    x, y = xp.ones(2), xp.tensor([1.0, 2.0])
    for _ in range(_OFTEN):
        assert (x == y).tolist() == [True, False]
    passed_on = binding_of(xp.Tensor.__eq__)._passed_on
    assert isinstance(passed_on, _Binding)
    assert ((xp.Tensor,), (), ()) in forms_of(passed_on)
    assert (x == "y") is False
    assert x.__eq__("y") is NotImplemented


def test_what_a_function_by_hand_stands_in_for_is_usual_where_there_is_a_kernel() -> None:
    binding, x = binding_of(xp.Tensor.clone), xp.ones(2, 2)
    assert binding._written is not None
    for _ in range(_OFTEN):
        assert x.clone().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert ((), (), ()) in forms_of(binding)
    elsewhere = xp.ones(2, 2).to_sparse()  # without a kernel
    assert elsewhere.clone().to_dense().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_parameters_are_usual_until_they_override() -> None:
    binding, x = binding_of(xp.mm), xp.ones(2, 2)
    parameter = xp.nn.Parameter(xp.ones(2, 2))
    for _ in range(_OFTEN):
        assert xp.mm(x, parameter).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert ((xp.Tensor, xp.nn.Parameter), (), ()) in forms_of(binding)
    parameter.__torch_function__ = lambda *args: "overridden"  # type: ignore[attr-defined]
    assert xp.mm(x, parameter) == "overridden"


def test_what_is_given_decides_the_form() -> None:
    assert form_of((1, 2.0), {"dim": None}) == ((int, float), ("dim",), (type(None),))


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1, 2], True), ((0,), True), ([], False), ([1, True], False), ([1 << 63], False)],
)
def test_lists_of_integers(value: Any, expected: bool) -> None:
    assert are_integers(value) is expected


READ_TENSORS = {
    "dense": "xp.ones(2, 3)",
    "transposed": "xp.ones(2, 3).t()",
    "conjugate": "xp.ones(2, dtype=xp.complex64).conj()",
    "negative": "xp.ones(2, dtype=xp.complex64).conj().imag",
    "zeros that are not stored": "xp._efficientzerotensor((2, 3))",
    "meta": "xp.ones(2, 3, dtype=xp.int32, device='meta')",
    "functional": "xp._to_functional_tensor(xp.ones(2, 3))",
    "no elements": "xp.ones(0)",
    "a number": "xp.tensor(True)",
}


@pytest.mark.parametrize("name", sorted(READ_AT_ONCE))
@pytest.mark.parametrize("tensor", READ_TENSORS.values(), ids=READ_TENSORS)
def test_what_is_read_at_once_is_what_the_parser_comes_to(tensor: str, name: str) -> None:
    x = eval(tensor, {"xp": xp})
    at_once = getattr(x, name)()
    with OBSERVERS:
        assert getattr(x, name)() == at_once


@pytest.mark.parametrize("name", sorted(READ_AT_ONCE))
def test_what_is_read_at_once_can_be_overridden(name: str) -> None:
    asked = []

    class Mine(xp.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any, kwargs: Any = None
        ) -> Any:
            asked.append(function.__name__)
            return "mine"

    assert getattr(xp.ones(2).as_subclass(Mine), name)() == "mine"
    assert len(asked) == 1


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
def test_a_kernel_that_is_registered_later_takes_usual_calls() -> None:
    x = xp.ones(2)
    for _ in range(_OFTEN):
        assert xp.add(x, x).tolist() == [2.0, 2.0]
    library = xp.library.Library("aten", "IMPL")
    library.impl("add.Tensor", lambda x, y, alpha=1: x, "CPU")
    assert xp.add(x, x).tolist() == [1.0, 1.0]
    library._destroy()
    assert xp.add(x, x).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("text", ["x.t()", "x.view(-1)", "x.select(0, 1)", "x.transpose(0, 1)"])
def test_usual_views_are_those_that_autograd_knows(text: str) -> None:
    for _ in range(_OFTEN):
        x = xp.ones(2, 2)
        view = eval(text)
    assert (view._is_view(), view._base is x, view.requires_grad) == (True, True, False)
    of_view = view.view_as(view)
    assert of_view._base is x
    x.add_(1)
    assert view.tolist() == eval(text).tolist()
    assert (view._version, of_view._version) == (1, 1)
    x.requires_grad_()
    later = view.unsqueeze(0)
    assert later.requires_grad
    assert later.grad_fn is not None


def test_arguments_that_a_usual_call_lacks_are_those_of_the_user() -> None:
    x = xp.ones(2, 2)
    for _ in range(_OFTEN):
        x.select(0, 1)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"got \(int\), but expected one of"):
        x.select(0)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"got \(int, int, int\), but expected one of"):
        x.select(0, 1, 2)  # type: ignore[attr-defined]


def test_a_base_goes_with_its_last_view() -> None:
    for _ in range(_OFTEN):
        x = xp.ones(2, 2)
        view = x.t()  # type: ignore[attr-defined]
    base = weakref.ref(x)
    del x
    assert view._base is base()
    del view
    assert base() is None


def test_a_view_as_an_object_of_another_class_has_the_same_history() -> None:
    class Another(xp.Tensor):
        pass

    for _ in range(_OFTEN):
        x = xp.ones(2, 2)
        view = x.t()  # type: ignore[attr-defined]
    other = view.as_subclass(Another)
    assert other._base is x
    x.requires_grad_()
    assert other.requires_grad
