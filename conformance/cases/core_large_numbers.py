"""Integers of Python beyond those of 64 bits with a sign, as numbers that operators take.

Those up to 2**64 are unsigned numbers, larger ones are none; a storage begins at no negative place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_NUMBERS: Final = ("2**63 - 1", "2**63", "2**64 - 1", "2**64", "-2**63", "-2**63 - 1")
_DTYPES: Final = ("float32", "float64", "int64", "uint64", "bool")
_CALLS: Final = (
    *("xp.add({x}, {n})", "xp.sub({x}, {n})", "xp.mul({x}, {n})", "{n} - {x}", "{x} + {n}"),
    *("xp.eq({x}, {n})", "xp.ne({x}, {n})", "{x} < {n}", "{x} >= {n}", "xp.add({n}, {x})"),
    *("xp.add({x}, {x}, alpha={n})", "{x}.fill_({n})", "{x}.clamp({n})", "{x}.clamp(max={n})"),
    *("{x}.index_fill_(0, xp.tensor([0]), {n})", "{x}.masked_fill_(xp.tensor(True), {n})"),
    *("xp.ops.aten.add.Scalar({x}, {n})", "xp.ops.aten.eq.Scalar({x}, {n})", "{x}.lerp({x}, {n})"),
    *("{x} & {n}", "{n} | {x}", "{x} << {n}", "xp.bitwise_xor({x}, {n})", "{n} % {x}"),
    *("{x}.remainder({n})", "xp.nn.functional.pad({x}, (1, 1), value={n})", "{x} // {n}"),
)
_ON_META: Final = (
    *("{x} + {n}", "{x}.fill_({n})", "{x} < {n}", "{x} & {n}", "{n} - {x}", "{x}.clamp({n})"),
    *("xp.full_like({x}, {n})", "{x}.index_fill_(0, xp.tensor([0], device='meta'), {n})"),
)
_MADE: Final = (
    *("xp.full((2,), {n})", "xp.scalar_tensor({n})", "xp.linspace(0, {n}, 3)"),
    *("xp.full((2,), {n}, dtype=xp.uint64)", "xp.full((2,), {n}, dtype=xp.float32)"),
    *("xp.full((2,), {n}, dtype=xp.int64)", "x = xp.zeros(2)\nx[0] = {n}\nx"),
)
_PLACES: Final = (
    *("[1, 2], [1, 2]", "[1], [1]", "[], []", "[2, 2], [0, 0]", "[0, 2], [1, 1]", "[2], [1]"),
)


def texts() -> Iterator[Text]:
    for call, number, dtype in product(_CALLS, _NUMBERS, _DTYPES):
        made = f"xp.zeros(2, dtype=xp.{dtype})"
        yield "numbers", call.format(x=made, n=f"({number})")
    for call, number, dtype in product(_ON_META, _NUMBERS[1:3], _DTYPES):
        made = f"xp.zeros(2, dtype=xp.{dtype}, device='meta')"
        yield "numbers", call.format(x=made, n=f"({number})")
    for call, number in product(_MADE, _NUMBERS):
        yield "numbers", call.format(n=f"({number})")
    for number in ("2.0**62", "2.0**63", "2.0**64", "2.0**63 - 1024"):
        yield "arange", f"xp.arange(0, {number})"
    for call, place, offset in product(("as_strided", "as_strided_"), _PLACES, (-1, -2, -9)):
        yield call, f"xp.arange(4.0)[2:].{call}({place}, {offset})"
