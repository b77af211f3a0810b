"""Area ``tensor-operators``: Python's operators on tensors, with operands of every kind.

``x + "y"`` asks the tensor, then the other operand, and then says what Python says; an operator
of torch that is found stops where its kernel would begin (see :mod:`conformance.bound`).  The
methods behind the operators are called by their names as well, right and wrong.

Left out is what no two runs have in common: the hash of a tensor, which is its address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.operator_values import (
    ASSIGNED,
    INDEXED,
    INDICES,
    TENSORS,
    VALUES,
    with_subclasses,
)
from conformance.cases.python_values import NO_RECEIVERS
from conformance.cases.turn import Turn
from mindtorch_v2.profile import Profile

ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^")
"""Operators that have an in-place form."""

COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")

BINARY: Final = {
    **{symbol: f"{{}} {symbol} {{}}" for symbol in (*ARITHMETIC, *COMPARISONS)},
    "divmod": "divmod({}, {})",
    "in": "{} in {}",
    "not in": "{} not in {}",
}
"""Operators of two operands, by what a report calls them."""

CONVERSIONS: Final = (
    "-x",
    "+x",
    "~x",
    "not x",
    "abs(x)",
    "bool(x)",
    "int(x)",
    "float(x)",
    "complex(x)",
    "complex(x, 1)",
    "complex(1, x)",
    "complex(x, x)",
    "len(x)",
    "iter(x)",
    "[*x]",
    "list(x)",
    "tuple(x)",
    "next(iter(x))",
    "reversed(x)",
    "round(x)",
    "round(x, 1)",
    "round(x, None)",
    "round(x, x)",
    "round(2.5, x)",
    "range(x)",
    "[1, 2, 3][x]",
    "[1, 2, 3][x:]",
    "(1, 2, 3)[:x]",
    '"abc"[x]',
    "{}[x]",
    "[0] * x",
    '"%d" % x',
    '"%f" % x',
    '"%c" % x',
    '"%s %s" % x',
    '"x" * x',
    "x * [0]",
    "1 if x else 2",
    "x and 1",
    "x or 1",
    "0 < x < 2",
    "x < x < x",
    "x is x",
    "x in [x]",
    "x in [1, 2]",
    "x in (None,)",
    "x in {}",
    "1 in x",
    "any(x)",
    "all(x)",
    "sum(x)",
    "sum([x, x])",
    "min(x)",
    "max(x, 1)",
    "max([x, x])",
    "sorted(x)",
    "list(zip(x))",
    "list(enumerate(x))",
    "pow(x, 2)",
    "pow(2, x)",
    "pow(x, x)",
    "pow(x, 2, 3)",
    "pow(2, x, 3)",
    "pow(2, 2, x)",
    "x(1)",
    "x()",
    "isinstance(x, xp.Tensor)",
    "isinstance(x, xp._C.TensorBase)",
    "bytes(x)",
    "bytearray(x)",
    "int(x, 10)",
    '"a".split(x)',
    '"a b".split(" ", x)',
    "[].insert(x, 1)",
    "[1, 2].pop(x)",
    "np.array(x)",
    "np.array([x, x])",
    "np.int64(x)",
    "np.float32(x)",
    "np.bool_(x)",
    "np.complex64(x)",
    "np.array([1, 2, 3])[x]",
    "slice(x)",
    "x.__array__()",
    "x.__array__(np.float64)",
    "x.__array__(dtype=np.int32)",
    "x.__array__(xp.float32)",
    "x.__array__(1, 2)",
    "x.__contains__(element=1)",
)
"""Expressions of one tensor."""

PRINTED: Final = (
    '"%s" % x',
    '"%s%s" % (x, 1)',
    "str([x])",
    'x.__format__("")',
    'x.__format__(".2f")',
    'x.__format__("d")',
    'x.__format__("nosuch")',
    "x.__format__(1)",
    "x.__format__()",
    'xp.Tensor.__format__(1, "")',
)
"""Expressions that print a tensor: not stopped, for printing calls operators of its own choice."""

STATEMENTS: Final = (
    "a, b = x",
    "a, *b = x",
    "(a,) = x",
    "for a in x:\n        return a",
    "del x[0]",
    "del x[:]",
    "del x['a']",
    "x[()] = 1",
    "x += 1\n    x -= 1",
    "assert x",
    "raise x",
    "with x:\n        pass",
)
"""Statements of one tensor, in a function."""

_NAMES: Final = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
    *("lshift", "rshift", "and", "or", "xor", "div"),
)
_ONE: Final = ("neg", "pos", "abs", "invert", "bool", "int", "float", "complex", "index", "len")
_OTHERS: Final = (
    *("iter", "reversed", "round", "long", "nonzero", "contains", "getitem", "setitem", "delitem"),
    *("eq", "ne", "lt", "le", "gt", "ge", "divmod", "rdivmod"),
)
METHODS: Final = tuple(
    f"__{name}__"
    for name in (
        *(prefix + name for name in _NAMES for prefix in ("", "r", "i")),
        *_ONE,
        *_OTHERS,
    )
)
"""The methods behind the operators, whether tensors have them or not."""

GET: Final = (
    "x[v]",
    "x[v,]",
    "x[v, 0]",
    "x[:, v]",
    "x[..., v]",
    "x[v:]",
    "x[:v]",
    "x[::v]",
    "x[[v]]",
    "x[[0, v]]",
    "x[:, v:]",
    "x[:, [v, 1]]",
    "x[None, v]",
    "x[v, v]",
    "x.__getitem__(v)",
)
"""Ways in which any value can be an index, or in one."""

SET: Final = (
    "x[v] = 1",
    "x[0] = v",
    "x[:] = v",
    "x[...] = v",
    "x[()] = v",
    "x[None] = v",
    "x[True] = v",
    "x[False] = v",
    "x[xp.tensor(0)] = v",
    "x[[0, 1]] = v",
    "x[v] = v",
    "x[:, v] = 0",
    "x[v] += 1",
    "x[0, 0] = v",
    "del x[v]",
)
"""Ways in which any value can be assigned, or say where."""


def asked(before: Sequence[str], call: str) -> str:
    """``call``, after lines that bind its names, and the classes that these name."""
    return with_subclasses("\n".join([*before, call]), before)


def expression(text: str, x: str, v: str | None = None) -> str:
    return asked(_operands(x, v), f"bound(lambda: {text})")


def statement(text: str, x: str, v: str | None = None, then: str = "") -> str:
    """A statement in a function; one that assigns to ``x`` makes it a name of the function."""
    parameter = "x=x" if then else ""
    ends = f"\n    return {then}" if then else ""
    return asked(_operands(x, v), f"def f({parameter}):\n    {text}{ends}\nbound(f)")


def _operands(x: str, v: str | None) -> list[str]:
    return [f"x = {x}", *([] if v is None else [f"v = {v}"])]


def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    yield from _binary(turn)
    yield from _of_one()
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
                text = statement(f"v {symbol}= x", turn.of(TENSORS), value, then="v")
                yield f"{symbol}=", text.replace("def f(x=x)", "def f(v=v)")


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
            yield name, _bound(call)


def _bound(call: str) -> str:
    return with_subclasses(f"bound({call})", [call])


def _indices() -> Iterator[Text]:
    """Indices as they are written, read and assigned to."""
    for index in INDICES:
        for x in INDEXED:
            yield "[]", expression(f"x[{index}]", x)
            yield "[]=", statement(f"x[{index}] = 1", x)
        for value in ASSIGNED:
            yield "[]=", statement(f"x[{index}] = v", INDEXED[1], value)
        yield "[]=", statement(f"x[{index}] += 1", INDEXED[1])


def _items(turn: Turn) -> Iterator[Text]:
    """Any value as an index, in one, and assigned."""
    for value in VALUES:
        for number, text in enumerate(GET):
            x = turn.of(INDEXED) if number == 0 else INDEXED[1 + number % 2]
            yield "[]", expression(text, x, value)
        for number, text in enumerate(SET):
            yield "[]=", statement(text, INDEXED[1 + number % 3], value)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Any two operands under any operator; any index of up to four parts."""
    values = st.sampled_from((*VALUES, *TENSORS))
    tensors = st.sampled_from(TENSORS)
    plain = [index for index in INDICES if "," not in index and "*" not in index]
    parts = st.lists(st.one_of(st.sampled_from(plain), st.just("v")), min_size=1, max_size=4)

    @st.composite
    def operated(draw: st.DrawFn) -> Text:
        symbol = draw(st.sampled_from(sorted(BINARY)))
        x, value = draw(tensors), draw(values)
        if symbol in ARITHMETIC and draw(st.booleans()):
            return f"{symbol}=", statement(f"x {symbol}= v", x, value, then="x")
        operands = draw(st.permutations("xv"))
        return symbol, expression(BINARY[symbol].format(*operands), x, value)

    @st.composite
    def named(draw: st.DrawFn) -> Text:
        name = draw(st.sampled_from(METHODS))
        arguments = draw(st.lists(values, max_size=3))
        return name, _bound(", ".join([f"xp.Tensor.{name}", draw(tensors), *arguments]))

    @st.composite
    def indexed(draw: st.DrawFn) -> Text:
        index = ", ".join(draw(parts))
        x, value = draw(st.sampled_from(INDEXED)), draw(values)
        if draw(st.booleans()):
            return "[]", expression(f"x[{index}]", x, value)
        assigned = draw(st.sampled_from((*ASSIGNED, "v")))
        return "[]=", statement(f"x[{index}] = {assigned}", x, value)

    return st.one_of(operated(), named(), indexed())


AREA: Final = Area("tensor-operators", texts, strategy)
