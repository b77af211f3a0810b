"""Products of matrices and vectors for the area core-ops.

Not here yet: a product on the CPU whose ``out=`` is on meta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import TRUTHS, pools_of

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


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, one, two in product(("matmul", "mm", "bmm", "mv", "dot"), _SHAPES, _SHAPES):
        yield name, f"xp.{name}(xp.ones({one}), xp.ones({two}))"
    for name, one, two in product(("mm", "bmm", "mv", "dot"), _SHAPES, _SHAPES):
        made = (f"xp.ones({shape}, device='meta')" for shape in (one, two))
        yield name, f"xp.{name}({', '.join(made)})"
    for one, two, three in product(_SHAPES[:10], _SHAPES[:10], _SHAPES[:10]):
        yield "addmm", f"xp.addmm(xp.ones({one}), xp.ones({two}), xp.ones({three}))"
    for one, two, three in product(_SHAPES[1:10:2], _SHAPES[4:10], _SHAPES[4:10]):
        made = (f"xp.ones({shape}, device='meta')" for shape in (one, two, three))
        yield "addmm", f"xp.addmm({', '.join(made)})"
    yield from _dtypes(dtypes)
    for one, two in product(_MATRICES, _MATRICES):
        for name in ("mm", "matmul"):
            yield name, f"xp.{name}({one}, {two})"
        yield "mv", f"xp.mv({one}, {two}[0])"
        yield "bmm", f"xp.bmm({one}[None], {two}[None])"
    for beta, alpha in product(_NUMBERS, _NUMBERS):
        call = f"xp.addmm(xp.ones(3), {_MATRICES[1]}, {_MATRICES[2]}, beta={beta}, alpha={alpha})"
        yield "addmm", call
    for name, out in product(("mm", "addmm"), _OUTPUTS):
        if name == "addmm" and "meta" in out:
            continue
        given = f"{_MATRICES[1]}, {_MATRICES[2]}"
        given = f"xp.ones(3), {given}" if name == "addmm" else given
        yield name, f"o = xp.zeros({out})\ny = xp.{name}({given}, out=o)\n(o, y is o)"


def _dtypes(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, one, two in product(("mm", "matmul", "dot", "mv", "bmm"), dtypes, dtypes):
        if one != two and not (one in TRUTHS and two in TRUTHS):
            continue
        row, column = f"[{_values(one)}]", f"[{_values(two)}]"
        left, right = f"xp.tensor({row}, dtype=xp.{one})", f"xp.tensor({column}, dtype=xp.{two})"
        if name in ("dot", "mv"):
            right = f"{right}[0]"
        else:
            right = f"{right}.t()"
        if name == "dot":
            left = f"{left}[0]"
        elif name == "bmm":
            left, right = f"{left}[None]", f"{right}[None]"
        yield name, f"xp.{name}({left}, {right})"


def _values(dtype: str) -> str:
    return f"[{', '.join(pools_of(dtype)[0])}]"
