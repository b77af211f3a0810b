"""Indices of what has no elements, or is on meta, for the area core-ops.

A kernel of the CPU is asked where there is nothing to copy: its dtypes, and how a result without
elements lies.  On meta a function in Python looks at less, and in another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_META: Final = ", device='meta'"
_INDEXED: Final = (
    *("xp.ones(2, 3{0})", "xp.ones(4{0})[:, None]", "xp.ones(3, 1{0})", "xp.ones(2, 0{0})"),
    *("xp.ones(0, 3{0}).expand(2, 0, 3)", "xp.ones(2, 1{0}).expand(2, 3)", "xp.ones(0, 3{0})"),
    *("xp.ones(1, 3, 2, 2{0})", "xp.ones(1, 3, 2, 2{0})[..., ::2]", "xp.ones(3, 2, 1{0}).mT"),
    *("xp.ones(2, 3, 4{0}).permute(2, 0, 1)", "xp.ones(2, 3, 4, 5{0}).mT"),
    "xp.ones(2, 3, 4, 5{0}).to(memory_format=xp.channels_last)",
)
_INDICES: Final = (
    *("False", "[]", "False, None", "None, False", ":, []", "..., []", "[0]", ":, [0]", "True"),
    *("[[0], [0]]", "[0, 0], [0]", "[], [0]", "[0], False", "::2, [0, 0]", "[0], ..., [0, 0]"),
    *("xp.zeros(0, 2).long()", "xp.zeros(2, 1, 0).long()", "..., xp.zeros(2, 0).long()"),
    *("xp.tensor([True])", "xp.tensor([True, False])", "xp.ones(2, 0).bool()", "None, [0], None"),
    *(":, xp.tensor([[True]])", "[0, 0], xp.ones(2, 3).bool()", "xp.zeros(0).long(), [0, 0]"),
    *("xp.ones(3, 1).bool()", "[0, 0], [0, 0, 0]", "xp.tensor([0], dtype=xp.int32), [0, 0]"),
)
_ON_META: Final = (
    *("[True]", "[True, False]", "[[True, False, True], [False, True, True]]", "[[[True]]]"),
    *("xp.tensor([0, 1], dtype=xp.int8)", "xp.tensor([0, 1], dtype=xp.uint8)", "[0], xp.ones(1)"),
    *("xp.ones(1, device='meta') > 0, xp.ones(1)", "xp.ones(1), xp.ones(1, device='meta') > 0"),
    *("[7]", "xp.tensor([0, 1], device='meta')", "[False, False], xp.tensor([[0], [1]])"),
    *("[0, 1], xp.ones(0, 3, dtype=xp.int64, device='meta')", "xp.zeros(1).long(), [0, 1]"),
)
_CALLED: Final = (
    *("[]", "[None]", "[None, None]", "[None, None, None]", "[xp.tensor(True)]", "[xp.tensor(1)]"),
    *("[xp.ones(2, 3, 4).bool()]", "[None, xp.ones(3, 4).bool()]", "[xp.tensor([7]), None]"),
    *("[xp.tensor(1), xp.tensor([0, 1, 1])]", "[xp.tensor([0, 1, 1]), xp.tensor(1)]"),
)
_FROM_META: Final = (
    *("xp.tensor([0, 1], device='meta')", "xp.tensor([5], device='meta'), 0"),
    *("xp.tensor([0], device='meta'), xp.tensor([0])", "xp.tensor([True, False], device='meta')"),
    *(":, xp.tensor([[0], [1]], device='meta')", "xp.tensor([0, 1, 0], device='meta'), [0, 1]"),
)
_RARE: Final = ("uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "bfloat16")
_NOTHING: Final = (
    *("[[]]", "[:, []]", "[False]", "[xp.zeros(2, dtype=xp.bool)]", "[:0][:, []]", "[:, :0][[0]]"),
    *(".index_select(0, xp.tensor([]).long())", "[0].index_select(0, xp.tensor([]).long())"),
    *("[0, :0].index_select(0, xp.tensor([]).long())", "[:, :0].index_select(0, xp.tensor([1]))"),
)
_BY_FLOATS: Final = (
    *("x[y]", "x[:, y]", "x.clone()[y]", "x.detach()[y]", "x.detach().index_put([y], xp.ones(1))"),
    *("x.to('meta')[y]", "xp.ops.aten._index_put_impl_(x.detach(), [y], y)", "x.clone()[:, :0][y]"),
    "xp.nn.functional.embedding(y, x)",
)
"""By what requires a gradient, which is not looked for in lists."""
_STEPPED: Final = (
    *("xp.arange(5)", "xp.arange(6.0).view(2, 3)", "xp.arange(24).view(2, 3, 4)", "xp.ones(0, 3)"),
    *("xp.ones(2, 3, device='meta')", "xp.arange(2)", "xp.arange(5, dtype=xp.uint8)"),
)
_STEPS: Final = (
    *("::2**70", "::2**63 - 1", "::2**62", "::2**62 + 1", "::2**63 - 2", "1::2**63 - 1"),
    *("1:2**70:2**70", "6:2**70:2**70", ":0:2**70", "..., ::2**70", "..., 1::2**61", "::2**60"),
)
"""So far that 64 bits do not count how many there are, or how far one goes."""


def texts() -> Iterator[Text]:
    for made, by, device in pairwise(_INDEXED, _INDICES, ("", _META)):
        yield "index", f"{made.format(device)}[{by}]"
    for made, by in pairwise(_INDEXED, _ON_META):
        yield "index", f"{made.format(_META)}[{by}]"
    for name, by in product(("index.Tensor", "_unsafe_index.Tensor"), _CALLED):
        yield "index", f"xp.ops.aten.{name}(xp.ones(2, 3, device='meta').mT.contiguous().mT, {by})"
    for by in _FROM_META:
        yield "index", f"xp.ones(2, 3)[{by}].shape"
        yield "index", f"xp.ones(2, 3, requires_grad=True)[{by}].grad_fn"
    for dtype, by in product(_RARE, _NOTHING):
        yield "index", f"xp.ones(2, 3).to(xp.{dtype}){by}"
    yield "index", "x = xp.ones(2).to(xp.float8_e5m2)\nx[[]] -= x[[]]"
    for call in _BY_FLOATS:
        made = "x, y = xp.ones(2, 3, requires_grad=True), xp.ones(2, requires_grad=True)"
        yield "index", f"{made}\n{call}"
    for made, by in product(_STEPPED, _STEPS):
        yield "slice", f"{made}[{by}]"
        yield "slice", f"x = {made}\nx[{by}] = 3\nx"
    for step in ("2**63 - 1", "2**62"):
        yield "unfold", f"xp.ones(5, 3).unfold(0, 2, {step})"
        yield "slice", f"xp.ops.aten.slice(xp.ones(5, 3), 0, 2, 2**63 - 1, {step})"
        yield "slice", f"xp.ones(2, 4).slice_scatter(xp.ones(1, 4), 0, 0, None, {step})"
