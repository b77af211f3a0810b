"""Operators that torch has for its interpreter: found among the others, and of C++'s values."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp
from conformance.cases import interpreter as cases
from mindtorch_v2 import profile
from mindtorch_v2.dispatch import native
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.kernels import interpreter

aten: Any = xp.ops.aten
prim: Any = xp.ops.prim


def test_every_operator_that_cases_call_has_an_operation() -> None:
    for target in cases.interpreted(profile.active()):
        name = target.schema.full_name
        types = tuple(str(argument.type) for argument in target.schema.arguments)
        if _OPEN.isdisjoint(types):
            plain = native.find(name, DispatchKey.CompositeImplicitAutograd).function
            assert plain or interpreter.find(name, types), name


_OPEN = {"t", "t1", "t2"}
"""Types that a schema leaves open, which refuse every value."""


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: aten.sqrt(-4.0), "nan"),
        (lambda: aten.add.int(2**63 - 1, 1), str(-(2**63))),
        (lambda: aten.neg.Scalar(2**40), "0"),
        (lambda: aten.log.Scalar(2.5), "0.9162907600402832"),
        (lambda: aten.remainder.int(-5, 3), "1"),
        (lambda: aten.mul.complex_float(complex(0, float("inf")), 2.0), "infj"),
        (lambda: aten.pow.complex(1j, 3 - 0j), "(-1.8369701987210297e-16-1j)"),
        (lambda: aten.eq.default(1, 1j), "None"),
        (lambda: aten.split("a b  c"), "['a', 'b', 'c']"),
        (lambda: aten.splitlines("a\nb", True), "['a', '\\n', 'b']"),
        (lambda: aten.title("hello world"), "'Hello World'"),
        (lambda: aten.expandtabs("a\tb", 4), "'a   b'"),
        (lambda: aten.find("abcabc", "c", 3), "5"),
        (lambda: aten.sorted([3, 1, 2]), "[1, 2, 3]"),
        (lambda: aten.sum([2**31 - 1, 1]), str(-(2**31))),
        (lambda: aten.keys({}), "[]"),
        (lambda: aten.factorial.int(21), "-4249290049419214848"),
        (lambda: prim.TupleUnpack((1, 2)), "(1, 2)"),
        (lambda: prim.dtype(xp.ones(1)), "6"),
    ],
)
def test_what_it_answers_is_cpps(call: Any, answer: str) -> None:
    assert repr(call()) == answer


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: aten.floordiv.int(1, 0), RuntimeError, "division by 0"),
        (lambda: aten.pow.int(0, -1), RuntimeError, "0.0 cannot be raised to a negative power"),
        (lambda: aten.Int.str("a"), ValueError, "stoll"),
        (lambda: aten.index([1], 4), RuntimeError, "'4' is not in list"),
        (
            lambda: aten.ceil(1e30),
            RuntimeError,
            "Cannot convert float 1000000000000000019884624838656.000000 to integer",
        ),
        (
            lambda: aten.startswith("a", "b", 5),
            IndexError,
            "basic_string::substr: __pos (which is 5) > this->size() (which is 1)",
        ),
        (lambda: aten.popitem({}), RuntimeError, "popitem(): dictionary is empty"),
        (
            lambda: aten.backward(xp.ones(2)),
            RuntimeError,
            "element 0 of tensors does not require grad and does not have a grad_fn",
        ),
    ],
)
def test_what_it_refuses_is_refused_in_cpps_words(
    call: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == message


def test_a_text_is_bytes() -> None:
    assert aten.len("é") == 2
    with pytest.raises(UnicodeDecodeError):
        aten.list("é")


def test_gradients_as_cpp_alone_computes_them() -> None:
    x: Any = xp.tensor(3.0, requires_grad=True)
    assert aten.grad([x * x], [x])[0].item() == 6.0
    aten.backward(x * 2)
    assert x.grad.item() == 2.0
    y: Any = xp.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^element 0of the differentiated Tensors"):
        aten.grad([x * x], [y])
    assert aten.grad([x * x], [y], None, None, False, True) == [None]
