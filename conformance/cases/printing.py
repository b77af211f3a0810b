"""Area ``printing``: a tensor as text, to the character.

Every dtype with every range of values that it tells apart, in shapes that fit on a line, need
several, or are summarised; under every print option; and what stands behind the values: sizes,
dtypes, devices, layouts, schemes.  A case gives back what it prints as a string.

Warnings are not compared here: those that some layouts and dtypes give on the way to a tensor
say nothing about printing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from mindtorch_v2.profile import Profile

NAN: Final = "float('nan')"
INF: Final = "float('inf')"

FLOATS: Final = {
    "whole": ("0.0", "1.0", "2.0", "-3.0", "10.0"),
    "fractions": ("0.5", "1.25", "-2.0625", "3.75", "0.0"),
    "long": ("0.1", "0.3333", "-0.6666", "3.14159", "2.71828"),
    "near one": ("1.0", "1.0001", "0.9999", "1.5", "1.0"),
    "small": ("0.0001", "0.0005", "0.001", "-0.0002", "0.0"),
    "tiny": ("1e-06", "2e-06", "-1e-07", "0.0", "3e-05"),
    "wide": ("0.01", "0.5", "20.0", "-100.0", "11.0"),
    "wider": ("0.001", "1.5", "1500.0", "-0.25", "0.0"),
    "large": ("1000.0", "20000.0", "-3000.0", "50000.0", "100.0"),
    "huge": ("1000000000.0", "-20000000000.0", "100000000.0", "3.0", "0.0"),
    "one of each": ("1.0", NAN, INF, f"-{INF}", "-0.0"),
    "not finite": (NAN, INF, f"-{INF}", NAN, INF),
    "fraction or not finite": ("0.5", NAN, f"-{INF}", "-1.75", INF),
    "zeros": ("0.0", "-0.0", "0.0", "0.0", "-0.0"),
    "extreme": ("1e-40", "1e+38", "-1e-38", "2.5", "0.0"),
    "beyond": ("1e-310", "1e+300", "-5e-324", "1.0", "1e-200"),
    "halves": ("65504.0", "6e-08", "-0.0001", "1.5", "2048.0"),
    "eighths": ("448.0", "-0.0625", "240.0", "0.001953125", "17.0"),
}
"""Values that floating-point formats tell apart, five of each kind."""

WHOLE: Final = {
    "small": ("0", "1", "2", "3", "4"),
    "digits": ("1", "20", "100", "7", "0"),
    "same": ("5", "5", "5", "5", "5"),
}
"""Values that every integer type has."""

SIGNED: Final = {
    "signed": ("0", "-1", "12", "-100", "7"),
    "negative": ("-1", "-2", "-3", "-4", "-5"),
}

EXTREMES: Final = {
    "uint8": "255",
    "int8": "-128",
    "int16": "-32768",
    "int32": "-2147483648",
    "int64": "-9223372036854775808",
    "uint16": "65535",
    "uint32": "4294967295",
    "uint64": "18446744073709551615",
}

BOOLS: Final = {
    "both": ("True", "False", "True", "True", "False"),
    "true": ("True",) * 5,
    "false": ("False",) * 5,
}

COMPLEX: Final = {
    "whole": ("1+2j", "0j", "-3-4j", "10+0j", "-1j"),
    "fractions": ("0.5-1.25j", "2+0.75j", "-0.5j", "1.5+0j", "0j"),
    "real": ("1.5+0j", "2.25+0j", "-3+0j", "0j", "7+0j"),
    "wide": ("1e-05+1000j", "2+0.001j", "-1e5-1e-06j", "1j", "0j"),
    "not finite": (
        f"complex({NAN}, {INF})",
        f"complex({INF}, -1.0)",
        f"complex(-0.5, -{INF})",
        f"complex(0.0, {NAN})",
        "1j",
    ),
    "negative zeros": ("complex(-0.0, 0.0)", "complex(0.0, -0.0)", "-0j", "1-0j", "0j"),
}

SHAPES: Final = (
    (),
    (1,),
    (2,),
    (5,),
    (13,),
    (24,),
    (1, 1),
    (2, 3),
    (3, 13),
    (5, 1),
    (1, 2, 3),
    (2, 1, 2, 2),
    (6, 6),
    (1001,),
    (40, 30),
    (7, 9, 17),
)
EMPTY: Final = ((0,), (0, 3), (3, 0), (0, 0), (2, 0, 4), (1, 0, 1, 1))

OPTIONS: Final = (
    "precision=0",
    "precision=1",
    "precision=2",
    "precision=8",
    "precision=20",
    "threshold=0",
    "threshold=4",
    "threshold=23",
    f"threshold={INF}",
    "edgeitems=0",
    "edgeitems=1",
    "edgeitems=5",
    "threshold=4, edgeitems=0",
    "threshold=4, edgeitems=1",
    "threshold=4, edgeitems=2",
    "threshold=0, edgeitems=100",
    "linewidth=1",
    "linewidth=12",
    "linewidth=40",
    "linewidth=79",
    "linewidth=81",
    "linewidth=200",
    "linewidth=0",
    "linewidth=30, precision=6",
    "sci_mode=True",
    "sci_mode=False",
    "sci_mode=True, precision=1",
    "sci_mode=False, precision=8",
    "sci_mode=True, threshold=4, edgeitems=1",
    "profile='short'",
    "profile='full'",
    "profile='default'",
    "profile='nosuch'",
    "profile='short', precision=6",
    "profile='full', linewidth=50",
    "precision=3, threshold=2, edgeitems=1, linewidth=60, sci_mode=True",
)

WRONG_OPTIONS: Final = (
    "precision='a'",
    "precision=-1",
    "precision=1.5",
    "threshold='a'",
    "edgeitems=-1",
    "threshold=4, edgeitems=-1",
    "edgeitems=1.5",
    "edgeitems='a'",
    "linewidth='a'",
    "linewidth=-5",
    "linewidth=10.5",
    "sci_mode='a'",
    "sci_mode=0",
    "profile=1",
    "nosuch=1",
    "4, 5, 1, 30, None, True, 1",
    "4, 5, 1, 30, 'short', True",
)

SAMPLES: Final = (
    "xp.tensor([[0.5, -1.25, 3.0], [100.0, 0.001, 2.0]])",
    "xp.tensor([1.0, 2.0, 300.0, -4.0, 5.0, 6.0])",
    "xp.tensor([1e-06, 1000000.0, 1.0, 0.5, 0.0])",
    "xp.tensor([1000000000.0, 2.0, -3.0, 4.0, 5.0])",
    f"xp.tensor([{NAN}, {INF}, -1.0, 2.0, 0.0])",
    f"xp.tensor([{NAN}, {INF}, -{INF}, 0.0, 0.0])",
    "xp.tensor(3.14159)",
    "xp.tensor([])",
    "xp.tensor([[1, -20], [300, 4], [5, 6]])",
    "xp.tensor([[True, False, True, True, False]])",
    "xp.tensor([1.5+2j, -3-0.25j, 1e-05j, 100, 0, 7])",
    "xp.tensor([[0.1, 0.2], [0.3, 4.0]], dtype=xp.float64)",
    "xp.tensor([1.5, 2.5, 3.5, 4.5, 1000.0], dtype=xp.bfloat16)",
    "xp.arange(30)",
    "xp.arange(30.0).view(5, 6)",
    "xp.arange(60.0).view(3, 4, 5)",
    "xp.arange(1200).view(2, 600)",
    "xp.eye(4)",
    "xp.zeros(3, 3)",
    "xp.eye(3).to_sparse()",
    "xp.quantize_per_tensor(xp.tensor([0.5, 1.0, 7.0]), 0.25, 2, xp.quint8)",
    "xp.ones(3, device='meta')",
    "xp.ones(2, 2, dtype=xp.float64, requires_grad=True)",
)

BEHIND: Final = (
    "xp.tensor([1.5, 2.0], requires_grad=True)",
    "xp.tensor([[1.5] * 12], requires_grad=True)",
    "xp.tensor([1.5] * 8, dtype=xp.float64, requires_grad=True)",
    "xp.tensor([1.5] * 9, dtype=xp.float16, requires_grad=True)",
    "xp.tensor(1.5, dtype=xp.float64, requires_grad=True)",
    "xp.tensor(1.5 + 2j, requires_grad=True)",
    "xp.tensor([], dtype=xp.float64, requires_grad=True)",
    "xp.zeros((0, 2), requires_grad=True)",
    "xp.ones(2, requires_grad=True).detach()",
    "xp.ones(2, requires_grad=True).data",
    "xp.tensor([1+2j, 3-4j]).conj()",
    "xp.tensor([1+2j, 3-4j]).conj().conj()",
    "xp.tensor([1+2j, 3-4j]).conj().real",
    "xp.tensor([1+2j, 3-4j]).conj().imag",
    "xp.tensor([1+2j, 3-4j]).imag",
    "xp.tensor([[1+2j, 3-4j]]).mH",
    "xp._neg_view(xp.tensor([1.5, -2.0]))",
    "xp._neg_view(xp.tensor([1, 2]))",
    "xp._neg_view(xp.tensor([1+2j, 3-4j]).conj())",
    "xp._efficientzerotensor(3)",
    "xp._efficientzerotensor(2, 2, dtype=xp.complex64)",
    "xp._efficientzerotensor(3, device='meta')",
    "xp.arange(6).view(2, 3).t()",
    "xp.arange(24).view(2, 3, 4).transpose(0, 2)",
    "xp.arange(24).view(2, 3, 4)[1]",
    "xp.arange(24).view(2, 3, 4)[:, 1:, ::2]",
    "xp.arange(2400.0).view(40, 60)[::2, 3:]",
    "xp.arange(6)[None, ..., None]",
    "xp.arange(5)[2]",
    "list(xp.arange(3))",
    "(xp.ones(2), [xp.zeros(1)], {'a': xp.eye(1)})",
    "xp.ones(3, 2).to_sparse()",
    "xp.zeros(2, 2).to_sparse()",
    "xp.eye(40).to_sparse()",
    "xp.eye(3, dtype=xp.float64).to_sparse()",
    "xp.eye(3, dtype=xp.bool).to_sparse()",
    "xp.ones(2, dtype=xp.complex64).to_sparse()",
    "xp.zeros((2, 3), layout=xp.sparse_coo)",
    "xp.zeros((2, 3), layout=xp.sparse_coo, dtype=xp.int32)",
    "xp.zeros((2, 3), layout=xp.sparse_coo, device='meta')",
    "xp.zeros((2, 3), layout=xp.sparse_csr)",
    "xp.zeros((2, 3), layout=xp.sparse_csc, dtype=xp.float64)",
    "xp.zeros((2, 3), layout=xp.sparse_csr, device='meta')",
    "xp.eye(3).to_sparse_csr()",
    "xp.eye(3).to_sparse_csc()",
    "xp.eye(40, dtype=xp.int32).to_sparse_csr()",
    "xp.sparse_coo_tensor([[0, 1, 0], [1, 0, 1]], [1.0, 2.0, 3.0], (2, 2))",
    "xp.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), requires_grad=True)",
    "xp.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.5], (2, 2))",
    "xp.sparse_csc_tensor([0, 1, 2], [1, 0], [1, 2], (2, 2))",
    "xp.sparse_coo_tensor([[0, 1, 0], [1, 0, 1]], [1.0, 2.0, 3.0], (2, 2)).to_dense()",
    "xp.eye(3).to_mkldnn()",
    "xp.zeros((2,), layout=xp._mkldnn)",
    "xp.quantize_per_tensor(xp.arange(5.0), 0.1, 3, xp.quint8)",
    "xp.quantize_per_tensor(xp.arange(5.0), 0.7, 3, xp.qint8)",
    "xp.quantize_per_tensor(xp.tensor([[1.5, -2.5]]), 0.5, 0, xp.qint32)",
    "xp.quantize_per_tensor(xp.arange(50.0), 0.5, 0, xp.quint8)",
    "xp.quantize_per_tensor(xp.tensor([]), 0.5, 0, xp.quint8)",
    "xp.quantize_per_tensor(xp.arange(5.0), 0.1, 3, xp.quint8).dequantize()",
    "xp.nested.nested_tensor([xp.ones(2), xp.zeros(3)])",
    "xp.nested.nested_tensor([xp.ones(2, 2), xp.zeros(1, 3)], requires_grad=True)",
    "xp.nested.nested_tensor([xp.ones(2)], dtype=xp.float64)",
)
"""Tensors of which more is printed than dense values, or whose values are read through a view."""


def texts(profile: Profile) -> Iterator[Text]:
    names = [dtype["aliases"][0] for dtype in profile.tensors["dtypes"]]
    yield from _values(profile)
    yield from _larger(names)
    yield from _empty(names)
    yield from _options()
    yield from _behind(names)
    yield from _default_dtypes()


def shown(tensor: str) -> str:
    return f"repr({tensor})"


def with_options(options: str, body: str) -> str:
    """What ``body`` says while these options hold; the next case finds the defaults."""
    return (
        f"try:\n    xp.set_printoptions({options})\n    text = {body}\n"
        "finally:\n    xp.set_printoptions(profile='default')\ntext"
    )


def tensor_of(values: Sequence[str], dtype: str, shape: tuple[int, ...]) -> str:
    """A tensor of a shape, filled with values over and over."""
    count = prod(shape)
    if not shape:
        return f"xp.tensor({values[0]}, dtype=xp.{dtype})"
    if count <= len(values):
        data = f"[{', '.join(values[:count])}]"
    else:
        data = f"([{', '.join(values)}] * {-(-count // len(values))})[:{count}]"
    made = f"xp.tensor({data}, dtype=xp.{dtype})"
    return made if len(shape) == 1 else f"{made}.view({', '.join(map(str, shape))})"


def pools(profile: Profile) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Each dtype with each kind of values it can have."""
    refused = {
        name for refusal in profile.values["refusals"]["tensor"] for name in refusal["dtypes"]
    }
    for dtype in profile.tensors["dtypes"]:
        name = dtype["name"].removeprefix("torch.")
        if name not in refused:
            for kind, values in _kinds_of(name, dtype).items():
                yield name, kind, values


