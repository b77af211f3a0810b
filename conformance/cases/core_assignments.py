"""Numbers that are assigned to what an index chooses, and other uses of places, for core-ops.

What is assigned shows itself in the history too, which names the operator that did it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_TENSORS: Final = (
    *("xp.arange(6.0).view(2, 3)", "xp.arange(6.0).view(3, 2).t()", "xp.arange(6).view(2, 3)"),
    *("xp.ones(2, 3, requires_grad=True).clone()", "xp.ones(1, 3).expand(2, 3)"),
    *("xp.ones(2, 3, dtype=xp.complex64).conj()", "xp.ones(2, 3, device='meta')"),
    *("xp.arange(6).view(2, 3).to(xp.uint8)", "xp.ones(2, 3).to(xp.float8_e4m3fn)"),
)
_INDICES: Final = (
    *("...", "0", "None", "False", "(0, 0)", "slice(1, 2)", "xp.tensor(True)", "xp.tensor(1)"),
    *("mask", "mask > 7", "(None, mask)", "row", "(row, 0)", "(slice(None), row)", "(row, places)"),
    *("places", "(slice(None), places)", "(..., places)", "(0, places)", "(places, places)"),
    *("places[None]", "places.view(2, 1).expand(2, 2).t()", "places[:0]", "[0, 1]", "[7]"),
    *("places.int()", "places.float()", "places.to('meta')", "xp.tensor([True] * 3)"),
    *("mask[:, :1]", "(slice(5, 5), places)"),
)
_NUMBERS: Final = ("2.5", "True", "1j", "300", "10**30")
_USES: Final = ("...", "mask", "places")
"""Indices of which each number is assigned to what they choose."""
_ASSIGNED: Final = """\
x = {0}
mask, row, places = xp.arange(6).view(2, 3) > 2, xp.tensor([True, False]), xp.tensor([0, 1])
log = []
try:
    x[{1}] = {2}
except Exception as error:
    log.append((type(error).__name__, str(error)))
(log, x, x.grad_fn, x._version)"""

_STATIC: Final = (
    *("xp.nonzero_static({0}, size=2)", "xp.nonzero_static({0}, size=9, fill_value=5)"),
    *("xp.nonzero_static({0}, size=0)", "xp.nonzero_static({0}, size=-1)"),
    "xp.nonzero_static({0}, size=2, out=xp.zeros(3, dtype=xp.int64))",
    "xp.nonzero_static({0}, size=2, out=xp.zeros(2))",
)
_ON_META: Final = (
    *("xp.ones(3)[{0}]", "xp.ones(3, 4)[{0}]", "xp.ones(3, 4).t()[:, {0}]"),
    *("xp.ones(2, 3, 4).permute(2, 0, 1)[{0}]", "xp.ones(0, 3)[:, {0}]"),
)
_TURNED: Final = ("xp.tensor([[0, 1], [1, 2], [0, 2]]).t()", "xp.tensor([0, 1, 2])[::2]")
_WITHIN: Final = (
    *("x[1:].copy_(x[:-1])", "x[::2].copy_(x[1:5])", "x[2:6].copy_(x[::2])", "x[:4].copy_(x[::2])"),
    *("x.view(2, 4)[:, 1:3].copy_(x.view(2, 4)[:, :2])", "x[::2].copy_(x[:1])"),
    "x.as_strided([2, 4], [1, 2]).copy_(x.view(2, 4))",
)
"""Copies from one place of a memory to another, which may be written before it is read."""
_SHARED: Final = (
    *("[3, 2], [1, 2], 1", "[2, 3], [2, 1], 1", "[2, 2, 2], [1, 2, 1]", "[2, 3], [1, 1]"),
    *("[2, 9], [3, 1]", "[9, 2], [1, 3]", "[5, 5], [2, 3]", "[2, 3], [1, 0]"),
)
"""Sizes and strides with which elements share memory."""
_OVER: Final = (
    *("s.add_(1)", "s.mul_(2)", "s.add_(s)", "s.neg_()", "s.mT.sub_(1)", "s.clamp_(2, 3)"),
    *("s.addcmul_(s, s)", "xp.add(s.clone(), s, out=s)", "s.sub_(xp.arange(s.numel()).view_as(s))"),
    *("s.copy_(xp.arange(s.numel()).view_as(s))", "s.masked_fill_(s > 2, 7)", "s.fill_(3)"),
    *("s.cumsum_(0)", "s.cumprod_(-1)", "xp.logcumsumexp(s, 1, out=s)"),
    "xp.cummin(s, 0, out=(s, xp.empty_like(s, dtype=xp.int64)))",
)
_STRIDED: Final = ("[2, 3], [3, 1]", "[2, 3], [1, 2]", "[2, 3], [2, 1], 1", "[3, 2], [1, 2], 2")


_ATTEMPTED: Final = """\
x, log = {0}, []
o = xp.full({1}, -1.0){2}
try:
    {3}
