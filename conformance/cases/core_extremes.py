"""Extremes: numbers that a dtype does not have, and powers of what is not finite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_COPIED: Final = (
    *("2**31", "300", "-1", "2**63", "-2**63", "2**64", "1e300", "0.5", "True", "3-1j"),
    *("float('nan')", "float('-inf')"),
)
_TARGETS: Final = (
    *("xp.zeros(2, dtype=xp.{0})", "xp.zeros((), dtype=xp.{0})", "xp.zeros(0, dtype=xp.{0})"),
)
_OVERLAPPING: Final = (
    *("xp.ones(1).expand(2)", "xp.ones(3, 1).expand(3, 2)", "xp.ones(1).expand(1)"),
    *("xp.ones(4).as_strided((2, 2), (1, 1))", "xp.ones(2, device='meta')"),
    "xp.ones(2, dtype=xp.complex64).conj()",
)
_COPIES_WITH_GRADIENT: Final = ("y.copy_(3)", "y.copy_(2j)", "y[0].copy_(1.5)", "y[:1].copy_(True)")
_BASES: Final = (
    *("float('inf')", "float('-inf')", "float('nan')", "0", "1", "1-1j", "1e200"),
    *("complex('inf+infj')", "complex('infj')", "complex('inf+nanj')", "complex('2-infj')"),
)
_EXPONENTS: Final = ("0", "1", "-1", "-2", "7", "2.5", "1j", "1-2j", "float('inf')", "float('nan')")
_POWERS: Final = ("x ** xp.tensor([{e}, {e}]).to(x.dtype)", "x ** {e}", "xp.pow({b}, x * 0 + {e})")
_LARGE_POWERS: Final = ("x ** 2**63", "xp.pow(x, 2**63)", "x.pow_(2**63)", "x.pow_(2**63 - 1)")

_ROWS: Final = (
    *("[1e30]", "[1.0, 1e30]", "[1e30, 1.0, 2.0]", "[1.0] * 7 + [1e30]", "[1e30] + [1.0] * 8"),
    *("[1.0, 1e200, 1.0]", "[1.0, 1e200] * 4", "[1.0, float('inf'), 2.0]"),
)
"""In which squares overflow."""
_NORMS: Final = (
    ("native_layer_norm", "xp.native_layer_norm({x}, [{x}.numel()], None, None, 1e-5)"),
    ("group_norm", "xp.group_norm({x}[None, None], 1)"),
    ("batch_norm", "xp.native_batch_norm({x}.expand(2, -1).mT[None], *[None] * 4, True, 0.1, 0.5)"),
    ("var_mean", "xp.var_mean({x}), xp.var_mean(xp.complex({x}, {x} * 0 + 1))"),
)
_COMPLEX_LENGTHS: Final = (
    *("complex(0.0, float('inf'))", "complex(-2.0, float('-inf'))", "complex(float('nan'), 1.0)"),
    *("complex(3.0, 4.0)", "complex(0.0, 1e200)"),
)
_SPREAD: Final = (
    *("x", "x[:3]", "x[::2]", "x.view(9, 2).t()", "x.view(9, 2)[:, :1].expand(9, 9)", "x.conj()"),
    *("x[:1].expand(9)", "x[::2].sgn_()"),
)
"""Numbers as they lie: some are computed in vectors, some alone."""

_OVERFLOWING: Final = (
    *("[1e20, 2e20, 3e20]", "[[3e38, 3e38, 1.0], [1.0, 2.0, 4.0]]", "[1e20, 1.0, -1e20]"),
    *("[1e20, 2e20, 3e20], dtype=xp.bfloat16", "[6e4, -6e4, 6e4], dtype=xp.float16"),
)
"""Rows whose squares are infinite."""


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for dtype, target, number in product(dtypes, _TARGETS, _COPIED):
        yield "copy_", f"{target.format(dtype)}.copy_({number})"
    for target in _OVERLAPPING:
        yield "copy_", f"{target}.copy_(1)"
    for copy in _COPIES_WITH_GRADIENT:
        made = "x = xp.ones(2, requires_grad=True)\ny = x * 2"
        yield "copy_", f"{made}\n{copy}\ny.sum().backward()\ny, x.grad"
    for base, exponent, power in product(_BASES, _EXPONENTS, _POWERS):
        made = f"x = xp.tensor([{base}, {base}]).to(xp.complex128)"
        yield "pow", f"{made}\n{power.format(b=base, e=exponent)}"
    for dtype, number, spread in product(("complex64", "complex128"), _BASES, _SPREAD):
        made = f"x = xp.tensor([{number}] * 18).to(xp.{dtype})"
        yield "sgn", f"{made}\nxp.sgn({spread})"
    for row in _OVERFLOWING:
        made = f"x = xp.tensor({row})"
        yield "native_layer_norm", f"{made}\nxp.native_layer_norm(x, [3], None, None, 1e-5)"
    for dtype, power in product(dtypes, _LARGE_POWERS):
        yield "pow", f"x = xp.ones(2, dtype=xp.{dtype})\n{power}"
    for (target, norm), row, width in product(_NORMS, _ROWS, (32, 64)):
        yield target, f"x = xp.tensor({row}, dtype=xp.float{width})\n{norm.format(x='x')}"
    for number, count, layout in product(_COMPLEX_LENGTHS, (3, 4, 9), ("", "[::2]")):
        yield "sgn", f"xp.tensor([{number}] * {count}, dtype=xp.complex64){layout}.sgn()"
        yield "sgn", f"xp.tensor([{number}] * {count}, dtype=xp.complex128){layout}.sgn_()"
