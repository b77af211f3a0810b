"""What Python code that stands for C needs to know of the call that reached it.

Methods without arguments name themselves as CPython does, by how they are called.

CPython is the judge: a dictionary's ``values`` is a method in C that takes nothing either.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import mindtorch_v2 as xp


class Entries(dict[Any, Any]):
    """``dict.values()`` or ``Entries.values()``?"""


def statements(x: Any) -> None:
    for i in range(2):
        try:
            if i:
                raise ValueError
        except ValueError:
            with suppress(KeyError):
                x.values(i if i else 2, i or x) if i else x.values()
        finally:
            i += 1


def by_another_name(x: Any) -> None:
    values = x.values
    values(1)


CALLS: dict[str, Callable[[Any], Any]] = {
    "by name": lambda x: x.values(1),
    "calls among the arguments": lambda x: x.values(len("a"), [1, 2][0], str(1).upper()),
    "on what a call answers": lambda x: [x].pop().values(1),
    "a keyword": lambda x: x.values(a=1),
    "a keyword after others": lambda x: x.values(1, 2, a=1 if x else 2, b=x or 4),
    "by another name": by_another_name,
    "unpacked": lambda x: x.values(*[1]),
    "unpacked, with a condition": lambda x: x.values(1 if x else 2, *()),
    "from C": lambda x: list(map(x.values, [1])),
    "on the class": lambda x: type(x).values(x, 1),
    "on the class, with a condition": lambda x: type(x).values(x, 1 if x is None else 2),
    "on the class, unpacked": lambda x: type(x).values(*[x, 1]),
    "a conditional expression": lambda x: x.values(1 if x is None else 2),
    "two of them": lambda x: x.values(1 if x is None else 2, (3 if x else 4) if x is None else 5),
    "and, or, not": lambda x: x.values(x or 3, x is None and 4, x is not None or 1),
    "a chain of comparisons": lambda x: x.values(1 < len("abc") < 3, 1 if 1 < len("a") < 2 else 0),
    "a walrus": lambda x: x.values((y := 1) if x is None else (y := 2), y),
    "a comprehension": lambda x: x.values([i if i else 1 for i in (0, 1) if i]),
    "a generator": lambda x: x.values(i or 1 for i in (0, 1)),
    "a lambda": lambda x: x.values((lambda y: y if y else 1)(0)),
    "a formatted string": lambda x: x.values(f"{1 if x is None else 2}"),
    "on a conditional expression": lambda x: (x if x is not None else 1).values(1 if 2 else 3),
    "on an item": lambda x: {1: x}[1 if x is not None else 2].values(1),
    "in a conditional expression": lambda x: (x.values(1) if x is not None else 1) or 2,
    "a conditional callee": lambda x: (x.values if x is not None else 1)(1),
    "a conditional callee and argument": lambda x: (x.values or 1)(1 if x is None else 2),
    "a call of the method among the arguments": lambda x: x.values(x.values(1)),
    "another name among the arguments": lambda x: str((y := x.values) and y(1)),
    "after statements": statements,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_class_that_an_error_names(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as judged:
        call(Entries(a=1))
    with pytest.raises(TypeError) as refused:
        call(xp.ones(1))
    expected = str(judged.value).replace("dict.", "TensorBase.").replace("Entries.", "Tensor.")
    assert str(refused.value) == expected


class Overriding:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return kwargs


x = xp.ones(1)
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


def freedom(x: Any) -> Any:
    return xp.cov(x, correction=5)  # of C++, which warns


@pytest.mark.parametrize("transform", [lambda f: f, xp.func.functionalize], ids=["", "functional"])
def test_a_warning_of_cpp_names_the_line_that_called_in(transform: Callable[[Any], Any]) -> None:
    with pytest.warns(UserWarning, match="degrees of freedom") as warned:
        transform(freedom)(xp.ones(2, 3))
    assert [(each.filename, each.lineno) for each in warned] == [
        (__file__, freedom.__code__.co_firstlineno + 1)
    ]
