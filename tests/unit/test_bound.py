"""Calls stopped where a kernel would begin: what ``bound`` asks of the subject, and of torch."""

import sys
from contextlib import suppress
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conformance.bound import bound


class OpOverload:
    """What a subject's ``xp.ops`` holds; ``bound`` knows it by the name of its class."""


@pytest.fixture
def subject(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package whose binding notes what it is asked, and stops what is not called ``size``."""
    asked: list[Any] = []

    def stopped(function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
        asked.append(("stopped", function, args, kwargs))
        if function == "size":
            return ("returned", [2, 3])
        return ("stopped", "aten::add", (args, kwargs))

    def of_operator(op: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
        asked.append(("bound", op, args, kwargs))
        return ("aten::len", None) if "script" in kwargs else ("aten::add", (args, kwargs))

    package = ModuleType("standin")
    package.asked = asked  # type: ignore[attr-defined]
    binding = SimpleNamespace(stopped=stopped, bound=of_operator)
    monkeypatch.setitem(sys.modules, "standin", package)
    monkeypatch.setitem(sys.modules, "standin.binding", binding)  # type: ignore[arg-type]
    return package


def test_a_call_that_reaches_an_operator_shows_it_and_its_arguments(subject: ModuleType) -> None:
    answer = bound(subject, "add", "x", 2, alpha=0.5)  # type: ignore[arg-type]
    assert answer == ("bound", "aten::add", ["'x'", "2"], {"alpha": "0.5"})


def test_a_call_that_reaches_none_answers_its_own_result(subject: ModuleType) -> None:
    assert bound(subject, "size") == [2, 3]  # type: ignore[arg-type]


def test_operators_are_bound_by_their_own_function(subject: ModuleType) -> None:
    op: Any = OpOverload()
    assert bound(subject, op, 1) == ("bound", "aten::add", ["1"], {})
    assert bound(subject, op, 1, script=True) == ("bound", "aten::len")
    assert subject.asked == [("bound", op, (1,), {}), ("bound", op, (1,), {"script": True})]


def test_names_of_its_own_parameters_are_keywords_like_others(subject: ModuleType) -> None:
    keywords = {"xp": 1, "function": 2, "self": 3, "op": 4}
    bound(subject, "add", **keywords)  # type: ignore[arg-type]
    assert subject.asked == [("stopped", "add", (), keywords)]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.torch
def test_torch_stops_at_the_first_operator_whatever_calls_it(torch: Any) -> None:
    x = torch.ones(2)
    added = ("bound", "aten::add.Tensor", ["tensor([1., 1.])", "2"], {})
    assert bound(torch, torch.add, x, 2) == added
    assert bound(torch, x.add, 2) == added
    assert bound(torch, torch.Tensor.add, x, 2) == added
    assert bound(torch, lambda: x + 2) == added
    assert bound(torch, lambda: (x + 2, x - 2)) == added
    assert bound(torch, torch.ops.aten.add.Tensor, x, x)[1] == "aten::add.Tensor"
    assert bound(torch, lambda: torch.ops.aten.add.Tensor(x, x))[1] == "aten::add.Tensor"


@pytest.mark.torch
def test_torch_runs_what_converts_arguments(torch: Any) -> None:
    answer = bound(torch, torch.ones(2).flatten, torch.tensor(1), torch.tensor(2))
    assert answer == ("bound", "aten::flatten.using_ints", ["tensor([1., 1.])", "1", "2"], {})


@pytest.mark.torch
def test_torch_raises_and_answers_as_it_does_unstopped(torch: Any) -> None:
    x = torch.ones(2)
    assert bound(torch, x.size) == torch.Size([2])
    with pytest.raises(TypeError, match=r"must be Tensor, not str"):
        bound(torch, torch.relu, "x")
    with pytest.raises(ZeroDivisionError):
        bound(torch, lambda: 1 / 0)


@pytest.mark.torch
def test_torch_is_as_it_was_after_a_call_however_that_ended(torch: Any) -> None:
    original = torch._ops.OpOverload._get_dispatch
    x = torch.ones(2)
    for function in (x.add, torch.is_tensor, x.size):
        with suppress(IndexError):
            bound(torch, function, 1)
        assert torch._ops.OpOverload._get_dispatch is original
        assert torch.add(x, x).tolist() == [2.0, 2.0]
