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


def texts() -> Iterator[Text]:
    for made, index in product(_TENSORS, _INDICES):
        yield "setitem", _ASSIGNED.format(made, index, "2")
    for made, index, number in product(_TENSORS, _USES, _NUMBERS):
        yield "setitem", _ASSIGNED.format(made, index, number)
    for call, made in product(_STATIC, ("xp.ones(2, 2)", "xp.ones(())", "xp.zeros(3)")):
        yield "nonzero_static", call.format(made)
    for call, index in product(_ON_META, _TURNED):
        yield "index", call.format(index)
        yield "index", call.replace(")", ", device='meta')", 1).format(index)
