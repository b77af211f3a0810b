"""Random numbers for the area core-ops: the same for the same seed.

Normal floats are compared to the last bit as well; of doubles, whose sine is another library's, the
rule of closeness is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_DTYPES: Final = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "int64", "int32", "int16", "int8"),
    *("uint8", "bool", "float8_e5m2", "uint16"),
)
_SHAPES: Final = ("3", "16", "20", "2, 3", "(5, 7)", "0", "()", "64, 3")
_FILLS: Final = (
    *("uniform_()", "uniform_(-2, 3)", "uniform_(3, 1)", "uniform_(0, 1e39)", "normal_()"),
    *("normal_(2, 3)", "normal_(0, -1)", "random_()", "random_(10)", "random_(-3, 100)"),
    *("random_(5, 5)", "random_(2**40)", "random_(-2**63, None)", "random_(7, None)"),
    *("bernoulli_()", "bernoulli_(0.3)", "bernoulli_(2)", "bernoulli_(0)", "uniform_('x')"),
    *("uniform_(0.1, 0.3)", "uniform_(-1 / 3, 1 / 3)", "uniform_(1, 1.0009)"),
    *("random_(0, 4000)", "random_(0, 100000)", "bernoulli_(xp.full((), 0.3))"),
)
_VIEWS: Final = ("t()", "transpose(0, 1).contiguous()", "[::2]", "[:, 1]", "[:1].expand(3, 5)")
_FACTORIES: Final = (
    *("rand({})", "randn({})", "randint(10, ({},))", "randint(-5, 5, ({},))", "randperm({})"),
    *("normal(1.0, 2.0, ({},))",),
)
SEED: Final = "xp.manual_seed(5)\n"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    known = [name for name in _DTYPES if name in dtypes]
    for fill, dtype in product(_FILLS, known):
        name = fill.partition("(")[0]
        for shape in ("5", "18"):
            yield name, f"{SEED}xp.zeros({shape}, dtype=xp.{dtype}).{fill}"
    for fill, shape in product(_FILLS, _SHAPES):
        yield fill.partition("(")[0], f"{SEED}xp.zeros({shape}).{fill}"
        yield fill.partition("(")[0], f"{SEED}xp.zeros({shape}, device='meta').{fill}"
    for fill, view in product(_FILLS, _VIEWS):
        made = f"x = xp.zeros(6, 5)\nx{'' if view[0] == '[' else '.'}{view}.{fill}\nx"
        yield fill.partition("(")[0], f"{SEED}{made}"
    for factory, device in product(_FACTORIES, ("cpu", "meta")):
        name = factory.partition("(")[0]
        for size in ("0", "1", "5", "16", "37", "-1", "1.5", "'x'"):
            yield name, f"{SEED}xp.{factory.format(size)[:-1]}, device='{device}')"
        for dtype in known:
            options = f"dtype=xp.{dtype}, device='{device}'"
            yield name, f"{SEED}xp.{factory.format('6')[:-1]}, {options})"
    for name, dtype in product(("rand_like", "randn_like", "randint_like"), known[:8]):
        rest = ", 9" if name == "randint_like" else ""
        yield name, f"{SEED}xp.{name}(xp.ones((3, 6)).t(){rest}, dtype=xp.{dtype})"
        yield name, f"{SEED}xp.{name}(xp.ones((3, 6), dtype=xp.{dtype}){rest})"
    yield from _bernoulli(known)
    yield from _normal(known)
    yield from _bits_of_normal()
    yield from _generators()


def _bernoulli(dtypes: Sequence[str]) -> Iterator[Text]:
    for one, two in product(dtypes, repeat=2):
        probabilities = f"xp.tensor([0.25, 0.5, 0.0, 1.0, 0.75]).to(xp.{two})"
        made = f"xp.zeros(5, dtype=xp.{one})"
        yield "bernoulli_", f"{SEED}{made}.bernoulli_({probabilities})"
    for dtype in dtypes:
        made = f"xp.tensor([[0.25, 0.5], [0.0, 1.0], [0.75, 0.5]]).to(xp.{dtype})"
        yield "bernoulli", f"{SEED}xp.bernoulli({made})"
        yield "bernoulli", f"{SEED}xp.bernoulli({made}.t())"
        yield "bernoulli", f"{SEED}xp.bernoulli({made}, 0.7)"
    for values in ("[2.0]", "[-0.5]", "[]"):
        yield "bernoulli", f"{SEED}xp.bernoulli(xp.tensor({values}))"
    yield "bernoulli", f"{SEED}xp.zeros(3, 4).bernoulli_(xp.tensor([0.1, 0.9, 0.5, 0.2]))"
    yield "bernoulli", f"{SEED}xp.zeros(3, 4).bernoulli_(xp.tensor([0.1, 0.9]))"
    yield "bernoulli", f"{SEED}xp.bernoulli(xp.full((4,), 0.5), out=xp.zeros(0))"


def _normal(dtypes: Sequence[str]) -> Iterator[Text]:
    for dtype in dtypes:
        made = f"xp.tensor([1, 2, 0, 3, 1]).to(xp.{dtype})"
        yield "normal", f"{SEED}xp.normal({made}, 2.0)"
        yield "normal", f"{SEED}xp.normal(1.0, {made})"
        yield "normal", f"{SEED}xp.normal({made}, {made})"
    for call in ("xp.ones(3), -1.0", "1.0, -xp.ones(3)", "xp.ones(3), xp.ones(2)", "xp.ones(3)"):
        yield "normal", f"{SEED}xp.normal({call})"
    yield "normal", f"{SEED}xp.normal(xp.ones(3), xp.ones(2, 3))"


def _generators() -> Iterator[Text]:
    seeds = ("0", "-1", "2**63", "2**64 - 1", "2**64", "-2**63 - 1", "1.5", "'x'", "True", "None")
    for seed in seeds:
        yield "Generator", f"xp.Generator().manual_seed({seed}).initial_seed()"
        yield "manual_seed", f"xp.manual_seed({seed}).initial_seed()"
        yield "manual_seed", f"xp.manual_seed({seed})\nxp.rand(2)"
    made = "g = xp.Generator()\n"
    for text in (
        "g.initial_seed()",
        "g.device",
        "xp.rand(3, generator=g)",
        "xp.randn(3, generator=g), xp.randn(3, generator=g)",
        "xp.randint(9, (3,), generator=g)",
        "xp.randperm(5, generator=g)",
        "xp.zeros(5).normal_(generator=g)",
        "xp.zeros(5).bernoulli_(0.5, generator=g)",
        "xp.bernoulli(xp.full((5,), 0.5), generator=g)",
        "xp.normal(0.0, 1.0, (3,), generator=g)",
        "xp.rand(3, generator=1)",
        "xp.rand(3, generator=g, device='meta')",
        "g.get_state()",
        "xp.rand(5, generator=g)\ng.get_state()",
        "xp.randn(1, generator=g)\ng.get_state()",
        "s = g.get_state()\na = xp.rand(3, generator=g)\ng.set_state(s)\n"
        "a, xp.rand(3, generator=g)",
        "xp.randn(1, generator=g)\ns = g.get_state()\na = xp.randn(3, generator=g)\n"
        "h = xp.Generator()\nh.set_state(s)\na, xp.randn(3, generator=h)",
        "g.set_state(xp.zeros(3))",
        "g.set_state(1)",
        "g.set_state(xp.zeros(3, dtype=xp.uint8))",
        "g.set_state(xp.zeros(5056, dtype=xp.uint8))",
        *(f"g.{name}(1)" for name in ("seed", "initial_seed", "get_state", "clone_state")),
        *(f"g.{name}()" for name in ("manual_seed", "set_state", "set_offset")),
        *("g.manual_seed(1, 2)", "g.manual_seed(seed=1)", "g.seed(1, 2)", "g.set_state(state=1)"),
        *("g.get_offset()", "g.get_offset(1)", "g.graphsafe_get_state()"),
        *(f"g.set_offset({given})" for given in ("1", "'a'", "1.5", "-1", "2**64", "True")),
        *("g.graphsafe_set_state(g)", "g.graphsafe_set_state(3)"),
    ):
        yield "Generator", made + text
    for given in (
        *("", "'cpu'", "device='cpu'", "None", "xp.device('cpu')", "'cpu:0'", "'meta'", "'mps'"),
        *("'xla'", "xp.device('vulkan')", "'foo'", "'cpu', 3", "devic='cpu'", "[]", "xp.ones(1)"),
    ):
        yield "Generator", f"xp.Generator({given}).device"
    for text in (
        "s = xp.get_rng_state()\na = xp.rand(3)\nxp.set_rng_state(s)\na, xp.rand(3)",
        "xp.initial_seed()",
        "xp.rand(700)[-3:], xp.rand(2)",
        "xp.randn(1), xp.rand(1), xp.randn(2), xp.randperm(3), xp.randn(1)",
        "xp.rand(3, requires_grad=True)",
        "xp.rand(3, out=xp.zeros(1))",
        "xp.randn(3, out=xp.zeros(3, dtype=xp.float64))",
        "xp.randint(3, (3,), out=xp.zeros(3))",
        "xp.randperm(4, out=xp.zeros(2))",
    ):
        yield "manual_seed", SEED + text


def _bits_of_normal() -> Iterator[Text]:
    """Normal floats to the last bit, and what a generator keeps in stock."""
    for size, arguments in product((5, 16, 29, 600), ("", "2, 3", "-1.5, 0.7")):
        made = f"x = xp.empty({size}).normal_({arguments})\n"
        yield "normal_", f"{SEED}{made}x.view(xp.int32)"
        yield "get_state", f"{SEED}{made}x = xp.get_rng_state()\n(int(x.sum()), x[-40:].tolist())"
    for size in (3, 18):
        yield "randn", f"{SEED}xp.randn({size}, 2).t().view(xp.int32)"
        yield "randn", f"{SEED}xp.randn(3, {size}, dtype=xp.complex64).view(xp.int32)"
