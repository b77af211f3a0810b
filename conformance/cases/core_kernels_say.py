"""Which kernel does the work, where only a message, a warning or a zero's sign tells.

Outputs that are numbers, or are resized and cast; writes at places into nothing and of dtypes that
no kernel takes; products of one term, of nothing and times zero; reductions into memory that is
written many times over; numbers that lose a part; tensors on two devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_OUTPUTS: Final = (
    *("1.5", "True", "1j", "xp.ones(2, 2, dtype=xp.float64)", "xp.ones((), dtype=xp.complex128)"),
    *("xp.ones(2)", "xp.ones(1, dtype=xp.float64)", "xp.ones(0, dtype=xp.float64)"),
)
_INTO: Final = (
    *("xp.add({x}, 2, out={o})", "xp.div({x}, 2, out={o})", "xp.floor_divide({x}, 2, out={o})"),
    *("xp.logit({x}, out={o})", "xp.exp({x}, out={o})", "xp.addr({x}, {x}, {x}, out={o})"),
    *("xp.mv({x}[None], {x}, out={o})", "xp.max({x}.long()[:0], out={o})"),
)
_WRITES: Final = (
    *("{x}.index_add(0, {i}, {s})", "{x}.index_add(0, {i}, {s}, alpha=2)"),
    *("{x}.index_fill(0, {i}, 300)", "{x}.index_copy(0, {i}, {s})", "{x}.index_select(0, {i})"),
)
_ROWS: Final = ("3", "3, 2", "3, 0", "0, 2", "0")
_PLACES: Final = ("xp.tensor([0])", "xp.zeros(0, dtype=xp.int64)", "xp.tensor([5])")
_SHAPES: Final = ((1, 1, 1), (2, 1, 3), (1, 1, 3), (3, 1, 1), (2, 0, 3))
_PRODUCTS: Final = (
    *("xp.mm({a}, {b})", "xp.addmm({c}, {a}, {b})", "xp.addmm({c}, {a} * {n}, {b}, alpha=0)"),
    *("xp.addmv({c}[:, 0], {a} * {n}, {b}[:, 0], alpha=0)", "xp.bmm({a}[None], {b}[None])"),
    "xp.baddbmm({c}[None], {a}[None], {b}[None], beta=0.5)",
)
_STANDING: Final = (
    *("xp.zeros(3).as_strided((4, 2), (0, 1))", "xp.zeros(2).expand(4, 2)"),
    *("xp.zeros(4, 1).expand(4, 2)", "xp.zeros(()).expand(4, 2)"),
)
_PARTS: Final = (
    *("xp.tensor(np.array([1 + 2j]), dtype={d})", "xp.as_tensor(np.array([1 + 2j]), dtype={d})"),
    *("xp.tensor(xp.tensor([1 + 2j]), dtype={d})", "xp.tensor([1 + 2j]).cumsum(0, dtype={d})"),
)
_NEGATED: Final = ("xp.tensor([1j, 2j, 3j]).conj().imag", "xp.ones(3)._neg_view()")
_TWO_DEVICES: Final = (
    *("xp.dot({a}, {b})", "xp.vdot({a}, {b})", "{a}.put_({i}, {b})", "{a} @ {b}"),
    "xp.ones(2).put_(xp.tensor([0, 1], device='meta'), {a})",
)


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, output in product(_INTO, _OUTPUTS):
        yield "out", call.format(x="xp.tensor([0.25, 0.5, 0.75])", o=output)
    for call, dtype, rows, places in product(_WRITES, dtypes, _ROWS, _PLACES):
        x = f"xp.ones({rows}, dtype=xp.{dtype})"
        source = f"{x}.new_ones(({places}.numel(),) + {x}.shape[1:])"
        yield "index_add", call.format(x=x, i=places, s=source)
    for call, (rows_, inner, columns), dtype in product(_PRODUCTS, _SHAPES, ("float32", "float64")):
        sizes = {"a": (rows_, inner), "b": (inner, columns), "c": (rows_, columns)}
        made = {name: f"xp.zeros({size}, dtype=xp.{dtype})" for name, size in sizes.items()}
        made["a"], made["c"] = f"({made['a']} - 1)", f"{made['c']}.neg()"
        yield "mm", call.format(**made, n="float('nan')")
    for name, output in product(("sum", "nansum", "mean", "amax"), _STANDING):
        yield name, f"xp.{name}(xp.arange(16.0).reshape(4, 2, 2), 2, out={output})"
    for call, dtype in product(_PARTS, dtypes):
        yield "copy_", call.format(d=f"xp.{dtype}")
    for target, dtype in product(_NEGATED, ("bool", "uint8", "int64", "float32")):
        yield "copy_", f"x = {target}\nx.copy_(xp.tensor([0, 5, 1]).to(xp.{dtype}))"
    for call, (a, b) in product(_TWO_DEVICES, (("cpu", "meta"), ("meta", "cpu"))):
        one, two = (f"xp.ones(2, device='{each}')" for each in (a, b))
        yield "dot", call.format(a=one, b=two, i="xp.tensor([0, 1])")
