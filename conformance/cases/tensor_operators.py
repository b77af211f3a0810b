"""Area ``tensor-operators``: Python's operators on tensors, with operands of every kind.

``x + "y"`` asks the tensor, then the other operand, and then says what Python says; an operator
of torch that is found stops where its kernel would begin (see :mod:`conformance.bound`).  The
methods behind the operators are called by their names as well, right and wrong.

Left out is what no two runs have in common: the hash of a tensor, which is its address.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Area, Text
from conformance.cases.operator_draws import strategy
from conformance.cases.operator_forms import (
    ARITHMETIC,
    BINARY,
    CONVERSIONS,
    GET,
    METHODS,
    OF_TWO,
    PRINTED,
    SET,
    STATEMENTS,
    asked,
    bound_call,
    expression,
    statement,
)
from conformance.cases.operator_values import (
    ASSIGNED,
    INDEXED,
    INDICES,
    NOT_SYMBOLIC,
    OF_THREE,
    TENSORS,
    VALUES,
)
from conformance.cases.python_values import NO_RECEIVERS
from conformance.cases.turn import Turn
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    yield from _binary(turn)
    yield from _of_one()
    yield from _of_two(turn)
    yield from _methods(turn)
    yield from _indices()
    yield from _items(turn)


def _binary(turn: Turn) -> Iterator[Text]:
    """Every operator with every value, on either side and in place; and with tensors."""
    for symbol, form in BINARY.items():
        pairs = [(turn.of(TENSORS), value) for value in VALUES]
        pairs += [(x, turn.of(TENSORS)) for x in TENSORS]
        for x, value in pairs:
            yield symbol, expression(form.format("x", "v"), x, value)
            yield symbol, expression(form.format("v", "x"), turn.of(TENSORS), value)
        if symbol in ARITHMETIC:
            for x, value in pairs:
                yield f"{symbol}=", statement(f"x {symbol}= v", x, value, then="x")
            for value in VALUES[::5]:
                x = turn.of(TENSORS)
                yield f"{symbol}=", statement(f"v {symbol}= x", x, value, then="v")


def _of_one() -> Iterator[Text]:
    for text in CONVERSIONS:
        for x in TENSORS:
            yield _of(text), expression(text, x)
    for text in PRINTED:
        for x in TENSORS:
            yield _of(text), asked([f"x = {x}"], text)
    for text in STATEMENTS:
        for x in TENSORS:
            then = "x" if "x +=" in text else ""
            yield _of(text), statement(text, x, then=then)


def _of_two(turn: Turn) -> Iterator[Text]:
    for text in OF_TWO:
        for value in NOT_SYMBOLIC:
            yield _of(text), expression(text, turn.of(TENSORS), value)


def _of(text: str) -> str:
    return text.replace("\n", " ")


def _methods(turn: Turn) -> Iterator[Text]:
    """Each method with every number of arguments, any argument, and no tensor."""
    for name in METHODS:
        place = f"xp.Tensor.{name}"
        calls = [f"{place}", f"{place}, *[xp.ones(2)] * 3", f"{place}, *[xp.ones(2)] * 4"]
        calls += [f"{place}, {other}" for other in NO_RECEIVERS]
        calls += [f"{place}, {other}, xp.ones(2)" for other in NO_RECEIVERS]
        calls += [f"{place}, xp.ones(2), other=1", f"{place}, xp.ones(2), nosuch=1"]
        calls += [f"{place}, self=xp.ones(2)", f"{place}, xp.ones(2), 1, nosuch=1"]
        calls += [f"{place}, input=xp.ones(2), other=xp.ones(2)"]
        calls += [f"xp._C.TensorBase.{name}, xp.ones(2), {turn.of(VALUES)}"]
        for _ in range(24):
            calls.append(f"{turn.of(TENSORS)}.{name}, {turn.of(VALUES)}")
        for _ in range(4):
            calls.append(f"{turn.of(TENSORS)}.{name}")
            calls.append(f"{turn.of(TENSORS)}.{name}, {turn.of(VALUES)}, {turn.of(VALUES)}")
            calls.append(f"{turn.of(TENSORS)}.{name}, other={turn.of(VALUES)}")
        for call in calls:
            yield name, bound_call(call)


def _indices() -> Iterator[Text]:
    """Indices as they are written, read and assigned to."""
    for index in INDICES:
        for x in INDEXED:
            yield "[]", expression(f"x[{index}]", x)
            yield "[]=", statement(f"x[{index}] = 1", x)
        for value in ASSIGNED:
            yield "[]=", statement(f"x[{index}] = v", INDEXED[1], value)
        yield "[]=", statement(f"x[{index}] += 1", INDEXED[1])
    for three in product(OF_THREE, repeat=3):
        yield "[]", expression(f"x[{', '.join(three)}]", "xp.zeros(2, 3, 1, 2, 2)")


def _items(turn: Turn) -> Iterator[Text]:
    """Any value as an index, in one, and assigned."""
    for value in VALUES:
        for number, text in enumerate(GET):
            x = turn.of(INDEXED) if number == 0 else INDEXED[1 + number % 2]
            yield "[]", expression(text, x, value)
        for number, text in enumerate(SET):
            yield "[]=", statement(text, INDEXED[1 + number % 3], value)


AREA: Final = Area("tensor-operators", texts, strategy)
