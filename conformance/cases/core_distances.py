"""Distances, forms of two vectors and their relatives for the area core-ops, oddly called.

Of tensors that do not fit, of dtypes that nobody computes, of nothing at all, and where a NaN or an
infinity decides what is the largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_ORDERS: Final = ("0.0", "0.5", "1.0", "1.5", "2.0", "3.5", "xp.inf")
_ROWS: Final = ("(3, 2)", "(4, 2)", "(2, 3, 2)", "(0, 2)", "(3, 0)", "(30, 2)", "(3,)", "(3, 3)")
_DTYPES: Final = ("float32", "float64", "float16", "int64", "complex64")
_MODES: Final = (
    *("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist"),
    *("donot_use_mm_for_euclid_dist", "none"),
)
_SPECIAL: Final = "xp.tensor([[1.0, xp.nan], [2.0, 3.0], [xp.inf, xp.nan], [xp.inf, 1.0]])"
_FORMS: Final = (
    *("(2, 3)", "(2, 4)", "(5, 3, 4)", "(5,)"),
    *("(2, 3)", "(2, 4)", "(5, 3, 4)", "(4,)"),
    *("(2, 3)", "(4,)", "(5, 3, 4)", "(5,)"),
    *("(2, 3)", "(3, 4)", "(5, 3, 4)", "(5,)"),
    *("(2, 2)", "(2, 4)", "(5, 3, 4)", "(5,)"),
    *("(2, 3)", "(2, 3)", "(5, 3, 4)", "(5,)"),
    *("()", "()", "(5, 3, 4)", "(5,)"),
    *("(2, 3)", "(2, 4)", "(5, 3)", "(5,)"),
    *("(2, 0)", "(2, 4)", "(5, 0, 4)", "(5,)"),
)
_SUMS: Final = ("(3,)", "(2,)", "(1, 1, 1)", "()", "(-1, 3)", "(2, 3)", "(1, 3)", "(2, 1)")
_CHUNKED: Final = (
    *("[{a}, {b}], 0, 2", "[{a}, {b}], -2, 3", "[{a}.t(), {b}.t()], 1, 2", "[{a}.t()], 0, 2"),
    *("[{a}[..., None], {a}], 0, 2", "[{a}[..., None], {a}], -1, 2", "[{a}.half(), {a}], 0, 2"),
    *("[{a}], 3, 2", "[{a}, {b}], 1, 2", "[{a}], 0, 0", "[], 0, 1", "[{a}[:0]], 0, 1"),
)
_TRILINEAR: Final = (
    *("(2, 3), (2, 3), (2, 3), [], [], [], [0], 1", "(2, 3), (2, 3), (2, 3), [], [], [], [0], 2"),
    *("(2, 3), (2, 3), (2, 3), [], [], [], [0, 0], 1", "(2, 3), (2,), (2, 3), [], [1], [], [], 0"),
    *("(2, 3), (2, 4), (3, 4), [2], [1], [0], [1], 1", "(2, 3), (3,), (3,), [], [0], [0], [1], 0"),
    "(2, 3), (2, 4), (3, 5), [2], [1], [0], [1], 1",
)


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    numbers = f"((xp.arange(xp.ones({shape}).numel(), device='{device}') * 7 % 23) * 0.375 - 3.125)"
    made = f"{numbers}.reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def texts() -> Iterator[Text]:
    yield from _cdist()
    yield from _pdist()
    yield from _forms()
    yield from _sums()


def _cdist() -> Iterator[Text]:
    pools = (_ROWS, _ROWS, _ORDERS, _MODES, _DTYPES, _DEVICES)
    for one, two, order, mode, dtype, device in pairwise(*pools):
        x, y = (_made(shape, device, dtype) for shape in (one, two))
        yield "cdist", f"xp.cdist({x}, {y}, {order}, '{mode}')"
    for order in _ORDERS:
        yield "cdist", f"xp.cdist({_SPECIAL}, {_SPECIAL}, {order})"
        backward = "xp.ops.aten._cdist_backward(x * 0.1, x, y, {}, x.abs())"
        x, y = _made("(3, 3)"), _made("(3, 3)")
        if order != "0.5":  # of which little more than rounding is left
            yield "_cdist_backward", f"x, y = {x}, {y}.mT\n{backward.format(order)}"
    for order, grad in product(("-1", "xp.nan"), _DEVICES):
        yield "cdist", f"xp.cdist({_made('(3, 2)', grad)}, {_made('(4, 2)', grad)}, {order})"
    for mode, device in product(("None", "0", "3", "-1"), _DEVICES):
        x = _made("(3, 2)", device)
        yield "_cdist_forward", f"x = {x}\nxp.ops.aten._cdist_forward(x, x, 1.0, {mode})"


def _pdist() -> Iterator[Text]:
    for shape, dtype, order in pairwise(_ROWS, _DTYPES, _ORDERS):
        yield "pdist", f"xp.pdist({_made(shape, dtype=dtype)}, {order})"
    for order in _ORDERS:
        yield "pdist", f"xp.pdist({_SPECIAL}, {order})"
        x = _made("(3, 3)")
        yield (
            "_pdist_backward",
            f"x = {x}\nxp.ops.aten._pdist_backward(x[0], x, {order}, x[1].abs())",
        )
    for layout, device in product(("", ".t()"), _DEVICES):
        x = f"{_made('(3, 2)', device)}{layout}"
        yield "_pdist_forward", f"xp.ops.aten._pdist_forward({x}, 2.0)"


def _forms() -> Iterator[Text]:
    shapes = [_FORMS[place : place + 4] for place in range(0, len(_FORMS), 4)]
    for given, device in product(shapes, _DEVICES):
        tensors = ", ".join(_made(shape, device) for shape in given)
        yield "bilinear", f"xp.bilinear({tensors})"
    for dtype in ("int64", "bool", "complex64", "float16"):
        three = ", ".join(_made(shape, dtype=dtype) for shape in shapes[0][:3])
        yield "bilinear", f"xp.nn.functional.bilinear({three})"
        yield "bilinear", f"xp.bilinear({three}, {_made('(5,)')})"
    for call, device in product(_TRILINEAR, _DEVICES):
        start, _, rest = call.partition(", [")
        tensors = ", ".join(_made(f"({shape})", device) for shape in start[1:-1].split("), ("))
        yield "_trilinear", f"xp.ops.aten._trilinear({tensors}, [{rest})"
    calls = ("{x}, {x}", "{x}, {x}[0], 5", "{x}, {x}[:, :1], 0, 2.0", "{x}, {x}.long(), 1")
    for call, dtype in product(calls, _DTYPES):
        x = _made("(2, 3)", dtype=dtype)
        yield "cosine_similarity", f"x = {x}\nxp.cosine_similarity({call.format(x='x')})"


def _sums() -> Iterator[Text]:
    for shape, size, device in pairwise(("(2, 3)", "(0, 3)", "(1, 3)", "()"), _SUMS, _DEVICES):
        yield "sum_to_size", f"{_made(shape, device)}.sum_to_size({size})"
    for call, device in product(_CHUNKED, _DEVICES):
        tensors = {"a": _made("(5, 2)", device), "b": _made("(3, 2)", device)}
        yield "_chunk_cat", f"xp._chunk_cat({call.format(**tensors)})"
