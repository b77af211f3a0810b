"""Values of which the last digits are all that is left: what cancels out, saturates or is close.

A product that a compiler does not round before it is added to, the exponential and the hyperbolic
tangent of vectors, and halves that are rounded after each step of a division.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_GRADIENTS: Final = (
    *("x.tanh()", "x.sigmoid()", "xp.nn.functional.silu(x)", "xp.nn.functional.gelu(x)"),
    *("xp.nn.functional.gelu(x, approximate='tanh')", "x.view(-1, 4).log_softmax(-1)"),
    *("x.view(-1, 4).log_softmax(0)", "x.view(-1, 4).softmax(-1) * x.view(-1, 4).detach()"),
)
_STARTS: Final = ("", "[::2]", "[1:]", "[:5]")
_COUNTS: Final = {"float32": 188, "float16": 184, "bfloat16": 184}
_DTYPES: Final = tuple(_COUNTS)

#: Of two rows that nearly cancel out.
_CANCELLED: Final = (
    *("xp.addcmul(x, y, z)", "xp.addcmul(x, y, z, value=-1.5)", "x.addcmul_(y, z, value=0.1)"),
    *("xp.add(x, y, alpha=-0.7)", "xp.sub(x, y, alpha=0.7)", "x.sub_(y, alpha=0.3)"),
    *("xp.lerp(x, -x, 0.501)", "xp.lerp(x, y, 0.3)", "xp.lerp(x, y, z)", "xp.lerp(x, -x, z)"),
    *("xp.addcdiv(x, y, z, value=0.1)", "xp.linalg.cross(x.view(-1, 3), y.view(-1, 3))"),
)
_DIVIDED: Final = ("trunc", "floor")


def texts() -> Iterator[Text]:
    numbers = "xp.linspace(-9, 9, {}, dtype=xp.{})"
    for dtype, call, start in product(_DTYPES, _GRADIENTS, _STARTS[:2]):
        spread = f"{numbers.format(_COUNTS[dtype], dtype)}.repeat_interleave(2)[::2]"
        made = f"w = {spread}.requires_grad_()\n"
        chosen = "w" if not start else f"w.repeat_interleave(2){start}"
        lines = f"x = {chosen}\ny = {call}\ny.sum().backward()\n(y, w.grad)"
        yield "what vectors compute", made + lines
    for call, start in product(_GRADIENTS[:5], _STARTS[1:]):
        lines = f"x = {numbers.format(188, 'float32')}{start}\n"
        yield "what vectors compute", f"{lines}{call}\n{call}"  # the second on its short way
    for dtype, call in product((*_DTYPES, "float64"), _CANCELLED):
        made = (
            f"z = xp.linspace(0.1, 0.9, 60).to(xp.{dtype})\n"
            f"y = xp.linspace(1, 3, 60).to(xp.{dtype})\n"
        )
        yield "what cancels out", f"{made}x = y * -z\n{call}"
    for dtype, mode in product(_DTYPES, _DIVIDED):
        made = (
            f"x = xp.linspace(-30, 30, 90).to(xp.{dtype})\n"
            f"y = xp.linspace(-0.9, 1.7, 90).to(xp.{dtype})\n"
        )
        for call in ("x, y", "x, y.double()", "x, 0.7", "x, y[3]", "x[:, None], y[:3]"):
            yield "quotients of halves", f"{made}xp.div({call}, rounding_mode='{mode}')"
        yield "quotients of halves", f"{made}(x // y, xp.floor_divide(x, y[:1]), x % y, x.fmod(y))"
    for dtype in _DTYPES[1:]:
        made = f"x = xp.linspace(-0.01, 0.01, 77).to(xp.{dtype})\n"
        yield "what vectors compute", f"{made}(x.erf(), x[::2].erf(), (x * 100).erf())"
