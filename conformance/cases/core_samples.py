"""Samples that few programs draw, and quasi-random numbers.

Binomial, gamma and Dirichlet samples by a seed, and how they move with their parameters; normal
samples and integers that are written to outputs; Sobol's sequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance.area import Text

_WORDS: Final = {
    r"\bA\.": "xp.ops.aten.",
    r"\bT\(": "xp.tensor(",
    r"\bO\(": "xp.ones(",
    r"\bZ\(": "xp.zeros(",
    r"\bR\(": "xp.arange(",
    r"\bM\b": "device='meta'",
}
"""What the texts here and in :mod:`conformance.cases.core_optim` write short."""

_DRAWN_CALLS: Final = """
xp.normal(O(3, M), 2., out=O(3, M))
xp.normal(O(3, M), O(2, 1, M), out=O(3, M))
xp.normal(1., O(2, 1, M), out=O(3, M))
xp.normal(1., 2., (2, 3), out=O(3, M))
xp.normal(1., O(2, 1), out=O(3, M))
xp.randint(3, 7, (2, 3), generator=xp.Generator(), out=Z(2).cfloat())
xp.randint(3, (2, -3), generator=xp.Generator(), out=Z(2))
xp.randint(3, (2, 3), generator=xp.Generator(), out=Z(2, M))
A.randint.generator_out(3, (2, 3), generator=None, out=Z(2, M))
"""
_DRAWN_PROGRAMS: Final = """
xp.manual_seed(1)
xp.randint_like(O(3), T(-3))

xp.manual_seed(1)
xp.randint_like(O(3), T(1e30))

xp.manual_seed(1)
xp.randint_like(O(3), T([5]))

xp.manual_seed(1)
o = Z(3)
r = xp.normal(R(3.), 2., out=o)
(r, o, xp.rand(1))

xp.manual_seed(1)
o = Z(0)
r = xp.normal(R(3.), 2., out=o)
(r, o, xp.rand(1))

xp.manual_seed(1)
o = Z(2, 3)
r = xp.normal(R(3.), 2., out=o)
(r, o, xp.rand(1))

xp.manual_seed(1)
o = Z(2, 1)
r = xp.normal(R(3.), 2., out=o)
(r, o, xp.rand(1))

xp.manual_seed(1)
r = xp.normal(R(3.), -2., out=Z(2))

xp.manual_seed(1)
r = xp.normal(R(3.), 2., out=Z(2))

xp.manual_seed(1)
r = xp.normal(R(20.), 2., out=Z(20).double())
r

xp.manual_seed(1)
r = xp.normal(R(20.).double(), 2., out=Z(20))
r

xp.manual_seed(1)
r = xp.normal(R(20.), 2., out=Z(20).long())
r

xp.manual_seed(1)
r = xp.normal(R(4).cfloat(), 2., out=Z(4))
r

xp.manual_seed(1)
r = xp.normal(R(4), 2., out=Z(4))
r

xp.manual_seed(1)
o = Z(4)
r = xp.normal(2., R(4.), out=o)
(r is o, r)

xp.manual_seed(1)
r = xp.normal(2., R(4.), out=Z(1, 4))
r

xp.manual_seed(1)
r = xp.normal(2., -R(4.), out=Z(1))
r

xp.manual_seed(1)
r = xp.normal(2., R(4).cfloat(), out=Z(1))
r

xp.manual_seed(1)
r = xp.normal(2.5, R(4), out=Z(4).half())
r

xp.manual_seed(1)
r = xp.normal(2.5, R(4), out=Z(4).long())
r

xp.manual_seed(1)
r = xp.normal(2.5, R(4), out=Z(4).bool())
r

xp.manual_seed(1)
r = xp.normal(R(4.), R(4.), out=Z(4))
r

xp.manual_seed(1)
r = xp.normal(R(4.)[:, None], R(4.), out=Z(4))
r

xp.manual_seed(1)
r = xp.normal(R(4.)[:, None], R(4.), out=Z(0))
r

xp.manual_seed(1)
r = xp.normal(R(4.), R(3.), out=Z(0))
r

