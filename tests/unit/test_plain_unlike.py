"""Plain calls with numbers, other shapes and other dtypes: computed as the first such call was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.kernels.elementwise.pointwise import Pointwise

_OFTEN = 12

CALLS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda x: x * 2,
    "a number that is no integer": lambda x: x - 0.5,
    "a truth value": lambda x: x + True,
    "another shape": lambda x: x + xp.full((2, 1), 3.0),
    "no dimensions": lambda x: xp.mul(x, xp.tensor(2.0, dtype=xp.float64)),
    "another dtype": lambda x: x / xp.full((3,), 2, dtype=xp.int64),
    "truth values as results": lambda x: x > 1,
    "a further argument": lambda x: xp.sub(x, 3, alpha=2),
    "in place": lambda x: x.clone().add_(xp.tensor([1, 2, 3])),
    "a number in place": lambda x: x.clone().mul_(3),
}


@pytest.fixture(params=CALLS.values(), ids=CALLS.keys())
def call(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    made: Callable[[Any], Any] = request.param
    return made


def outcome(answer: Any) -> Any:
    return (
        answer.dtype,
        answer.shape,
        answer.stride(),
        answer.tolist(),
        answer._version,
        answer.requires_grad,
        answer.grad_fn and answer.grad_fn.name(),
    )


@pytest.mark.parametrize(
    ("dtype", "requires_grad"),
    [
        *(("float32", False), ("float32", True), ("float64", True), ("int64", False)),
        *(("float16", False), ("bool", False)),
    ],
)
def test_later_calls_answer_as_the_first_one(
    call: Callable[[Any], Any], dtype: str, requires_grad: bool
) -> None:
    x = xp.arange(6).view(2, 3).to(getattr(xp, dtype))
    if requires_grad:
        x.requires_grad_()

    def answer() -> Any:
        try:
            return outcome(call(x))
        except RuntimeError as error:
            return str(error)

    first = answer()
    for _ in range(_OFTEN):
        assert answer() == first


def test_they_are_computed_at_once(
    call: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xp.ones(2, 3)
    for _ in range(_OFTEN):
        expected = call(x + x).tolist()

    def refuse(*arguments: Any) -> Any:
        raise NotImplementedError("looked closer")

    doubled = x + x
    monkeypatch.setattr(Pointwise, "__call__", refuse)
    assert call(doubled).tolist() == expected


def test_what_a_number_is_does_not_matter_to_the_next() -> None:
    x = xp.zeros(2)
    for _ in range(_OFTEN):
        assert (x * 1.0).tolist() == [0.0, 0.0]
    assert [str(each) for each in (x * -0.0).tolist()] == ["-0.0", "-0.0"]
    for _ in range(_OFTEN):
        assert (x + 1).tolist() == [1.0, 1.0]
    assert (x + (1 << 62)).tolist() == [float(1 << 62)] * 2


def test_gradients_of_unlike_operands_have_their_shapes() -> None:
    for _ in range(_OFTEN):
        x, y = xp.ones(2, 3, requires_grad=True), xp.ones(3, requires_grad=True)
        (x * y * 2).sum().backward()
        assert x.grad.tolist() == [[2.0] * 3] * 2
        assert y.grad.tolist() == [4.0] * 3


def test_a_part_of_what_changes_is_refused_as_ever() -> None:
    x = xp.ones(2, 3)
    for _ in range(_OFTEN):
        x.add_(xp.ones(1, 3))
    with pytest.raises(RuntimeError, match="single memory location"):
        x.add_(x[:1])


def test_the_default_dtype_may_change() -> None:
    x = xp.ones(2, dtype=xp.int64)
    for _ in range(_OFTEN):
        assert (x * 0.5).dtype is xp.float32
    xp.set_default_dtype(xp.float64)
    try:
        assert (x * 0.5).dtype is xp.float64
    finally:
        xp.set_default_dtype(xp.float32)


def test_inference_mode_makes_inference_tensors() -> None:
    x = xp.ones(2, 3)
    for _ in range(_OFTEN):
        x * 2
    with xp.inference_mode():
        assert (x * 2).is_inference()
        assert (x > 1).is_inference()
