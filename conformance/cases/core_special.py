"""Special functions for the area core-ops: where each has another series, and what is at the ends.

What cancels is left out: at the zeros of a wave a result is but the last digits of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_DTYPES: Final = ("float16", "bfloat16", "float64", "int64", "bool", "complex64")
_ENDS: Final = "0., -0., xp.inf, -xp.inf, xp.nan"

_EVERYWHERE: Final = "-130, -8.5, -8, -4.5, -0.3, 1e-6, 0.7, 2, 5, 5.1, 8, 9, 30, 130"
_ABOVE: Final = "1e-6, 0.7, 2, 2.5, 5, 5.1, 8, 9, 30, 130"
_UNARY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("i0", "i0e", "i1", "i1e"), _EVERYWHERE),
    **dict.fromkeys(("bessel_j0", "bessel_j1"), _EVERYWHERE),
    **dict.fromkeys(("bessel_y0", "bessel_y1"), _ABOVE),
    **dict.fromkeys(("modified_bessel_i0", "modified_bessel_i1"), _EVERYWHERE),
    **dict.fromkeys(("modified_bessel_k0", "modified_bessel_k1"), _ABOVE),
    **dict.fromkeys(("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"), _ABOVE),
    "spherical_bessel_j0": _EVERYWHERE,
    "airy_ai": "-30, -2.1, -2.09, -1, 0.5, 2.09, 2.1, 8.3, 8.4, 50, 103, 104",
    "entr": "-1, 1e-6, 0.3, 1, 2, 130",
    "erfcx": "-27, -26.5, -6.2, -6, -1, 0.5, 3, 50, 51, 6e7",
    "log_ndtr": "-30, -1.5, -1, -0.5, 0.5, 2",
    "ndtr": "-1.5, -0.5, 0.5, 2, 9",
    "ndtri": "-1, 1e-30, 1e-10, 0.1, 0.2, 0.6, 0.9, 1, 2",
}
_DIFFERENTIABLE: Final = (
    *("i0", "i0e", "i1", "i1e", "entr", "erfcx", "log_ndtr", "ndtr", "ndtri"),
    *("airy_ai", "bessel_j0"),
)

_POLYNOMIALS: Final = (
    *(f"{kind}chebyshev_polynomial_{letter}" for kind in ("", "shifted_") for letter in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
)
_POINTS: Final = "[-2.], [-1.], [-0.7], [0.], [0.2], [1.], [1.5]"
_DEGREES: Final = "-1, 0, 1, 2.9, 5, 7, 9, 14, xp.nan, xp.inf, 1e20"

_PAIRS: Final = (
    *("0.5, 0.3", "0.5, 0.9", "0.5, 4", "3, 0.4", "3, 2", "50, 30", "50, 51", "300, 290"),
    *("300, 500", "0, 1", "0, 0", "1, 0", "-1, 1", "xp.inf, 1", "1, xp.inf", "xp.inf, xp.inf"),
    "xp.nan, 1",
)
_ZETA: Final = (
    *("2, 1", "1, 2", "0.5, 2", "3, -2", "3, -2.5", "2.5, -0.5", "2, 20", "5, 1e-300"),
    *("xp.inf, 1", "2, xp.inf", "2, -xp.inf"),
)
_OF_TWO: Final = {"gammainc": _PAIRS, "gammaincc": _PAIRS, "zeta": _ZETA}

_SOME: Final = ("i0", "i0e", "i1", "ndtr", "airy_ai")
_OUTPUTS: Final = ("dtype=xp.float64", "dtype=xp.int64", "dtype=xp.bfloat16", "dtype=xp.complex64")
_ORDERS: Final = ("1", "2", "5", "0", "-1")
_NUMBERS: Final = (
    *("3", "2.5", "xp.tensor([1, 2], device='{device}')"),
    "xp.ones(2, device='{device}', requires_grad=True)",
)


def texts() -> Iterator[Text]:
    yield from _unary()
    yield from _of_two()
    yield from _mvlgamma()


def _of_floats_and_doubles(call: str) -> str:
    """The call with each dtype for its ``{dtype}``."""
    return ", ".join(call.format(dtype=f"xp.{dtype}") for dtype in ("float32", "float64"))


def _unary() -> Iterator[Text]:
    for name, values in _UNARY.items():
        made = f"xp.tensor([{values}, {_ENDS}], dtype={{dtype}})"
        yield name, _of_floats_and_doubles(f"xp.special.{name}({made})")
    for name, dtype, device in pairwise(_SOME, _DTYPES, _DEVICES):
        made = f"xp.tensor([0, 1, 2], device='{device}').to(xp.{dtype})"
        yield name, f"xp.special.{name}({made})"
    for name, options, device in pairwise(_SOME, _OUTPUTS, _DEVICES):
        made = f"xp.ones(2, device='{device}')"
        yield name, f"xp.special.{name}({made}, out=xp.empty(2, {options}, device='{device}'))"
    for name in _DIFFERENTIABLE:
        yield name, f"xp.special.{name}(xp.tensor([0.3, 0.6], requires_grad=True))"
    for name in ("i1", "i1e"):
        yield (
            name,
            f"x = xp.tensor([0., 1e-20, -2.], requires_grad=True)\n"
            f"(y,) = xp.autograd.grad(xp.special.{name}(x).sum(), x, create_graph=True)\n"
            "y, xp.autograd.grad(y.sum(), x)",
        )
    for dtype in ("float16", "bfloat16"):  # vectors, and what is left of them
        yield "i0e", f"xp.special.i0e(xp.arange(70).to(xp.{dtype}) * 0.75)"
        yield "i0e", f"xp.special.i0e(xp.arange(70).to(xp.{dtype})[::2] * 0.75)"


def _of_two() -> Iterator[Text]:
    for name in _POLYNOMIALS:
        made = [f"xp.tensor([{each}], dtype={{dtype}})" for each in (_POINTS, _DEGREES)]
        yield name, _of_floats_and_doubles(f"xp.special.{name}({', '.join(made)})")
    for name, pairs in _OF_TWO.items():
        made_of_pairs = f"xp.tensor([({'), ('.join(pairs)})], dtype={{dtype}})"
        yield name, _of_floats_and_doubles(f"xp.special.{name}(*{made_of_pairs}.t())")
    names = (*_POLYNOMIALS[::5], *_OF_TWO)
    for name, x, n, device in pairwise(names, _NUMBERS, _NUMBERS, _DEVICES):
        yield name, f"xp.special.{name}({x.format(device=device)}, {n.format(device=device)})"
    for name, dtype, device in pairwise(names, _DTYPES, _DEVICES):
        made = [
            f"xp.tensor([2, 3], device='{device}').to(xp.{each})" for each in (dtype, "float32")
        ]
        yield name, f"xp.special.{name}({', '.join(made)})"
    for name, device in product(names, _DEVICES):
        made = [f"xp.ones({size}, device='{device}')" for size in (2, 3)]
        yield name, f"xp.special.{name}({', '.join(made)})"
    for name, place in product(_OF_TWO, (0, 1)):
        made = [f"xp.tensor([2., 3.], requires_grad={each == place})" for each in (0, 1)]
        yield name, f"xp.special.{name}({', '.join(made)}).sum().backward()"


def _mvlgamma() -> Iterator[Text]:
    for dtype, order, device in pairwise(_DTYPES[1::2], _ORDERS, _DEVICES):
        made = f"xp.tensor([5, 6, 3.5], device='{device}').to(xp.{dtype})"
        yield "mvlgamma", f"xp.mvlgamma({made}, {order})"
    for dtype, device in product(("float32", "int64"), _DEVICES):
        made = f"xp.tensor([5, 6, 3.5], device='{device}').to(xp.{dtype})"
        yield "mvlgamma_", f"{made}.mvlgamma_(2)"
    for options in _OUTPUTS:
        yield "mvlgamma", f"xp.mvlgamma(xp.ones(2) * 4, 2, out=xp.empty(2, {options}))"
    for device in _DEVICES:
        made = f"xp.ones(2, 3, 2, 2, device='{device}').to(memory_format=xp.channels_last) * 4"
        yield "multigammaln", f"xp.special.multigammaln({made}, 2).stride()"