except Exception as error:
    log.append((type(error).__name__, str(error)))
(log, o)"""
"""What is written before a place that there is not."""
_READ: Final = ("xp.arange(12.0).view(3, 4)", "xp.arange(12.0).view(4, 3).t()")
_REFUSED: Final = (
    ("xp.index_select(x, 0, xp.tensor([2, 9, 0]), out=o)", (3, 4)),
    ("xp.index_select(x, 1, xp.tensor([2, 9, 0]), out=o)", (3, 3)),
    ("xp.take(x, xp.tensor([[1, 77], [99, 0]]), out=o)", (2, 2)),
    ("xp.ops.aten.index.Tensor_out(x, [None, xp.tensor([2, 9, 0])], out=o)", (3, 3)),
    ("xp.ops.aten.index.Tensor_out(x, [xp.tensor([[0, 8], [9, 1]]).t()], out=o)", (2, 2, 4)),
    ("o.index_put_([xp.tensor([0, 9, 1]), xp.tensor([7, 1, 2])], xp.arange(3.0))", (3, 4)),
    ("o.index_put_([None, xp.tensor([0, 9])], xp.arange(6.0).view(3, 2))", (3, 4)),
    ("o.masked_scatter_(x > 1, xp.tensor([7.0, 8.0]))", (3, 4)),
)


def _refused() -> Iterator[Text]:
    for (call, shape), read in product(_REFUSED, _READ):
        turned = f".permute({', '.join(map(str, reversed(range(len(shape)))))})"
        name = call.partition("(")[0].rpartition(".")[2]
        yield name, _ATTEMPTED.format(read, shape, "", call)
        yield name, _ATTEMPTED.format(read, shape[::-1], turned, call)


def texts() -> Iterator[Text]:
    yield from _refused()
    for shared, change in product(_SHARED, _OVER):
        for dtype in ("float32", "int64", "float16"):
            made = f"x = xp.arange(40, dtype=xp.{dtype})\ns = x.as_strided({shared})"
            yield "as_strided", f"{made}\n{change}\nx"
    for copied, dtype in product(_WITHIN, ("float32", "int64", "uint8")):
        yield "copy_", f"x = xp.arange(8, dtype=xp.{dtype})\n{copied}\nx"
    for one, two in product(_STRIDED, _STRIDED):
        for turned in ("", ".t()"):
            copied = f"x.as_strided({one}).copy_(x.as_strided({two}){turned})"
            yield "copy_", f"x = xp.arange(9.0)\n{copied}\nx"
    for made, index in product(_TENSORS, _INDICES):
        yield "setitem", _ASSIGNED.format(made, index, "2")
    for made, index, number in product(_TENSORS, _USES, _NUMBERS):
        yield "setitem", _ASSIGNED.format(made, index, number)
    for call, made in product(_STATIC, ("xp.ones(2, 2)", "xp.ones(())", "xp.zeros(3)")):
        yield "nonzero_static", call.format(made)
    for call, index in product(_ON_META, _TURNED):
        yield "index", call.format(index)
        yield "index", call.replace(")", ", device='meta')", 1).format(index)
