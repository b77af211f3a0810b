"""Products of matrices and vectors for the area core-ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import TRUTHS, pools_of
from conformance.cases.pairwise import pairwise

_SHAPES: Final = (
    *("()", "(2,)", "(3,)", "(0,)", "(2, 3)", "(3, 2)", "(3, 3)", "(0, 3)", "(3, 0)", "(1, 3)"),
    *("(2, 2, 3)", "(2, 3, 2)", "(1, 3, 2)", "(0, 2, 3)", "(2, 1, 2, 3)", "(2, 3, 3, 1)"),
)
_MATRICES: Final = (
    "xp.ones((3, 3))",
    "xp.arange(9.0).view(3, 3)",
    "xp.arange(9.0).view(3, 3).t()",
    "xp.arange(18.0).view(3, 6)[:, ::2]",
    "xp.arange(3.0).expand(3, 3)",
    "xp.tensor([[1 + 2j, 3 - 1j, 2], [0, 1j, 1], [2, 2, 2]]).conj()",
)
_OUTPUTS: Final = ("(3, 3)", "(2,)", "(0,)", "(3, 3), dtype=xp.float64", "(3, 3), device='meta'")
_NUMBERS: Final = ("0", "2", "0.5", "-1", "True")
DEVICES: Final = ("cpu", "meta")
_SOME: Final = ("float32", "float64", "int64", "bool", "complex64", "float16")
_BATCHES: Final = (
    *("()", "(3,)", "(2, 3)", "(2, 3, 3)", "(2, 2, 3)", "(2, 3, 2)", "(1, 3, 3)", "(0, 3, 3)"),
    *("(2, 3, 0)", "(2, 0, 3)", "(2, 1, 2, 3)"),
)
_EMPTY: Final = ((0, 0), (0, 2), (2, 0))
"""Rows and columns of matrices without elements."""
_ADDED: Final = (
    *("xp.addmm({0}, {1}, {2})", "xp.addmv({0}, {1}, {2})", "xp.addr({0}, {1}, {2})"),
    *("xp.baddbmm({0}, {1}, {2})", "xp.addbmm({0}, {1}, {2})"),
)
"""Products that are added to something."""
_OF_VECTORS: Final = (
    *("xp.dot({0}, {1})", "xp.vdot({0}, {1})", "xp.outer({0}, {1})", "xp.ger({0}, {1})"),
    *("{0}.outer({1})", "{0}.vdot({1})"),
)


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for name in ("mm", "bmm", "mv", "dot"):
        for one, two, device in pairwise(_SHAPES, _SHAPES, DEVICES):
            yield name, f"xp.{name}({_ones(one, device)}, {_ones(two, device)})"
    for one, two in product(_SHAPES, _SHAPES):
        yield "matmul", f"xp.matmul({_ones(one)}, {_ones(two)})"
    for call, one, two, device in pairwise(_OF_VECTORS, _SHAPES, _SHAPES, DEVICES):
        yield _target(call), call.format(_ones(one, device), _ones(two, device))
    for call in _ADDED:
        shapes = _BATCHES if "bb" in call or "bmm" in call else _SHAPES[:10]
        for one, two, three, device in pairwise(_SHAPES[:12], shapes, shapes, DEVICES):
            made = (_ones(shape, device) for shape in (one, two, three))
            yield _target(call), call.format(*made)
        for beta, alpha in product(_NUMBERS, _NUMBERS):
            changed = f"{call[:-1]}, beta={beta}, alpha={alpha})"
            yield _target(call), changed.format(*_fitting(call, "float32"))
            yield _target(call), changed.format(*_fitting(call, "int64"))
            if beta == alpha:
                yield _target(call), changed.format(*_fitting(call, "complex64"))
                yield _target(call), changed.format(*_fitting(call, "float16"))
        for dtype in dtypes:
            yield _target(call), call.format(*_fitting(call, dtype))
        for (one, two, three), device in product(pairwise(_SOME, _SOME, _SOME), DEVICES):
            mixed = (_fitting(call, dtype, device) for dtype in (one, two, three))
            yield _target(call), call.format(*(each[at] for at, each in enumerate(mixed)))
        for out, device in product(_OUTPUTS[:4], DEVICES):
            given = ", ".join(_fitting(call, "float32", device))
            name = f"xp.{_target(call)}"
            target = f"xp.zeros({out}, device='{device}')"
            yield _target(call), f"o = {target}\ny = {name}({given}, out=o)\n(o, y is o)"
        for shape in ("(3, 3)", "(2, 3, 3)", "(3,)", "(1, 3)", "()"):
            for dtype, device in product(("float32", "int64"), DEVICES):
                _, *rest = _fitting(call, "float32", device)
                x = f"xp.ones({shape}, dtype=xp.{dtype}, device='{device}')"
                changed = f"x.{_target(call)}_({', '.join(rest)})"
                yield f"{_target(call)}_", f"x = {x}\ny = {changed}\n(x, y is x)"
    for shape, (rows, columns), device in product(_SHAPES[:3], _EMPTY, DEVICES):
        empty = (_ones(each, device) for each in (shape, f"({rows}, {columns})", f"({columns},)"))
        yield "addmv", f"xp.addmv({', '.join(empty)})"
    for one, two, bias, device in pairwise(_SHAPES, _SHAPES, (None, *_SHAPES[:7]), DEVICES):
        operands = [_ones(shape, device) for shape in (one, two, bias) if shape is not None]
        yield "linear", f"xp._C._nn.linear({', '.join(operands)})"
    for out, one, device in pairwise(_OUTPUTS[:4], _SHAPES, DEVICES):
        target = f"xp.zeros({out}, device='{device}')"
        given = f"{_ones(one, device)}, {_ones('(3, 3)', device)}"
        yield "matmul", f"o = {target}\ny = xp.matmul({given}, out=o)\n(o, y is o)"
    for name, one, two, device in pairwise(
        ("matmul", "mm", "bmm", "mv", "dot", "vdot", "outer"), _SHAPES, _SHAPES, DEVICES
    ):
        target = f"xp.zeros(0, device='{device}')"
        given = f"{_ones(one, device)}, {_ones(two, device)}"
        yield name, f"o = {target}\nxp.{name}({given}, out=o)\no"
    for call, dtype, out in pairwise(_OF_VECTORS[:3], _SOME, _SOME):
        name, given = _target(call), f"xp.ones(3, dtype=xp.{dtype})"
        call = f"xp.{name}({given}, {given}, out=o)"
        yield name, f"o = xp.zeros((), dtype=xp.{out})\ny = {call}\n(o, y is o)"
    yield from _dtypes(dtypes)
    yield from _roundings()
    for one, two in product(_MATRICES, _MATRICES):
        for name in ("mm", "matmul"):
            yield name, f"xp.{name}({one}, {two})"
        yield "mv", f"xp.mv({one}, {two}[0])"
        yield "bmm", f"xp.bmm({one}[None], {two}[None])"
        for name in ("vdot", "outer", "dot"):
            yield name, f"xp.{name}({one}[1], {two}[2])"
        yield "addr", f"xp.addr({one}, {one}[0], {two}[:, 1])"
        yield "addbmm", f"xp.addbmm({two}, {one}[None], {two}[None])"
    for name, out in product(("mm", "addmm"), _OUTPUTS):
        given = f"{_MATRICES[1]}, {_MATRICES[2]}"
        given = f"xp.ones(3), {given}" if name == "addmm" else given
        yield name, f"o = xp.zeros({out})\ny = xp.{name}({given}, out=o)\n(o, y is o)"


_HALVES: Final = ("float16", "bfloat16")
_ROWS: Final = "(xp.arange(15.0) * 7 % 11 / 3 - 1.3).view(3, 5)"
_COLUMNS: Final = "(xp.arange(15.0) * 7 % 11 / 3 - 1.3).view(5, 3).t()"
_ROUNDED: Final = (
    "xp.addmv({a}[:3, 0], {a}, {v}, beta={beta}, alpha={alpha})",
    "xp.addmv({a}[:3, 0], {a}, xp.stack((v, v), 1)[:, 0], beta={beta}, alpha={alpha})",
    "xp.addmm({a}[:1, :3], {a}, {a}.t(), beta={beta}, alpha={alpha})",
    "xp.addmm({a}, {a}[:, :0], {a}[:0], beta={beta}, alpha={alpha})",
    "xp.baddbmm({a}[:, :3], {a}[None], {a}.t()[None], beta={beta}, alpha={alpha})",
)
_UNFACTORED: Final = (
    *("xp.mv({a}, {v})", "xp.dot({a}[0], {v})", "xp.vdot({v}, {a}[1])", "xp.prod({a}, 0)"),
    *("xp.prod({a}, 1)", "xp.prod({a})", "xp.softmax({a}, 0)", "xp.softmax({a}, 1)"),
    *("xp.log_softmax({a}, 0)", "xp.log_softmax({a}, 1)", "({a} + 3).rsqrt()"),
    "xp.nn.functional.mse_loss({a}, {a}.flip(0), reduction='none')",
    *(
        f"xp.ops.aten.{name}_backward_data({{a}}, xp.{name[1:]}({{a}}, {dim}), {dim}, {{a}}.dtype)"
        for name, dim in product(("_softmax", "_log_softmax"), (0, 1))
    ),
)


def _roundings() -> Iterator[Text]:
    """Where numbers of half precision are rounded on the way: factors, terms, partial results."""
    factored = product(_ROUNDED, ("0.2", "1"), ("0.6", "1"))
    calls = [(call, {"beta": beta, "alpha": alpha}) for call, beta, alpha in factored]
    calls += [(call, {}) for call in _UNFACTORED]
    for (call, factors), matrix, dtype in product(calls, (_ROWS, _COLUMNS), _HALVES):
        made = f"a = {matrix}.to(xp.{dtype})\nv = (xp.arange(5.0) / 7 - 0.4).to(xp.{dtype})\n"
        yield _target(call), made + call.format(a="a", v="v", **factors)


def _ones(shape: str, device: str = "cpu") -> str:
    return f"xp.ones({shape})" if device == "cpu" else f"xp.ones({shape}, device='{device}')"


def _target(call: str) -> str:
    return call.partition("(")[0].removeprefix("xp.").removeprefix("{0}.")


def _fitting(call: str, dtype: str, device: str = "cpu") -> tuple[str, str, str]:
    """Three operands of a product that is added to something."""
    values = ", ".join(pools_of(dtype)[0])
    row = f"xp.tensor([{values}], dtype=xp.{dtype}, device='{device}')"
    square = f"xp.tensor([[{values}]] * 3, dtype=xp.{dtype}, device='{device}')"
    batch = f"xp.tensor([[[{values}]] * 3] * 2, dtype=xp.{dtype}, device='{device}')"
    operands = {"addmv": (row, square, row), "addr": (square, row, row)}
    batches = {"addbmm": (square, batch, batch), "baddbmm": (batch, batch, batch)}
    return {**operands, **batches}.get(_target(call), (row, square, square))


def _dtypes(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, one, two in product(("mm", "matmul", "dot", "mv", "bmm", "vdot"), dtypes, dtypes):
        if one != two and not (one in TRUTHS and two in TRUTHS):
            continue
        row, column = f"[{_values(one)}]", f"[{_values(two)}]"
        left, right = f"xp.tensor({row}, dtype=xp.{one})", f"xp.tensor({column}, dtype=xp.{two})"
        if name in ("dot", "mv", "vdot"):
            right = f"{right}[0]"
        else:
            right = f"{right}.t()"
        if name in ("dot", "vdot"):
            left = f"{left}[0]"
        elif name == "bmm":
            left, right = f"{left}[None]", f"{right}[None]"
        yield name, f"xp.{name}({left}, {right})"


def _values(dtype: str) -> str:
    return f"[{', '.join(pools_of(dtype)[0])}]"
