"""What Python code that stands for C needs to know of the call that reached it."""

import pytest

import mindtorch_v2 as xp

x = xp.ones(2)
bound = x.t
called = {
    "by name": (lambda: x.t(1), "TensorBase"),
    "by name, with calls among the arguments": (
        lambda: x.t(x.t(), [1, 2][0], x.size(0)),
        "TensorBase",
    ),
    "by name, on what a call answers": (lambda: x.t().t(1), "TensorBase"),
    "by name, with a keyword": (lambda: x.t(a=1), "TensorBase"),
    "by another name": (lambda: bound(1), "Tensor"),
    "with unpacked arguments": (lambda: x.t(*[1]), "Tensor"),
    "from C": (lambda: list(map(x.t, [1])), "Tensor"),
    "on the class": (lambda: xp.Tensor.t(x, 1), "TensorBase"),
    "on the class, with unpacked arguments": (lambda: xp.Tensor.t(*[x, 1]), "TensorBase"),
}


@pytest.mark.parametrize(("call", "owner"), called.values(), ids=called)
def test_the_class_that_an_error_names(call: object, owner: str) -> None:
    with pytest.raises(TypeError, match=rf"^{owner}\.t\(\) takes no ") as refused:
        call()  # type: ignore[operator]
    assert str(refused.value)


class Overriding:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return kwargs


add, unbound, none = x.add, xp.Tensor.add, {}
handed_over = {
    "a method by name": (lambda: x.add(Overriding()), None),
    "a bound method, without keywords": (lambda: add(*[Overriding()]), None),
    "a bound method, with an empty dict": (lambda: add(*[Overriding()], **none), {}),
    "a method of the class, with an empty dict": (lambda: unbound(x, Overriding(), **none), None),
    "an operator": (lambda: x * Overriding(), None),
    "a keyword": (lambda: sorted(x.add(other=Overriding())), ["other"]),
}


@pytest.mark.parametrize(("call", "keywords"), handed_over.values(), ids=handed_over)
def test_an_override_gets_keywords_if_the_call_hands_a_dict_over(
    call: object, keywords: object
) -> None:
    assert call() == keywords  # type: ignore[operator]


def test_a_size_is_not_repeated_by_a_tensor_in_place() -> None:
    times, size = xp.tensor(2), xp.Size([3])
    assert times * size == (3, 3)
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \*=: "):
        times *= size