xp.manual_seed(1)
r = xp.normal(R(4.), O(4, dtype=xp.bool), out=Z(0))
r

xp.manual_seed(1)
r = xp.normal(R(4.), O(0), out=Z(0))
r

xp.manual_seed(1)
r = xp.normal(O(1), O(0), out=Z(3))
r

xp.manual_seed(1)
o = Z(4)
r = xp.normal(1., 2., (2, 3), out=o)
(r is o, o)

xp.manual_seed(1)
r = xp.normal(1., -2., (2, 3), out=Z(3))
r

xp.manual_seed(1)
r = xp.normal(1., 2., (2, -3), out=Z(3))
r

g = xp.Generator()
g.manual_seed(3)
r = xp.normal(1., 2., (2, 3), out=Z(2, 3, dtype=xp.cfloat), generator=g)
(r, xp.rand(2, generator=g))

o = O(3, requires_grad=True)
xp.normal(O(3), 2., out=o)

o = O(3)
xp.normal(O(3, requires_grad=True), 2., out=o)

xp.manual_seed(1)
o = Z(2, 3, 4, 4).to(memory_format=xp.channels_last)
r = xp.normal(Z(2, 3, 4, 4), 2., out=o)
r

g = xp.Generator()
g.manual_seed(3)
o = Z(4)
r = xp.randint(7, (2, 3), generator=g, out=o)
(r is o, o)

g = xp.Generator()
g.manual_seed(3)
o = Z(4).long()
r = xp.randint(2, 7, (2, 3), generator=g, out=o)
(r is o, o, xp.rand(1, generator=g))

g = xp.Generator()
xp.randint(9, 7, (2, 3), generator=g, out=Z(2).long())

g = xp.Generator()
xp.randint(300, 700, (2, 3), generator=g, out=Z(2).to(xp.uint8))

xp.manual_seed(1)
xp.randint_like(O(3), T(5))

xp.manual_seed(1)
xp.randint_like(O(3), T(5.7), dtype=xp.int32)

xp.manual_seed(1)
xp.randint_like(O(3), T(True))

g = xp.Generator()
g.manual_seed(3)
r0 = xp.randint_like(O(3), 5, generator=g)
r1 = xp.randint_like(O(3).long(), 5, 9, generator=g)
r2 = xp.randint_like(O(3, 2).t(), T(9), generator=g)
(r0, r1, r2)

g = xp.Generator()
g.manual_seed(3)
A.randint_like.generator(O(3), 5, generator=g, M)

g = xp.Generator()
g.manual_seed(3)
A.randint_like.generator_out(O(3), 5, generator=g, out=Z(3))

g = xp.Generator()
g.manual_seed(3)
A.randint_like.low_generator_dtype_out(O(3), 5, 9, generator=g, out=Z(3))

xp.manual_seed(3)
A.randint_like.Tensor_out(O(3), T(5), out=Z(3))

