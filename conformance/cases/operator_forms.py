"""Forms of Python's operators on tensors: what an operand or two are put into.

In a form ``x`` is the tensor and ``v`` the other operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.cases.operator_values import with_subclasses

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

OF_TWO: Final = (
    "round(x, v)",
    "complex(x, v)",
    "complex(v, x)",
    "pow(x, v, v)",
    "pow(v, 2, x)",
    "x < v < x",
    "v < x <= v",
    "x in [v]",
    "v in (x,)",
    "[x].index(v)",
    "[v].count(x)",
    "[v, x].remove(x)",
    "{v: 1}.get(x)",
    "(x, 1) == (v, 1)",
    "[x] == [v]",
    "[x] < [v]",
    "max(x, v)",
    "min([v, x])",
    "sum([x], v)",
    "sum([v], x)",
    "sorted([x, v])",
    "sorted([v, x], key=lambda each: each)",
    "x if v else x",
    "x and v",
    "v or x",
    "not (x == v)",
    "v[x]",
    "v[x:]",
    "v[0, x]",
    "v(x)",
    "range(x, v)",
    "slice(x, v).start is x",
    "slice(x, v) == slice(x, v)",
    "isinstance(x, v)",
    "issubclass(xp.Tensor, v)",
    '"%s" % (v,)',
    '"%d" % v',
    "np.array([x, v])",
    "np.array(v) + x",
    "x + np.array(v)",
    "np.float64(1) * x - v",
    "list(map(x, [v]))",
    "list(zip(x, v))",
    "list(filter(x, [v]))",
    "dict([(x, v)])",
    "[*v, *x]",
    "x.__add__(v)",
    "x.__radd__(v)",
    "x.__eq__(v)",
    "x.__contains__(v)",
    "x.__getitem__((v, 0))",
    "x.__setitem__(v, v)",
    "x.__setitem__((0, v), x)",
    "x.__array__(v)",
    "x.__format__(v)",
    "x.__pow__(v, v)",
    "x.__divmod__(v)",
    "-x + v",
    "x * v * x",
    "v - x - v",
    "x @ v + x",
    "(x == v) is v",
    "~(x > v)",
)
"""Expressions of a tensor and any other value."""

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
    return asked(operands(x, v), f"bound(lambda: {text})")


def statement(text: str, x: str, v: str | None = None, then: str = "") -> str:
    """A statement in a function that returns ``then``: what it assigns to, ``x`` or ``v``."""
    parameter = f"{then}={then}" if then else ""
    ends = f"\n    return {then}" if then else ""
    return asked(operands(x, v), f"def f({parameter}):\n    {text}{ends}\nbound(f)")


def operands(x: str, v: str | None) -> list[str]:
    return [f"x = {x}", *([] if v is None else [f"v = {v}"])]


def bound_call(call: str) -> str:
    return with_subclasses(f"bound({call})", [call])
