"""Area ``pickling``: tensors that go through a pickle, a shallow copy and a deep copy.

Each tensor, alone and beside a view of it, is written and read with every protocol; what comes back
is asked what it is: its geometry, its attributes and hooks, whether it shares memory with another.
What cannot be written is refused in torch's words.

Not here: quantized tensors and sparse ones, which have too few kernels; and classes that a case
makes under ``pickled``, which no pickle finds again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from mindtorch_v2.profile import Profile

PROTOCOLS: Final = range(6)

#: Tensors, by how they are made.
PLAIN: Final = (
    *("xp.arange(6.0)", "xp.ones(2, 3)", "xp.ones(())", "xp.ones(0)", "xp.ones(2, 0, 3)"),
    *("xp.arange(6.0).view(2, 3).t()", "xp.arange(12.0)[3:]", "xp.arange(12.0)[::5]"),
    *("xp.ones(1).expand(4)", "xp.arange(24.0).view(2, 3, 4)[:, 1]", "xp.arange(9.0)[4]"),
    *("xp.ones(2, requires_grad=True)", "xp.ones(2, requires_grad=True) * 2"),
    *("xp.ones(2, requires_grad=True)[:1]", "xp.ones(2, requires_grad=True).detach()"),
    *("xp.tensor([1 + 2j, 3j]).conj()", "xp.tensor([1 + 2j, 3j]).conj().imag"),
    *("xp.tensor([1 + 2j, 3j], requires_grad=True).conj()", "xp.tensor([1 + 2j]).conj()[0]"),
    *("xp.ones(2, 3, device='meta')", "xp.ones(2, 3, device='meta').t()[1:]"),
    *("xp.ones(2, device='meta', requires_grad=True)", "xp.nn.Parameter(xp.ones(2))"),
    *("xp.nn.Parameter(xp.ones(2), requires_grad=False)", "xp.nn.Parameter(xp.arange(6.0)[2:4])"),
    *(
        "xp.nn.Parameter(xp.ones(2, device='meta'))",
        "xp.tensor([float('nan'), float('inf'), -0.0])",
    ),
)

#: What is done to ``x`` before.
CHANGES: Final = (
    *("x.add_(1)", "x.register_hook(xp.neg)", "x.requires_grad_()", "x.grad = x.detach() * 2"),
    *("x.unsqueeze_(0)", "x.data = xp.zeros(3)", "x.retain_grad()"),
    "h = x.register_hook(xp.neg)\nh.remove()",
)

#: Attributes that ``x`` has before.
ATTRIBUTES: Final = ("'here'", "[1, (2, 'three')]", "xp.ones(2)", "None", "x", "{'x': x.detach()}")

#: What the copy ``y`` is asked.
ASKED: Final = (
    "(y, type(y), y.shape, y.stride(), y.storage_offset(), y.dtype, y.device, y.is_leaf, "
    "y.requires_grad, y.grad, y.grad_fn, y._version, y._backward_hooks, y.is_conj(), y.is_neg(), "
    "y._is_view(), y.untyped_storage().nbytes())"
)
WAYS: Final = ("pickled(x)", "copied(x)", "deepcopy(x)")
_DTYPES: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16"),
    *("bfloat16", "float32", "float64", "complex32", "complex64", "complex128", "float8_e5m2"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz"),
)

#: Two tensors of one pickle or deep copy.
PAIRS: Final = (
    *("[x, x]", "[x, x[1:]]", "[x[1:], x]", "[x, x.view(2, 2)]", "[x, x.detach()]", "[x, x.data]"),
    *("[x, x.clone()]", "[x[:2], x[2:]]", "[x, x.t()]"),
)
_SHARED: Final = (
    "(a is b, a._version, b._version)",
    "a.fill_(7)\n(a, b)",
    "b.fill_(7)\n(a, b)",
    "(a.untyped_storage().nbytes(), b.untyped_storage().nbytes(), a.storage_offset(), "
    "b.storage_offset())",
)

_STORAGES: Final = (
    *("x.untyped_storage()", "x.storage()", "xp.UntypedStorage(3)", "None", "3", "[x, 3]"),
    *("(x, x)", "{'x': x}", "xp.float32", "xp.Size([1])", "'x'", "xp.ones"),
)

_SUBCLASS: Final = "class Sub(xp.Tensor):\n    pass\nx = xp.ones(2).as_subclass(Sub)"


def texts(profile: Profile) -> Iterator[Text]:
    for made, protocol in product(PLAIN, PROTOCOLS):
        yield "pickled", f"x = {made}\ny = pickled(x, {protocol})\n{ASKED}"
    for made, way in product(PLAIN, WAYS):
        yield way.partition("(")[0], f"x = {made}\ny = {way}\n{ASKED}"
    for made, change, way in product(PLAIN, CHANGES, WAYS):
        yield way.partition("(")[0], f"x = {made}\n{change}\ny = {way}\n{ASKED}"
    for made, value, way in product(PLAIN, ATTRIBUTES, WAYS):
        start = f"x = {made}\nx.elem = {value}\ny = {way}"
        yield way.partition("(")[0], f"{start}\n(y.elem, y.elem is x.elem, {ASKED})"
    for dtype, way in product(_DTYPES, WAYS):
        yield (
            way.partition("(")[0],
            f"x = xp.ones(2, 3).to(xp.{dtype}).t()[1:]\ny = {way}\n{ASKED}",
        )
    for way in WAYS[1:]:
        name = way.partition("(")[0]
        for asked in ("y.add_(1)", "x.add_(1)", "y.detach().fill_(5)", "x.detach().zero_()"):
            for made in PLAIN[:10]:
                yield name, f"x = {made}\ny = {way}\n{asked}\n(x, y, x._version, y._version)"
    for pair, asked, way in product(PAIRS, _SHARED, ("pickled", "deepcopy")):
        yield way, f"x = xp.arange(4.0)\na, b = {way}({pair})\n{asked}"
    for value, way in product(_STORAGES, ("pickled", "deepcopy", "copied")):
        yield way, f"x = xp.ones(2)\n{way}({value})"
    for change, way in product(("", *CHANGES, "x.elem = 3"), WAYS[1:]):
        start = f"{_SUBCLASS}\n{change}" if change else _SUBCLASS
        yield way.partition("(")[0], f"{start}\ny = {way}\n{ASKED}"


def _drawn(profile: Profile) -> st.SearchStrategy[Text]:
    """A tensor, changes of it in some order, and copies of copies."""
    ways = st.lists(st.sampled_from(WAYS), min_size=1, max_size=3)
    changes = st.lists(st.sampled_from(CHANGES), max_size=3)

    def program(made: str, before: list[str], through: list[str], protocol: int) -> Text:
        lines = [f"x = {made}", *before]
        for way in through:
            call = f"pickled(x, {protocol})" if "pickled" in way else way
            lines += [f"y = {call}", "x = y"]
        return "programs", "\n".join((*lines, ASKED))

    return st.builds(
        program, st.sampled_from(PLAIN), changes, ways, st.sampled_from(list(PROTOCOLS))
    )


def _is_warned_alike(text: str) -> bool:
    """Of complex halves torch warns whenever a kernel makes one, however often that is."""
    return "complex32" not in text


AREA: Final = Area("pickling", texts, _drawn, warnings=_is_warned_alike)