xp.manual_seed(3)
A.randint_like.Tensor_generator(O(3), T(5), generator=None, dtype=xp.half)
"""
_GAMMA_CALLS: Final = """
xp._standard_gamma_grad(T([1., 2., 10., 0.5]), T([0.3, 0.5, 0.7, 0.7]))
xp._dirichlet_grad(T([0.1, 0.9]), T([2., 1.]), T([5., 3.]))
xp.binomial(xp.full((3,), 10.), xp.full((2,), 0.7))
xp.binomial(xp.full((3,), 10.), xp.full((3,), 0.7).double())
xp.binomial(xp.full((3,), 10), xp.full((3,), 1))
xp.binomial(xp.full((3,), 10.).half(), xp.full((3,), 0.5).half())
xp.binomial(xp.full((0,), 10.).half(), xp.full((0,), 0.5).half())
xp.binomial(xp.full((0,), 10.), xp.full((0,), 0.5))
xp.binomial(xp.full((3,), 10.), xp.full((3,), float('nan')))
xp.binomial(xp.full((3,), 10., M), xp.full((3,), 0.4, M))
xp._standard_gamma(xp.full((2, 3), 3))
xp._standard_gamma(xp.full((2, 3), 3.).half())
xp._standard_gamma_grad(O(3), O(2, 3))
xp._standard_gamma_grad(O(3), O(2))
xp._standard_gamma_grad(O(3), O(3).double())
xp._standard_gamma_grad(O(3).long(), O(3).long())
xp._standard_gamma_grad(T([0., 1., float('nan'), 10.]), T([0., 0., 1., float('inf')]))
xp._sample_dirichlet(Z(0))
xp._sample_dirichlet(Z(3, 0))
xp._sample_dirichlet(O(3).long())
xp._sample_dirichlet(O(3).half())
xp._dirichlet_grad(O(3), O(2, 1), O(1))
xp._dirichlet_grad(O(3), O(3), O(3).double())
xp._dirichlet_grad(T([0., 1., 0.5]), O(3), O(3))
xp.binomial(O(3), O(3).long())
xp.binomial(O(3).half(), O(2).long())
xp.binomial(O(3).bool(), O(2))
xp.binomial(O(3).cfloat(), O(3).cfloat())
"""
_GAMMA_PROGRAMS: Final = """
xp.manual_seed(2)
xp.binomial(xp.full((3000,), 60.), xp.full((3000,), 0.3)).sum()

xp.manual_seed(1)
xp.binomial(xp.full((2, 3), 10.), T(0.7))

xp.manual_seed(1)
(xp.binomial(xp.full((40,), 100.), xp.linspace(-0.1, 1.1, 40)), xp.rand(1))

xp.manual_seed(1)
(xp.binomial(R(60.).double() * 7, xp.linspace(0., 1., 60).double()), xp.rand(1))

xp.manual_seed(1)
(xp.binomial(xp.full((300,), 9.), xp.full((300,), 0.3)), xp.rand(1))

xp.manual_seed(1)
(xp.binomial(xp.full((300,), 1000.), xp.full((300,), 0.013)), xp.rand(1))

xp.manual_seed(1)
(xp.binomial(xp.full((300,), 1e6), xp.full((300,), 0.7)), xp.rand(1))

xp.manual_seed(1)
(xp.binomial(xp.full((2, 3), 10.).t(), xp.full((3, 2), 0.7)), xp.rand(1))

xp.manual_seed(1)
xp.binomial(xp.full((3,), 10.), xp.full((2, 3), 0.7))

g = xp.Generator()
g.manual_seed(3)
(xp.binomial(xp.full((3,), 10.), xp.full((3,), 0.4), generator=g), xp.rand(1, generator=g))

xp.manual_seed(2)
A.binomial.out(xp.full((3,), 10.), xp.full((3,), 0.4), out=Z(0))

xp.manual_seed(2)
c = xp.full((3,), 10., requires_grad=True)
p = xp.full((3,), 0.4, requires_grad=True)
r = xp.binomial(c, p)
r.sum().backward()
(r, c.grad, p.grad)

xp.manual_seed(1)
(xp._standard_gamma(xp.linspace(0., 20., 100)), xp.rand(1))

xp.manual_seed(1)
(xp._standard_gamma(xp.linspace(0., 1., 100).double()), xp.rand(1))

xp.manual_seed(1)
(xp._standard_gamma(xp.full((2, 3), 3.).t()), xp.rand(1))

xp.manual_seed(1)
(xp.normal(Z(3), 1.), xp._standard_gamma(xp.full((2, 3), 3.)), xp.normal(Z(3), 1.))

xp.manual_seed(1)
x = xp.linspace(0.1, 20., 60, requires_grad=True)
r = xp._standard_gamma(x)
r.sum().backward()
(r, x.grad)

xp.manual_seed(1)
x = xp.linspace(0.1, 20., 60, dtype=xp.float64, requires_grad=True)
r = xp._standard_gamma(x)
r.sum().backward(create_graph=True)
x.grad.sum().backward()

a, x = xp.linspace(0.05, 40., 30).double(), xp.linspace(0.001, 50., 40).double()
a, x = xp.meshgrid(a, x, indexing='ij')
xp._standard_gamma_grad(a, x)

