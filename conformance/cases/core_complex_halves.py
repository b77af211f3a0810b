"""What is warned of where complex numbers of halves are made, also for copies that nobody sees.

Each tensor of that dtype warns when its memory is taken, so that the count says which copies a
kernel makes: of inputs that are cast, of outputs that are computed in another dtype.  For the area
core-ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_OPERANDS: Final = {
    "halves": "xp.ones(2).to(xp.half)",
    "bfloats": "xp.ones(2).to(xp.bfloat16)",
    "integers": "xp.ones(2).to(xp.int32)",
    "number": "xp.tensor(1j)",
    "complex": "xp.ones(2).to(xp.complex64)",
    "complex halves": "xp.ones(2).to(xp.complex32)",
    "complex half": "xp.tensor(1j).to(xp.complex32)",
    "scalar": "1j",
}
_EITHER: Final = {"number", "complex halves", "complex half", "scalar"}
_OF_TWO: Final = [
    "sub",
    "mul",
    "true_divide",
    "pow",
    "ne",
    "lt",
    "logical_or",
    "remainder",
    "fmod",
    "atan2",
    "copysign",
    "xlogy",
    "bitwise_and",
    "hypot",
    "rsub",
    "isclose",
    "equal",
]
_WITH_OUTPUT: Final = ("add", "eq", "logical_and", "true_divide")
_DTYPES: Final = ("complex32", "complex64", "float16", "bool")
_ARRAYS: Final = ("halves", "complex halves", "complex half", "complex", "integers")
_REDUCED: Final = ("sum", "mean", "prod", "cumsum", "cumprod", "nansum")
_ORDERS: Final = ("0", "2", "xp.inf")
_OF_ONE: Final = (
    ("median", "a.median()"),
    ("nanmedian", "a.nanmedian()"),
    ("to_dense", "a.to_dense()"),
    ("to_dense", "a.to_dense(xp.complex64)"),
    ("dequantize", "a.dequantize()"),
    ("index", "a[xp.tensor([0])]"),
    ("index", "a[xp.tensor(True)]"),
    ("index_put", "a.index_put((xp.tensor([0]),), xp.ones(3).to(a.dtype))"),
    ("index_put", "a.index_put((xp.tensor([0]),), a[:1])"),
    ("std", "xp.std(a, 0, out=xp.empty(0, dtype=xp.complex32))"),
    ("var", "xp.var(a, out=xp.empty((), dtype=xp.complex32))"),
    ("abs", "xp.abs(a, out=xp.empty(0, dtype=xp.half))"),
    ("add", "1j + a"),
    ("rsub", "1j - a"),
    ("true_divide", "1j / a"),
    ("add_", "a.clone().add_(1j)"),
    ("mul_", "a.clone().mul_(xp.ones(2).to(xp.half))"),
)


def texts() -> Iterator[Text]:
    for target, (one, a), (two, b) in product(_OF_TWO, _OPERANDS.items(), _OPERANDS.items()):
        if not _EITHER.isdisjoint({one, two}):
            yield target, f"a, b = {a}, {b}\nxp.{target}(a, b)"
    for target, one, two, dtype in product(_WITH_OUTPUT, _ARRAYS, _ARRAYS, _DTYPES):
        if "complex" in one + two:
            a, b = _OPERANDS[one], _OPERANDS[two]
            output = f"xp.empty(0, dtype=xp.{dtype})"
            yield target, f"a, b = {a}, {b}\nxp.{target}(a, b, out={output})"
    for name in _ARRAYS:
        yield from _texts_of_one(f"a = {_OPERANDS[name]}\n")
        yield from _joined(_OPERANDS[name])


def _texts_of_one(made: str) -> Iterator[Text]:
    for target, dtype in product(_REDUCED, _DTYPES):
        yield target, f"{made}xp.{target}(a, 0, dtype=xp.{dtype})"
        yield target, f"{made}xp.{target}(a[..., :0], 0, dtype=xp.{dtype})"
        yield target, f"{made}xp.{target}(a, 0, out=xp.empty(0, dtype=xp.{dtype}))"
    for order, dim, dtype in product(_ORDERS, ("None", "0"), ("None", "xp.complex32")):
        target = "linalg_vector_norm"
        for values in ("a", "a[..., :1]"):
            yield target, f"{made}xp.linalg.vector_norm({values}, {order}, {dim}, dtype={dtype})"
    for order, dtype in product(_ORDERS, _DTYPES):
        yield "norm", f"{made}xp.ops.aten.norm.ScalarOpt_dtype(a, {order}, dtype=xp.{dtype})"
    for target, call in _OF_ONE:
        yield target, f"{made}{call}"


def _joined(one: str) -> Iterator[Text]:
    for name, target in product(_ARRAYS, ("cat", "stack")):
        made = f"a, b = {one}, {_OPERANDS[name]}\n"
        yield target, f"{made}xp.{target}([a, b])"
        yield target, f"{made}xp.{target}([a, b], out=xp.empty(0, dtype=xp.complex64))"
