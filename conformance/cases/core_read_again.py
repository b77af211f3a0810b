"""Elements that are written before others are computed from them, for the area core-ops.

Row after row, and of each row all that is read before anything is written: which elements a row of
its own is computed from depends on the processor's vectors, and is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_CALLS: Final = (
    *("x.mul_(x[:1])", "x.add_(x[1:2])", "x.sub_(x[1])", "x.add_(x[:1], alpha=2)", "x.eq_(x[:1])"),
    *("x[1:].add_(x[:-1])", "x[:-1].add_(x[1:])", "x.t().add_(x[:1].t())", "x.fmod_(x[:1])"),
    *("xp.mul(x, x[:1], out=x)", "xp.add(x[:1], x, out=x)", "xp.neg(x[:-1], out=x[1:])"),
    *("x.clamp_(max=x[:1])", "x.copy_(x[:1])", "x.addcmul_(x[:1], x[1:2])"),
)
_MADE: Final = (
    "xp.arange(1, 21).view(4, 5).to(xp.{0})[:, :3]",
    "xp.arange(1, 121).view(3, 40).to(xp.{0})[:, 2:39]",
    "xp.arange(1, 41).view(2, 4, 5).to(xp.{0})[..., 1:4].transpose(0, 1)",
)
_DTYPES: Final = ("float32", "int64", "float64", "float16")


def texts() -> Iterator[Text]:
    for call, made, dtype in product(_CALLS, _MADE, _DTYPES):
        target = call.partition("(")[0].rpartition(".")[2]
        yield target, f"b = {made.format(dtype)}\nx = b\n{call}\nb"