a, x = xp.meshgrid(xp.linspace(0.05, 40., 30), xp.linspace(0.001, 50., 40), indexing='ij')
xp._standard_gamma_grad(a, x)

xp.manual_seed(1)
(xp._sample_dirichlet(xp.linspace(0.1, 5., 12).reshape(3, 4)), xp.rand(1))

xp.manual_seed(1)
(xp._sample_dirichlet(xp.linspace(0., 5., 12).double().reshape(3, 4)), xp.rand(1))

xp.manual_seed(1)
(xp._sample_dirichlet(xp.linspace(0., 5., 12).double().reshape(3, 4).t()), xp.rand(1))

xp.manual_seed(1)
(xp._sample_dirichlet(T(2.)), xp.rand(1))

xp.manual_seed(1)
a = xp.linspace(0.1, 5., 12).reshape(3, 4).requires_grad_()
r = xp._sample_dirichlet(a)
(r * R(4.)).sum().backward()
(r, a.grad)

x, a = xp.meshgrid(xp.linspace(0.001, 0.999, 30), xp.linspace(0.1, 30., 30), indexing='ij')
[xp._dirichlet_grad(x, a, b) for b in (a + 0.5, a + 3, a * 2 + 9)]

x, a = xp.linspace(0.001, 0.999, 30).double(), xp.linspace(0.1, 30., 30).double()
x, a = xp.meshgrid(x, a, indexing='ij')
[xp._dirichlet_grad(x, a, b) for b in (a + 0.5, a + 3, a * 2 + 9)]
"""
_QUASI_CALLS: Final = """
xp._sobol_engine_initialize_state_(Z(3, 30), 3)
xp._sobol_engine_initialize_state_(Z(30).long(), 3)
xp._sobol_engine_draw(Z(3), 4, Z(3, 3), 3, 0, dtype=xp.half)
xp._sobol_engine_draw(Z(3).long(), 4, Z(30).long(), 3, 0, dtype=None)
xp._sobol_engine_draw(T(3), 4, Z(3, 30).long(), 3, 0, dtype=None)
xp._sobol_engine_ff_(Z(3), 4, Z(3, 30).long(), 3, 0)
xp._sobol_engine_ff_(Z(3), 4, Z(3, 30), 3, 0)
xp._sobol_engine_ff_(T(3), 4, Z(3, 30).long(), 3, 0)
xp._sobol_engine_ff_(Z(3).long(), 4, Z(30).long(), 3, 0)
xp._sobol_engine_initialize_state_(Z(3, 30, M).long(), 3)
xp._sobol_engine_initialize_state_(Z(3, 32).long(), 3)
xp._sobol_engine_initialize_state_(Z(3, 30), 0)
xp._sobol_engine_draw(Z(3), -4, Z(3, 30).long(), 3, 0, dtype=None)
xp._sobol_engine_draw(Z(3, 1).long(), 4, Z(3, 32).long(), 3, 0, dtype=None)
xp._sobol_engine_draw(Z(3).long(), 4, Z(3, 32).long(), 3, 0, dtype=None)
xp._sobol_engine_draw(Z(0).long(), 4, Z(0, 30).long(), 0, -1, dtype=None)
xp._sobol_engine_draw(Z(3).long(), 1, Z(3, 30).long(), 3, 2**30, dtype=None)
xp._sobol_engine_draw(Z(3, M).long(), 4, Z(3, 30, M).long(), 3, 0, dtype=None)
xp._sobol_engine_ff_(Z(3).long(), 4, Z(3, 30).long(), 2, 0)
xp._sobol_engine_ff_(Z(3).long(), 4, Z(3, 30).long(), 3, -5)
xp._sobol_engine_scramble_(Z(4, 30, M).long(), Z(4, 30, 30).long(), 4)
xp._sobol_engine_scramble_(Z(4, 30), Z(4, 30, 30).long(), 4)
xp._sobol_engine_scramble_(Z(30).long(), Z(4, 30, 30).long(), 4)
xp._sobol_engine_scramble_(Z(4, 30).long(), Z(30, 30).long(), 4)
xp._sobol_engine_scramble_(Z(4, 30).long(), Z(30).long(), 4)
"""
_QUASI_PROGRAMS: Final = """
s = Z(5, 30, dtype=xp.long)
r = A._sobol_engine_initialize_state_(s, 5)
(r is s, s, s._version)