def _kinds_of(name: str, facts: dict[str, Any]) -> Mapping[str, tuple[str, ...]]:
    if facts["is_complex"]:
        return COMPLEX
    if facts["is_floating_point"]:
        return FLOATS
    if name == "bool":
        return BOOLS
    extreme = {"extreme": (EXTREMES[name], "0", "1", "7", "12")}
    return {**WHOLE, **extreme, **(SIGNED if facts["is_signed"] else {})}


def _values(profile: Profile) -> Iterator[Text]:
    for (dtype, _, values), shape in product(pools(profile), SHAPES):
        turned = values[len(shape) :] + values[: len(shape)]
        if prod(shape) < 100 or len(shape) < 2 or values[0] in ("0.0", "0.5", "1", "1+2j"):
            yield dtype, shown(tensor_of(turned, dtype, shape))


def _larger(names: Sequence[str]) -> Iterator[Text]:
    for dtype, shape in product(("int64", "float32", "float64", "int16"), SHAPES):
        count = prod(shape)
        made = f"xp.arange({count}, dtype=xp.{dtype}).view({list(shape)})"
        yield "arange", shown(made)
        yield "arange", shown(f"xp.arange({count}, dtype=xp.{dtype})[-2:]")
    for dtype in names:
        for made in (f"xp.eye(3, dtype=xp.{dtype})", f"xp.ones(2, 2, dtype=xp.{dtype})"):
            if not dtype.startswith("q"):
                yield "factories", shown(made)
        if not dtype.startswith("q"):
            yield "factories", shown(f"xp.zeros(2, 3, dtype=xp.{dtype})")
            yield "factories", shown(f"xp.zeros((), dtype=xp.{dtype})")


