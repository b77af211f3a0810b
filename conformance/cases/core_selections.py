"""What is selected by rank, frequency or chance, and a few products, for the area core-ops:
``kthvalue``, ``mode``, ``logcumsumexp``, ``inner``, ``tensordot``, ``multinomial``, ``rot90``,
``unique``.

Not here: what the functions of Python that are kernels on meta say of arguments that do not fit;
products and running sums of halves; ``logcumsumexp`` of complex numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_SHAPES: Final = ("()", "(3,)", "(7,)", "(2, 3)", "(3, 5, 2)", "(0, 3)", "(3, 0)", "(1, 4)")
_DIMS: Final = ("0", "1", "-1", "-2", "3")
_RANKS: Final = ("1", "2", "3", "7", "0", "-1")
_KEEPDIM: Final = ("False", "True")
_DEVICES: Final = ("cpu", "meta")
_OUTPUTS: Final = ("0", "3", "2, 3", "1, 3", "4")
_OUT_DTYPES: Final = (("float32", "int64"), ("float64", "int64"), ("float32", "int32"))
_SPECIAL: Final = "xp.tensor([1.0, float('nan'), float('inf'), 1.0, float('-inf'), float('nan')])"


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    """Numbers of which some are the same."""
    count = f"xp.ones({shape}, device='{device}').numel()"
    made = f"((xp.arange({count}, device='{device}') * 5 % 7).sub(2) * 0.5).reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def _positive(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    """Numbers above zero: the sign of a sum of zeros is the affair of a BLAS."""
    return f"({_made(shape, device, dtype)} + 2)"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    yield from _selections(dtypes)
    yield from _running(dtypes)
    yield from _products(dtypes)
    yield from _samples(dtypes)
    for made, turns, dims in pairwise(("xp.ones(2, 3)", *_CUBES), ("1", "2", "-1"), _PLANES):
        yield "rot90", f"xp.rot90({made}, {turns}, dims={dims})"
    for call, given, named in pairwise(_DISTINCT, _GIVEN, _NAMED):
        yield call.partition(".")[2], f"{call}({given}{named})"


_CUBES: Final = ("xp.arange(12).view(3, 2, 2)", "xp.ones(2)", "xp.ones(2, 0, device='meta')")
_PLANES: Final = ("(0, 1)", "(1, -1)", "(2, 0)", "(-3, 0)", "(0, 0)", "(-2, 0)", "(4, 2)", "(1,)")
_DISTINCT: Final = ("xp.unique", "xp.unique_consecutive")
_GIVEN: Final = (
    *("", "xp.tensor([2, 2, 1]), ", "xp.tensor([2, 2, 1]), True, ", "1, 2, 3, 4, 5, 6, "),
    *("xp.tensor([2, 2, 1]), False, True, ", "xp.tensor([2, 2, 1]), True, True, True, "),
)
_NAMED: Final = ("", "foo=1", "return_counts=True", "return_inverse=True, foo=1", "dim=0")


def _selections(dtypes: Sequence[str]) -> Iterator[Text]:
    for shape, dim, k, keepdim, device in pairwise(_SHAPES, _DIMS, _RANKS, _KEEPDIM, _DEVICES):
        if device == "cpu" or (k == "1" and dim != "3" and "0" not in shape):
            yield "kthvalue", f"xp.kthvalue({_made(shape, device)}, {k}, {dim}, {keepdim})"
            yield "mode", f"xp.mode({_made(shape, device)}, {dim}, {keepdim})"
    for dtype, k in pairwise(dtypes, ("1", "2", "5", "6")):
        yield "kthvalue", f"xp.kthvalue({_made('(2, 6)', dtype=dtype)}, {k})"
        yield "mode", f"xp.mode({_made('(2, 9)', dtype=dtype)}, {int(k) % 2})"
    for k in range(1, 7):
        yield "kthvalue", f"xp.kthvalue({_SPECIAL}, {k})"
    for count, step in pairwise(("20", "33", "64"), ("3", "7", "1", "11")):
        values = f"(xp.arange({count}) * {step} % 9)"
        yield "kthvalue", f"xp.kthvalue({values}, {count} // 2)"
        yield "kthvalue", f"xp.kthvalue(-{values}, 3)"
        yield "mode", f"xp.mode({values})"
    for dtype in dtypes:
        yield "kthvalue", f"xp.kthvalue(xp.zeros((), dtype=xp.{dtype}), 1)"
        yield "mode", f"xp.mode(xp.zeros((), dtype=xp.{dtype}))"
    yield "mode", f"xp.mode({_SPECIAL})"
    for one, two, kinds, dim, keepdim in pairwise(
        _OUTPUTS, _OUTPUTS, _OUT_DTYPES, ("0", "1"), _KEEPDIM
    ):
        outs = f"xp.zeros({one}, dtype=xp.{kinds[0]}), xp.zeros({two}, dtype=xp.{kinds[1]})"
        for call in ("kthvalue({0}, 1, {1}, {2}", "mode({0}, {1}, {2}"):
            called = call.format(_made("(2, 3)"), dim, keepdim)
            yield call.partition("(")[0], f"o = {outs}\ny = xp.{called}, out=o)\n(o, y[0] is o[0])"
    for view in ("t()", "expand(2, 2, 3)", "unsqueeze(1)"):
        for name in ("kthvalue", "mode"):
            yield name, f"{_made('(2, 3)')}.{view}.{name}({'2' if name == 'kthvalue' else ''})"


def _running(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "logcumsumexp"
    for shape, dim, device in pairwise(_SHAPES, _DIMS, _DEVICES):
        if device == "cpu":
            yield name, f"xp.{name}({_made(shape)} + 0.2, {dim})"
            yield name, f"xp._{name}({_made(shape)} + 0.2, {dim})"
    for dtype in dtypes:
        if dtype not in ("float16", "bfloat16") and "complex" not in dtype:
            yield name, f"xp.{name}({_made('(2, 3)', dtype=dtype)} + 1, 1)"
            out = f"xp.zeros(2, 3, dtype=xp.{dtype})"
            yield name, f"o = {out}\ny = xp.{name}({_made('(2, 3)')} + 0.2, 0, out=o)\n(o, y is o)"
    for values in ("inf", "-inf", "nan"):
        yield name, f"xp.{name}(xp.tensor([0.5, float('{values}'), 1.0]), 0)"
    for out in _OUTPUTS:
        yield name, f"xp.{name}({_made('(2, 3)')} + 0.2, 0, out=xp.zeros({out}))"


def _products(dtypes: Sequence[str]) -> Iterator[Text]:
    shapes = ("()", "(3,)", "(2, 3)", "(3, 2)", "(2, 1, 3)", "(0, 3)", "(2, 0)", "(1, 1)")
    for one, two, device in pairwise(shapes, shapes, _DEVICES):
        pair = f"{_positive(one, device)}, {_positive(two, device)}"
        if device == "cpu" or (one[-3:] == two[-3:] and "0" not in one + two):
            yield "inner", f"xp.inner({pair})"
    dims = (
        *("[0], [0]", "[1], [1]", "[0, 1], [0, 1]", "[0, 1], [1, 0]", "[], []", "[-1], [0]"),
        *("[0], [0, 1]", "[0, 0], [0, 1]", "[2], [0]"),
    )
    for one, two, given in pairwise(("(2, 3)", "(3, 2)", "(3, 3)", "(1, 3)"), shapes[2:], dims):
        yield "tensordot", f"xp.ops.aten.tensordot({_positive(one)}, {_positive(two)}, {given})"
    whole = [name for name in dtypes if name not in ("float16", "bfloat16")]
    for one, two in pairwise(whole, whole):
        pair = f"{_positive('(2, 3)', dtype=one)}, {_positive('(4, 3)', dtype=two)}"
        yield "inner", f"xp.inner({pair})"
    asked = ("float16", "float32", "float64", "int64")
    for one, two, dtype, device in pairwise(asked[:3], ("3, 2", "2, 3"), asked, _DEVICES):
        options = f"dtype=xp.{one}, device='{device}'"
        pair = f"xp.ones(2, 3, {options}), xp.ones({two}, {options})"
        yield "mm", f"xp.mm({pair}, out_dtype=xp.{dtype})"
        pair = f"xp.ones(2, 2, 3, {options}), xp.ones(2, {two}, {options})"
        yield "bmm", f"xp.bmm({pair}, out_dtype=xp.{dtype})"
    for out, dtype in pairwise(_OUTPUTS, ("float32", "float64")):
        pair, made = (
            f"{_positive('(2, 3)')}, {_positive('(4, 3)')}",
            f"xp.zeros({out}, dtype=xp.{dtype})",
        )
        yield "inner", f"o = {made}\ny = xp.inner({pair}, out=o)\n(o, y is o)"
        yield "tensordot", f"xp.ops.aten.tensordot.out({pair}, [1], [1], out={made})"


def _samples(dtypes: Sequence[str]) -> Iterator[Text]:
    seed = "xp.manual_seed(5)\n"
    shapes = ("(4,)", "(2, 3)", "(1, 7)", "()", "(2, 2, 2)", "(0,)", "(0, 3)", "(20,)")
    pools = (shapes, ("1", "2", "4", "0", "-1", "30"), _KEEPDIM, _DEVICES)
    for shape, count, replacement, device in pairwise(*pools):
        weights = f"({_made(shape, device)}.abs() + 0.1)"
        if device == "cpu" or (count in ("1", "2") and shape in shapes[:3]):
            call = f"xp.multinomial({weights}, {count}, {replacement})"
            yield "multinomial", f"{seed}{call}, xp.rand(1, device='{device}')"
    values = ("-1.0", "float('inf')", "float('nan')", "0.0")
    for value, count, replacement in pairwise(values, ("1", "2"), _KEEPDIM):
        weights = f"xp.tensor([0.5, {value}, 1.0])"
        yield "multinomial", f"{seed}xp.multinomial({weights}, {count}, {replacement})"
    yield "multinomial", f"{seed}xp.multinomial(xp.zeros(3), 1)"
    yield "multinomial", f"{seed}xp.multinomial(xp.zeros(3), 2, True)"
    for dtype, count in pairwise(dtypes, ("1", "2")):
        weights = f"xp.ones(4, dtype=xp.{dtype})"
        yield "multinomial", f"{seed}xp.multinomial({weights}, {count}, True)"
        out = f"xp.zeros(3, dtype=xp.{dtype})"
        yield "multinomial", f"{seed}xp.multinomial(xp.ones(4), {count}, out={out})"
        made = f"xp.zeros(3, dtype=xp.{dtype})"
        yield "exponential_", f"{seed}{made}.exponential_({count}), xp.rand(1)"
    for rate, shape, device in pairwise(("0.5", "1", "2", "0", "-1"), shapes, _DEVICES):
        made = f"xp.zeros({shape}, device='{device}')"
        yield "exponential_", f"{seed}{made}.exponential_({rate}), xp.rand(1)"
