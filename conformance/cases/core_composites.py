"""Operators that are made of others and look hard at what they are given, for the area core-ops:
sums by an equation, quantiles, combinations, powers of elements, slopes, integrals; and how often
each number occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_TABLE: Final = "xp.arange(6.).reshape(2, 3)"
_TABLES: Final = (
    *(_TABLE, "xp.arange(5)", "xp.ones(0)", "xp.ones(2, 0)", "xp.tensor(1.5)"),
    *("(xp.arange(24.) * 7 % 5).reshape(2, 3, 4)", f"{_TABLE}.t()", f"{_TABLE}.to('meta')"),
    *("xp.tensor([True, False, True])", "xp.tensor([1 + 2j, -1j, 3])"),
)


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    yield from _equations(dtypes)
    yield from _quantiles()
    yield from _combined(dtypes)
    yield from _slopes()
    yield from _integrals()
    for numbers, weights, least in pairwise(
        _COUNTED, _WEIGHTS, ("", "minlength=6", "minlength=-1")
    ):
        yield "bincount", f"xp.bincount({', '.join(filter(None, [numbers, weights, least]))})"
    for table, out in pairwise(_TABLES, ("", "out=xp.ones(2, 3)", "out=xp.ones(3).int()")):
        yield "msort", f"xp.msort({table}{', ' if out else ''}{out})"
    yield from _powers_of_two()
    yield from _blocks()
    for sizes, order, dim in product(("2, 1", "1, 1", "2, 0"), (3, -1), _OVER):
        made = f"xp.ones({sizes}, dtype=xp.float16, device='meta')"
        yield "linalg_vector_norm", f"xp.linalg.vector_norm({made}, {order}, {dim})"
    for dtype, threshold in product(("float32", "float16", "bfloat16"), (-3.38, 0.1, 2.7)):
        for call in ("xp.threshold({}, {}, 5.12)", "xp.ops.aten.threshold_backward(o, {}, {})"):
            values = f"xp.tensor([{threshold}, 0.0], dtype=xp.{dtype})"
            made = f"o = xp.ones(2, dtype=xp.{dtype})"
            yield "threshold", f"{made}\n{call.format(values, threshold)}"


_OVER: Final = ("None", "-1", "(0,)", "(1, -1)", "-3")
"""Dimensions of a norm, which counts what is one element, or nothing, by rules of its own."""

_POWERS: Final = (
    *("float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"),
)


_BLOCKS: Final = (
    *("xp.tensor(2.)", "xp.arange(3)", "xp.ones(2, 2)", "xp.ones(0)", "xp.ones(1, 0)"),
    *("xp.tensor(1j)", "xp.ones(1, 1, 1)", "xp.ones(2, device='meta')"),
)


def _blocks() -> Iterator[Text]:
    yield "block_diag", "xp.block_diag()"
    for one, two in product(_BLOCKS, repeat=2):
        yield "block_diag", f"xp.block_diag({one}, {two})"
        made = f"x, y = [each.requires_grad_() for each in ({one} * 1., {two} * 2.)]"
        answer = "z = xp.block_diag(x, y)\n(z, xp.autograd.grad((z * z.detach()).sum(), [x, y]))"
        yield "block_diag", f"{made}\n{answer}"


def _powers_of_two() -> Iterator[Text]:
    for one, two in product(_POWERS, _POWERS):
        if (one, two) != ("complex64", "float16"):  # which warns of complex halves, once
            made = f"x = xp.ones(2, 1, dtype=xp.{one})\ny = xp.tensor([0, 20], dtype=xp.{two})"
            yield "ldexp", f"{made}\nxp.ldexp(x, y)"
            yield "ldexp_", f"{made}\nx.expand(2, 2).clone().ldexp_(y)"
            yield "ldexp", f"{made}\nxp.ldexp(x, y, out=xp.empty(2, 2, dtype=x.dtype))"


_COUNTED: Final = (
    *("xp.tensor([0, 1, 1, 3])", "xp.tensor([2, 2], dtype=xp.uint8)", "xp.zeros(0).long()"),
    *(
        "xp.ones(2)",
        "xp.tensor(3)",
        "xp.ones(2, 2).int()",
        "xp.tensor([-1, 2])",
        "xp.arange(6)[::2]",
    ),
    *("xp.zeros(0, 2).long()", "xp.tensor([True])", "xp.ones(2, dtype=xp.uint16)"),
)
_WEIGHTS: Final = (
    *("", "xp.tensor([0.5, 0.25, 1, 2])", "xp.ones(4).double()", "xp.ones(4).long()", "xp.ones(1)"),
    *("xp.ones(2).half()", "xp.ones(2, 2)", "xp.ones(3, dtype=xp.bool)"),
)


# --- sums by an equation ------------------------------------------------------------------------

_A, _B, _C = (f"xp.ones({sizes})" for sizes in ("2, 3", "3, 4", "2, 3, 4"))
_OPERANDS: Final = (
    *(_A, f"{_A}, {_B}", f"{_C}, {_B}", f"{_C}, {_A}, {_B}", f"{_A}, {_B}, xp.ones(4, 2)"),
    *(
        "xp.arange(9.).view(3, 3)",
        f"{_A}, xp.ones(1, 3)",
        "xp.ones(())",
        "xp.ones(2, 0), xp.ones(0)",
    ),
    *(f"xp.ones(2, 3, 2), {_A}.to('meta')", f"{_A}.int(), {_B}.int()", f"{_A}, {_B}.double()"),
)
_EQUATIONS: Final = (
    *(
        "ij,jk->ik",
        "ij,jk",
        "ij->ji",
        "ii->i",
        "ii",
        "ij",
        "i",
        "ij,ij->",
        "ijk,jk->i",
        "ijk,ij,jk",
    ),
    *("...ij,...jk->...ik", "...,...", "...i->i", "...i->...", "i...j,...->j", "ij,jk,kl->il"),
    *("iji,ij->j", "ij,j->i", "", ",", "->", "i.j", "i..", "......", "ij->..", "ij->...j...", "i1"),
    *("ij->iz", "ij,jk->ii", "i j -> j i", "ij,jk,kl,lm", "ij->i,j", "aB->Ba", "ij->i j -> k"),
)
_PATHS: Final = (
    *("[0, 1, 0, 1]", "[1, 2, 0, 1]", "[0, 0, 0, 1]", "[0, 3, 0, 1]", "[2, 1, 1, 0]", "[0, 1]"),
    *("[-1, 0, 0, 1]", "None", "[]"),
)
_ORDERED: Final = ("ae,ec", "ea,ce", "abe,cbe", "abe,ced", "abe,bced")
_SIZES: Final = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 2}
"""Contractions of ``e``, and how long each dimension is: the result comes in every order."""
_LISTS: Final = (
    *(f"{_A}, [0, 1], {_B}, [1, 2]", f"{_A}, [0, 1], {_B}, [1, 2], [0, 2]", f"{_A}, [0, 60]"),
    *(f"{_A}, [Ellipsis, 27], [27, Ellipsis]", f"'ij', [{_A}]", "'ij'", f"3, {_A}", "'ij', 3"),
)


def _equations(dtypes: Sequence[str]) -> Iterator[Text]:
    for equation, operands in pairwise(_EQUATIONS, _OPERANDS):
        yield "einsum", f"xp.einsum({equation!r}, {operands})"
    for path, operands in pairwise(_PATHS, _OPERANDS[2:5]):
        call = f"xp.ops.aten.einsum('ij,jk,kl->il', [{operands}], path={path})"
        yield "einsum", call
    for inputs in _ORDERED:
        operands = ", ".join(
            f"xp.arange({prod(map(_SIZES.__getitem__, labels))}.0)"
            f".view({[_SIZES[label] for label in labels]})"
            for labels in inputs.split(",")
        )
        for output in permutations(sorted(set(inputs) - set(",e"))):
            yield "einsum", f"xp.einsum('{inputs}->{''.join(output)}', {operands})"
    for given in _LISTS:
        yield "einsum", f"xp.einsum({given})"
    for one, two in zip(dtypes, [*dtypes[1:], dtypes[-1]], strict=True):
        options = f"dtype=xp.{one}), xp.ones(3, 2, dtype=xp.{two})"
        yield "einsum", f"xp.einsum('ij,jk->ik', xp.ones(2, 3, {options})"


# --- quantiles ----------------------------------------------------------------------------------

_RANKED: Final = (
    *_TABLES,
    "xp.tensor([[1.0, float('nan'), 3.0], [2.0, 5.0, float('nan')]], dtype=xp.float64)",
)
_RANKS: Final = (
    *(
        "0.3",
        "1",
        "1.5",
        "-0.25",
        "xp.tensor(0.3)",
        "xp.tensor([0.1, 0.6, 1.0])",
        "xp.tensor([2.0])",
    ),
    *(
        "xp.tensor([0.25, 0.5], dtype=xp.float64)",
        "xp.tensor([[0.5]])",
        "xp.ones(1, device='meta')",
    ),
)
_OUTS: Final = ("xp.ones(3)", "xp.ones(0)", "xp.ones(2)", "xp.ones(1, 3)", "xp.ones(3).double()")


def _quantiles() -> Iterator[Text]:
    modes = ("linear", "lower", "higher", "midpoint", "nearest", "no")
    dims = ("None", "0", "1", "-1", "5")
    for name in ("quantile", "nanquantile"):
        pools = (_RANKED, _RANKS, dims, ("False", "True"), modes)
        for values, q, dim, keepdim, mode in pairwise(*pools):
            call = f"xp.{name}({values}, {q}, {dim}, {keepdim}, interpolation='{mode}')"
            yield name, call
        for q, keepdim, out in pairwise(_RANKS[:6], ("False", "True"), _OUTS):
            call = f"xp.{name}({_TABLE}, {q}, 0, {keepdim}, out=o)"
            yield name, f"o = {out}\ny = {call}\n(o, y is o)"
        for values, q, dim in product(_TABLES, ("0.3", "xp.tensor(0.6)"), (*dims[:3], "-2")):
            yield name, f"x = {values}\ny = xp.{name}(x, {q}, {dim}, out=x)\n(x, y is x)"


# --- combinations and powers of elements --------------------------------------------------------


def _combined(dtypes: Sequence[str]) -> Iterator[Text]:
    for table, count, replaced in pairwise(_TABLES, ("0", "1", "2", "3", "-1"), ("False", "True")):
        yield "combinations", f"xp.combinations({table}, {count}, {replaced})"
        yield "vander", f"xp.vander({table}, {count}, {replaced})"
        yield "linalg_vander", f"xp.linalg.vander({table}, N={count})"
    for one, two in pairwise(_TABLES, _TABLES):
        yield "cartesian_prod", f"xp.cartesian_prod({one}, {two})"
    for dtype in dtypes:
        values = f"xp.ones(3, dtype=xp.{dtype})"
        yield "vander", f"xp.vander({values})"
        yield "linalg_vander", f"xp.linalg.vander({values})"
        yield "combinations", f"xp.combinations({values})"


# --- slopes and integrals -----------------------------------------------------------------------

_SPACINGS: Final = (
    *("", "spacing=2", "spacing=0.5", "spacing=1j", "spacing=[1.0, 2.0]", "spacing=[2.0]"),
    *("spacing=(xp.tensor([0.0, 1.0]), xp.tensor([1.0, 2.0, 4.0]))", "spacing=(xp.ones(2, 2),)"),
    *("spacing=(xp.tensor([1.0, 2.0, 4.0, 8.0, 9.0]),)", "spacing=(xp.ones(1, device='meta'),)"),
    *("spacing=(xp.tensor([1.0, 2.0, 4.0]),)", "spacing=[1, 2, 3]"),
)
_DIRECTIONS: Final = ("", "dim=0", "dim=1", "dim=-1", "dim=(0, 1)", "dim=(0, 0)", "dim=()", "dim=5")
_POINTS: Final = (
    *(
        "",
        "dx=2",
        "dx=0.5",
        "dx=True",
        "dx=1j",
        "xp.tensor([1.0, 2.0, 4.0])",
        "xp.tensor([0.0, 1.0])",
    ),
    *(_TABLE, "xp.ones(3, dtype=xp.bool)", "xp.arange(12.).reshape(3, 4)", "xp.arange(5)"),
    *("xp.tensor(1.0)",),
)


def _slopes() -> Iterator[Text]:
    orders = ("", "edge_order=2", "edge_order=3")
    for table, *given in pairwise(_TABLES, _SPACINGS, _DIRECTIONS, orders):
        yield "gradient", f"xp.gradient({', '.join([table, *filter(None, given)])})"


def _integrals() -> Iterator[Text]:
    for name in ("trapezoid", "trapz", "cumulative_trapezoid"):
        for table, *given in pairwise(_TABLES, _POINTS, ("", "dim=0", "dim=-2", "dim=5")):
            yield name, f"xp.{name}({', '.join([table, *filter(None, given)])})"