def _empty(names: Sequence[str]) -> Iterator[Text]:
    for dtype, shape in product(names, EMPTY):
        if not dtype.startswith("q"):
            yield "empty", shown(f"xp.empty({shape}, dtype=xp.{dtype})")
            yield "meta", shown(f"xp.empty({shape}, dtype=xp.{dtype}, device='meta')")


def _options() -> Iterator[Text]:
    for options, sample in product(OPTIONS, SAMPLES):
        yield "set_printoptions", with_options(options, shown(sample))
    for wrong, sample in product(WRONG_OPTIONS, SAMPLES[:2]):
        yield "set_printoptions", with_options(wrong, shown(sample))


def _behind(names: Sequence[str]) -> Iterator[Text]:
    for made in BEHIND:
        yield "suffixes", shown(made)
        yield "suffixes", f"str({made})"
        yield "suffixes", f"'%s' % [{made}]"
        for options in ("linewidth=30", "edgeitems=0, threshold=0", "linewidth=65", "precision=1"):
            yield "suffixes", with_options(options, shown(made))
    for dtype, shape in product(names, ((), (2,), (2, 3))):
        if not dtype.startswith("q"):
            yield "meta", shown(f"xp.empty({shape}, dtype=xp.{dtype}, device='meta')")
    for width in range(40, 64):
        made = "xp.tensor([1.0, 2.0, 3.0, 4.0, 5.0], dtype=xp.float64, requires_grad=True)"
        yield "suffixes", with_options(f"linewidth={width}", shown(made))


