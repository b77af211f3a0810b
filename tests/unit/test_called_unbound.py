"""Descriptors that Python calls without binding them: what is bound then, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import called_unbound
from mindtorch_v2.binding.python import function


class _Descriptor:
    """Counts how often it is bound."""

    def __init__(self) -> None:
        self.bound = 0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        self.bound += 1
        return lambda *args: self(instance, *args)

    def __call__(self, *args: Any) -> Any:
        return args[1:]


def _classes(described: type[_Descriptor]) -> tuple[Any, _Descriptor]:
    class Thing:
        method = __add__ = descriptor = described()

    descriptor = vars(Thing)["descriptor"]
    return Thing(), descriptor


def test_calls_bind_nothing() -> None:
    thing, descriptor = _classes(called_unbound.called_unbound(type("D", (_Descriptor,), {})))
    answers = [thing.method(1, 2), thing + 3]  # in an assert pytest would keep the method
    assert answers == [(1, 2), (3,)]
    assert descriptor.bound == 0


def test_what_is_looked_up_and_kept_is_bound() -> None:
    thing, descriptor = _classes(called_unbound.called_unbound(type("D", (_Descriptor,), {})))
    kept = thing.method
    assert descriptor.bound == 1
    assert kept(1, 2) == (1, 2)


def test_where_the_flags_are_elsewhere_calls_bind_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(called_unbound, "_FIELDS_BEFORE_FLAGS", 17)
    thing, descriptor = _classes(called_unbound.called_unbound(type("D", (_Descriptor,), {})))
    assert thing.method(1, 2) == (1, 2)
    assert descriptor.bound == 1


@pytest.mark.parametrize("kind", [function.method_descriptor, function.wrapper_descriptor])
def test_those_of_tensors_have_the_flag(kind: type) -> None:
    assert kind.__flags__ & called_unbound._METHOD_DESCRIPTOR


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda x: x.t(1), "TensorBase.t()"),
        (lambda x: xp.Tensor.t(x, 1), "TensorBase.t()"),
        (lambda x: (lambda method: method(1))(x.t), "Tensor.t()"),
        (lambda x: x.t(*[1]), "Tensor.t()"),
    ],
)
def test_errors_name_a_method_by_how_it_was_reached(call: Any, named: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(xp.ones(1))
    assert str(caught.value) == f"{named} takes no arguments (1 given)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: xp.Tensor.t(), "unbound method TensorBase.t() needs an argument"),
        (lambda: xp.Tensor.add(), "unbound method TensorBase.add() needs an argument"),
        (
            lambda: xp.Tensor.add(1, 2),
            "descriptor 'add' for 'torch._C.TensorBase' objects doesn't apply to a 'int' object",
        ),
    ],
)
def test_a_receiver_is_asked_for_before_and_after_calls_are_usual(call: Any, message: str) -> None:
    for _ in range(20):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == message
        xp.ones(1).add(xp.ones(1))
        xp.ones(1).t()
