"""Methods without arguments name themselves as CPython does, by how they are called."""

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