def _default_dtypes() -> Iterator[Text]:
    """Whether a dtype is shown depends on the default one."""
    tensors = (
        "xp.tensor([1.5])",
        "xp.tensor([1j])",
        "xp.ones(2)",
        "xp.tensor([])",
        "xp.tensor([1.5], dtype=xp.float32)",
        "xp.tensor([1.5], dtype=xp.float64)",
        "xp.tensor([1j], dtype=xp.complex64)",
        "xp.tensor([1j], dtype=xp.complex128)",
        "xp.ones(2, device='meta')",
        "xp.ones(2, dtype=xp.float32, device='meta')",
        "xp.ones(2, dtype=xp.int64, device='meta')",
        "xp.eye(2).to_sparse()",
        "xp.arange(0, 1, 0.25)",
        "xp.full((2,), 1.5)",
    )
    for dtype, made in product(("float64", "float32", "float16", "bfloat16"), tensors):
        body = f"    xp.set_default_dtype(xp.{dtype})\n    text = {shown(made)}\n"
        yield (
            "set_default_dtype",
            f"try:\n{body}finally:\n    xp.set_default_dtype(xp.float32)\ntext",
        )


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Tensors of drawn numbers in drawn shapes, under drawn options."""
    floats = st.floats(width=32).map(_literal)
    wholes = st.integers(-(2**31), 2**31 - 1).map(str)
    numbers = {
        "float32": floats,
        "float64": st.floats().map(_literal),
        "float16": floats,
        "bfloat16": floats,
        "int64": st.integers(-(2**63), 2**63 - 1).map(str),
        "int32": wholes,
        "uint8": st.integers(0, 255).map(str),
        "bool": st.sampled_from(["True", "False"]),
        "complex64": st.tuples(floats, floats).map(lambda parts: f"complex({', '.join(parts)})"),
    }
    shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
    option = st.one_of(
        st.integers(0, 12).map("precision={}".format),
        st.integers(0, 40).map("threshold={}".format),
        st.integers(0, 5).map("edgeitems={}".format),
        st.integers(0, 120).map("linewidth={}".format),
        st.sampled_from(["sci_mode=True", "sci_mode=False", "sci_mode=None"]),
    )

    @st.composite
    def printed(draw: st.DrawFn) -> Text:
        dtype = draw(st.sampled_from(sorted(numbers)))
        shape = draw(shapes)
        values = draw(st.lists(numbers[dtype], min_size=1, max_size=8))
        options = draw(st.lists(option, max_size=3, unique_by=lambda text: text.split("=")[0]))
        body = shown(tensor_of(values, dtype, shape))
        return dtype, with_options(", ".join(options), body) if options else body

    return printed()


def _literal(number: float) -> str:
    """A float as text of a case: not every one is a literal."""
    text = repr(number)
    return text if text[-1].isdigit() else f"float('{text}')"


AREA: Final = Area("printing", texts, strategy, warnings=False)