s = Z(200, 30, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 200)

s = xp.full((4, 30), 3)
xp._sobol_engine_initialize_state_(s, 2)

s = xp.full((4, 30), 3)
xp._sobol_engine_initialize_state_(s, 0)

s = xp.full((4, 31), 3)
xp._sobol_engine_initialize_state_(s, 2)

s = xp.full((30, 4), 3).t()
xp._sobol_engine_initialize_state_(s, 2)

s = Z(3, 30, dtype=xp.long)
q = Z(3, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 3)
r = xp._sobol_engine_draw(q, 10, s, 3, 0, dtype=None)
(r, q)

s = Z(3, 30, dtype=xp.long)
q = R(3) * 1000003
xp._sobol_engine_initialize_state_(s, 3)
r0 = xp._sobol_engine_draw(q, 10, s, 3, 77, dtype=xp.float64)
r1 = xp._sobol_engine_draw(q, 0, s, 3, 77, dtype=xp.float64)
r2 = xp._sobol_engine_draw(q, 2, s, 2, 1023, dtype=xp.float64)
(r0, r1, r2)

s = Z(3, 30, dtype=xp.long)
q = Z(3, dtype=xp.long)
xp._sobol_engine_draw(q, 4, s, 3, 0, dtype=xp.half)

s = Z(3, 30, dtype=xp.long)
q = Z(3, dtype=xp.long)
xp._sobol_engine_draw(q, -4, s, 3, 0, dtype=None)

s = Z(3, 30, dtype=xp.long)
xp._sobol_engine_draw(Z(3), 4, s, 3, 0, dtype=xp.half)

s = Z(3, 30, dtype=xp.long)
q = R(6)[::2]
xp._sobol_engine_initialize_state_(s, 3)
r = xp._sobol_engine_ff_(q, 11, s, 3, 5)
(r is q, q, q._base, q._version)

s = Z(3, 30, dtype=xp.long)
q = Z(3, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 3)
r0 = xp._sobol_engine_ff_(q, 0, s, 3, 5)
r1 = xp._sobol_engine_ff_(q, -3, s, 3, 5)
r2 = xp._sobol_engine_ff_(q, 3, s, 2, -5)
(r0, r1, r2)

s = Z(4, 30, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 4)
m = R(4 * 900).reshape(4, 30, 30) * 7 % 11 % 2
r = xp._sobol_engine_scramble_(s, m.tril(), 3)
(r is s, s)

s = Z(4, 30, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 4)
xp._sobol_engine_scramble_(s, Z(4, 30, 30, dtype=xp.int32), 4)

s = Z(4, 30, dtype=xp.long)
xp._sobol_engine_scramble_(s, Z(4, 30, 30), 4)

s = Z(2, 30, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 2)
xp._sobol_engine_draw(Z(2).long(), 300, s, 2, 0, dtype=None)

s = Z(2, 30, dtype=xp.long)
xp._sobol_engine_initialize_state_(s, 2)
A._sobol_engine_draw(Z(2).long(), 2, s, 2, 0, dtype=xp.int64)
"""


def written_out(text: str, short: Mapping[str, str] = MappingProxyType({})) -> str:
    for word, meant in short.items():
        text = text.replace(word, meant)
    for pattern, meant in _WORDS.items():
        text = re.sub(pattern, meant, text)
    return text


def texts() -> Iterator[Text]:
    for name, calls, programs in (
        ("rare samples", _GAMMA_CALLS, _GAMMA_PROGRAMS),
        ("samples in outputs", _DRAWN_CALLS, _DRAWN_PROGRAMS),
        ("quasi-random numbers", _QUASI_CALLS, _QUASI_PROGRAMS),
    ):
        for text in (*calls.strip().splitlines(), *filter(None, programs.strip().split("\n\n"))):
            yield name, written_out(text)
