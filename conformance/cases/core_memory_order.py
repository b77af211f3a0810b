"""What depends on how tensors lie in memory, and on what factories make of an option.

Which elements a vector computes, in what order a product is made, where the results of functions
in Python lie on meta, and what a factory says of a layout before it looks at its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DEVICES: Final = ("cpu", "meta")

#: Dimensions of one element, of none, and gaps.
_LAID: Final = (
    *("xp.ones(0, 3, 6, device='{}')[:, :, ::2]", "xp.ones(0, 3, device='{}').t()"),
    "xp.ones(2, 1, 0, 3, device='{}').permute(0, 3, 1, 2)",
    "xp.ones(2, 1, 2, 0, device='{}').permute(0, 3, 1, 2)",
    *("xp.ones(1, 4, device='{}').t()", "xp.ones(4, 1, 3, device='{}')[::2].permute(1, 0, 2)"),
    *("xp.ones(2, 3, 1, device='{}').permute(2, 1, 0)", "xp.ones(4, device='{}')[::4][:, None]"),
)
_NOWHERE: Final = "xp.ones(0, dtype=xp.int64, device='{}')"
_CALLS: Final = (
    *("xp.flip(x, (0,))", "xp.sort(x, 0)", "x.masked_fill(x > 1, 3)", "xp.relu(x)", "xp.tril(x)"),
    *("xp.triu(x)", "xp.nn.functional.threshold(x, 1, 2)", "xp.nn.functional.gelu(x)"),
    *("xp.nn.functional.elu(x)", "xp.log_softmax(x, 0)", "xp.softmax(x, 0)", "xp.exp(x)"),
    f"x.index_put(({_NOWHERE},), xp.ones((), device='{{}}'))",
    *(f"x.index_fill(0, {_NOWHERE}, 3)", f"x.index_add(0, {_NOWHERE}, x[:0])"),
    *(f"x.index_copy(0, {_NOWHERE}, x[:0])", "xp.where(x > 1, x, 0)", "x.clone()"),
)

#: Where vectors begin and end, of a hundred numbers.
_SPREAD: Final = (
    *("", "[::2]", ".reshape(10, 10).t()", ".reshape(2, 50)[:, 3:]", ".reshape(2, 50)[:, :37]"),
    ".reshape(4, 25).t()",
)
_IN_VECTORS: Final = (
    *(
        "xp.rsqrt(x)",
        "xp.pow(x, -0.5)",
        "xp.pow(x, 3)",
        "xp.pow(x, -2)",
        "xp.nn.functional.gelu(x)",
    ),
    *("xp.nn.functional.softshrink(x)", "xp.rsqrt(x, out=xp.ones(2, 2, dtype=xp.float32)[:0])"),
)
_MULTIPLIED: Final = (
    *("xp.prod(x)", "xp.prod(x, 0)", "xp.prod(x, -1)", "xp.prod(x, 0, dtype=xp.float64)"),
    *("xp.prod(x[None], 1)", "xp.prod(x, 0, dtype=xp.bfloat16)"),
)
_FACTORS: Final = "(xp.arange(200) % 7 * 0.1 + 0.7)"
_FAR_APART: Final = f"({_FACTORS} * xp.tensor([1e30, 1e-30]).repeat(100))"

#: Factories, what they are given, and the options that they look at first.
_MADE: Final = (
    *("arange(3", "arange(3, 1", "arange(3, float('inf')", "arange(2j, 1", "arange(0, 1, 1j"),
    *("eye(3", "eye(-3", "eye(0, 2", "full((2, 2), 1", "full((-2,), 1", "zeros(2", "ones(2"),
    *("linspace(0, 1, -1", "tril_indices(-1, 2", "triu_indices(2, 1", "randn(-1", "randn(2"),
    *("normal(0.0, 1.0, (-3,)", "rand(-1"),
)
_OPTIONS: Final = (
    *("layout=xp.sparse_coo", "layout=xp._mkldnn", "pin_memory=True", "dtype=xp.float32"),
    *("dtype=xp.int64", "device='meta'", "device='meta', layout=xp.sparse_coo"),
    *("device='meta', dtype=xp.int64", "device='meta', pin_memory=True"),
)
_LIKE: Final = (
    *("xp.ones_like(x, {})", "xp.empty_like(x, {})", "xp.full_like(x, 1, {})"),
    *("x.new_ones(2, {})", "x.new_full((2,), 1, {})"),
)
_BELOW: Final = ("(2,), (-1,)", "(2,), (-5,)", "(2, 3), (-5, -1)", "(0, 3), (-5, -1)")
_DRAWN: Final = (
    *("xp.randperm(3, {}, device='meta')", "xp.ones(3, device='meta').exponential_({})"),
    *("xp.ones(3, device='meta').normal_({})", "xp.ones(3, device='meta').uniform_({})"),
)

#: Gradients and inputs of padding that do not belong together.
_PADDED: Final = (
    *("xp.ones(2, 1, {0}), xp.ones(2, 2, {0})", "xp.ones(2, 0, {0}), xp.ones(2, 2, {0})"),
    *("xp.ones({0}), xp.ones(1, 2, {0})", "xp.ones(1, 2, {0}), xp.ones({0})"),
    "xp.ones(2, 1, {0}).bool()[:, :0], xp.ones(2, 2, {0}).bool()",
)
_PADS: Final = (
    *(("reflection", 1), ("reflection", 2), ("reflection", 3)),
    *(("replication", 1), ("replication", 2)),
)
_ZEROS: Final = ("[0.0, -0.0]", "[-0.0, 0.0]", "[[0.0, -0.0], [-0.0, 0.0]]", "[0.0, -0.0, 1.0]")


def _named(call: str) -> str:
    return call.removeprefix("xp.").removeprefix("nn.functional.").partition("(")[0]


def _lying() -> Iterator[Text]:
    for made, call, device in product(_LAID, _CALLS, _DEVICES):
        x = made.format(device)
        yield _named(call.removeprefix("x.")), f"x = {x}\n{call.format(device, device)}"
    for spread, call, dtype in product(_SPREAD, _IN_VECTORS, ("float16", "bfloat16")):
        x = f"x = (xp.arange(100) * 0.013).to(xp.{dtype}){spread}"
        yield _named(call), f"{x}\n{call}"
    for spread in _SPREAD[2:]:
        x = f"(xp.arange(100) * 0.05 - 4){spread}"
        yield "gelu", f"xp.nn.functional.gelu({x})"
    for end, call in product(
        ("", "[::2]", ".reshape(4, 50)[:, 3:]", ".reshape(50, 4)"), _MULTIPLIED
    ):
        for x in (f"{_FACTORS}.to(xp.bfloat16)", f"{_FACTORS}.to(xp.float16)", _FAR_APART):
            yield "prod", f"x = {x}{end}\n{call}"
    for shape, flip in product(("2, 1, 5", "1, 2, 5", "2, 2, 1"), (False, True)):
        weight = "xp.ones(3, 2, 2).mT" if flip else "xp.ones(3, 2, 1)"
        yield (
            "conv1d",
            f"xp.nn.functional.conv1d(xp.ones({shape}).expand(2, 2, -1), {weight}, None, 1, 2)",
        )


def _made() -> Iterator[Text]:
    for call, options in product(_MADE, _OPTIONS):
        made = f"xp.{call}, {options})"
        yield call.partition("(")[0], f"{made}.shape" if call.startswith("ra") else made
    for call, layout in product(_LIKE, ("sparse_coo", "strided")):
        yield "like", f"x = xp.ones(2)\n({call.format(f'layout=xp.{layout}')}).shape"
    for given in _BELOW:
        made = f"xp.empty_strided({given}, device='meta')"
        yield "empty_strided", f"{made}.untyped_storage().nbytes()"
    for call in _DRAWN:
        yield _named(call.rpartition(").")[2]), call.format("generator=xp.Generator()")


def texts() -> Iterator[Text]:
    yield from _lying()
    yield from _made()
    for (kind, rank), given in product(_PADS, _PADDED):
        name = f"{kind}_pad{rank}d_backward"
        sizes = ", ".join("3" * rank)
        yield name, f"xp.ops.aten.{name}({given.format(sizes)}, {[0] * 2 * rank}).shape"
    for values, dim in product(_ZEROS, (0, -1)):
        yield "aminmax", f"xp.aminmax(xp.tensor({values}), dim={dim})"
    for dtype, name in product(("complex64", "float8_e5m2"), ("aminmax", "max", "min")):
        yield name, f"xp.{name}(xp.ones(0, 2, dtype=xp.{dtype}), dim=1)"
    for dtype in ("uint8", "int8", "int16", "int32", "int64"):
        yield (
            "repeat_interleave",
            f"xp.repeat_interleave(xp.ones(2), xp.tensor([1, 2]).to(xp.{dtype}))",
        )
    for dtype, size in product(("bool", "int64", "bfloat16"), (1, 2)):
        x = f"xp.ones(1, 1, 2, 2, 2, dtype=xp.{dtype})"
        weight = f"xp.ones(1, 1, {size}, {size}, {size}, dtype=xp.{dtype})"
        yield "conv3d", f"xp.nn.functional.conv3d({x}, {weight})"
    for number, dtype in product(("alpha=1j", "beta=1j", "beta=0.5"), ("bfloat16", "int64")):
        x, y = f"xp.ones(1, 2, dtype=xp.{dtype})", f"xp.ones(2, dtype=xp.{dtype})"
        yield "addr", f"xp.addr({x}, {y}[:0], {y}, {number})"
    yield "take_along_dim", "xp.take_along_dim(xp.ones(()), xp.tensor(0), 0)"
    for one, two in product(_DEVICES, _DEVICES):
        given = f"xp.ones(3, device='{one}'), xp.ones(3, device='{two}')"
        yield "lerp", f"xp.lerp({given}, 0.5)"
        yield "sum", f"xp.sum(xp.ones(3, device='{one}'), 0, out=xp.ones((), device='{two}'))"
