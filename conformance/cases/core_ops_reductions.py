"""Reductions and scans for the area core-ops.

Not here: a mean whose ``out=`` is of halves, which 2.4.1 does not write to; a result of a complex
tensor that is to be real; norms of matrices; medians of three dimensions into what they are of,
which are written beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import LAYOUTS, pools_of
from conformance.cases.pairwise import pairwise

DEVICES: Final = ("cpu", "meta")

#: Calls of a tensor and dimensions, of which a list may be given.
OVER_DIMS: Final = (
    *("{0}.sum({1})", "{0}.mean({1})", "{0}.amax({1})", "{0}.amin({1})", "{0}.var({1})"),
    *("{0}.std({1})", "xp.var_mean({0}, {1})", "xp.std_mean({0}, {1})", "{0}.nansum({1})"),
    *("{0}.nanmean({1})", "{0}.any({1})", "{0}.all({1})", "{0}.logsumexp({1})"),
    *("{0}.count_nonzero({1})", "{0}.norm(2, {1})", "xp.ops.aten.norm({0}, 3, {1})"),
    *("xp.ops.aten.linalg_vector_norm({0}, 1, {1})",),
    *("xp.ops.aten.linalg_vector_norm({0}, -1.5, {1})", "xp.norm({0}, float('inf'), {1})"),
)
#: The same with one dimension.
OVER_DIM: Final = (
    *("{0}.prod({1})", "{0}.max({1})", "{0}.min({1})", "{0}.argmax({1})", "{0}.argmin({1})"),
    *("{0}.median({1})", "{0}.nanmedian({1})"),
)
#: The same by keyword alone.
OVER_NAMED_DIM: Final = ("xp.aminmax({0}, dim={1})",)
#: Of a tensor and a dimension, along which it keeps its size.
ALONG_DIM: Final = ("{0}.cumsum({1})", "{0}.cumprod({1})", "{0}.cummax({1})", "{0}.cummin({1})")
#: Calls of a tensor alone.
OVER_ALL: Final = (
    *("{0}.sum()", "{0}.prod()", "{0}.amax()", "{0}.amin()", "{0}.max()", "{0}.min()"),
    *("{0}.argmax()", "{0}.argmin()", "{0}.aminmax()", "{0}.any()", "{0}.all()", "{0}.var()"),
    *("{0}.std(0)", "xp.var_mean({0})", "xp.std_mean({0})", "{0}.norm()", "{0}.norm(1)"),
    *("xp.norm({0}, 3)", "xp.ops.aten.norm({0}, 2)", "{0}.nansum()", "{0}.nanmean()"),
    *("{0}.count_nonzero()", "{0}.median()", "{0}.nanmedian()", "{0}.mean()", "{0}.trace()"),
    *("{0}.logsumexp(())", "{0}.cumsum_(1)", "{0}.cumprod_(1)"),
)
_EXTREMES: Final = ("amax", "amin", "aminmax", "max", "min")

DIMS: Final = (
    *("", "0", "-1", "1", "2", "[0]", "[0, 1]", "[1, -1]", "[0, 0]", "[]", "None", "()", "[-3]"),
    *("0, True", "-1, keepdim=True", "[0, -1], True", "[], True", "None, True"),
)
_DIM: Final = ("", "0", "-1", "1", "2", "-3", "None", "[0]", "0, True", "-1, keepdim=True")
_NAMED_DIM: Final = ("0", "-1", "1", "2", "None", "[0]", "0, keepdim=True", "None, keepdim=True")
_PLACE: Final = ("0", "-1", "1", "2", "-3", "dim=-2", "0, dtype=xp.int64")

_SHAPES: Final = ("()", "(3,)", "(0,)", "(2, 3)", "(2, 2, 3)", "(2, 0)")
_TYPES: Final = ("float32", "float64", "int64", "int8", "bool", "uint8", "complex64", "float16")
_WITH_DTYPE: Final = (
    *("{0}.sum(0, dtype={1})", "{0}.mean(0, dtype={1})", "{0}.prod(dtype={1})"),
    *("{0}.prod(0, dtype={1})", "{0}.nansum(dtype={1})", "{0}.nanmean(0, dtype={1})"),
    *("{0}.cumsum(0, dtype={1})", "{0}.cumprod(0, {1})", "{0}.norm(dtype={1})"),
    *("xp.ops.aten.norm({0}, 1, [0], dtype={1})", "{0}.cumsum_(0, dtype={1})"),
)
_WITH_OUT: Final = (
    *("sum({0}, 0", "mean({0}, 0", "amax({0}, 0", "amin({0}, 0", "prod({0}, 0", "any({0}, 0"),
    *("all({0}, [0]", "all({0}", "max({0}", "min({0}", "argmax({0}, 0", "var({0}, 0"),
    *("std({0}, 0", "nansum({0}, 0", "nanmean({0}, 0", "logsumexp({0}, 0", "norm({0}, 2, 0"),
    *("ops.aten.norm.out({0}, 1, [0]", "cumsum({0}, 0", "cumprod({0}, 0", "var({0}, 0, True"),
)
_WITH_TWO_OUTS: Final = (
    *("max({0}, 0", "min({0}, 0", "aminmax({0}, dim=0", "cummax({0}, 0", "cummin({0}, 1"),
    *("median({0}, 0", "nanmedian({0}, 1"),
)
_OUT_SHAPES: Final = ("3", "2, 3", "0", "()", "4")

#: Calls whose other arguments choose what is computed.
_WITH_NUMBERS: Final = (
    *("{0}.var(0, correction={1})", "{0}.std(correction={1})", "{0}.norm({1})"),
    *("xp.var_mean({0}, 1, correction={1})", "xp.std_mean({0}, 0, correction={1})"),
    *("xp.ops.aten.linalg_vector_norm({0}, {1})", "xp.ops.aten.norm({0}, {1})"),
    *("xp.ops.aten.norm.ScalarOpt_dim({0}, {1}, [1])", "{0}.norm({1}, 0)"),
    *("xp.var({0}, {1})", "{0}.var(unbiased={1})", "{0}.var(0, {1})"),
)
_NUMBERS: Final = (
    *("0", "1", "2", "3", "-1", "0.5", "1.5", "-2.5", "None", "True", "False", "1j", "100"),
    *("float('inf')", "-float('inf')", "float('nan')", "'fro'"),
)
_VALUES: Final = (
    "xp.tensor([[1.5, -2.25, 0.75], [2.0, 0.5, -3.0]]{0})",
    "xp.tensor([[1.5, -2.25, 0.75], [2.0, 0.5, -3.0]], dtype=xp.float64{0})",
    "xp.tensor([[1 + 2j, -2 + 0.5j], [0.5j, 3.0 - 1j]]{0})",
    "xp.tensor([[1, 2], [3, 4]]{0})",
    "xp.tensor([[1.5, -2.25], [0.75, 2.0]], dtype=xp.float16{0})",
    "xp.tensor([[0.0, float('nan')], [float('inf'), 1.0]]{0})",
    "xp.ones((2, 0){0})",
    "xp.tensor([[3.0], [-4.0]]{0})",
)
#: Rows in which elements are equal, or are no numbers.
_TIES: Final = (
    *("[[2, 1, 2, 1], [1, 2, 2, 1]]", "[[1, 1, 1, 1], [3, 2, 3, 3]]", "[[True, False, True]]"),
    *("[[1.0, float('nan'), 2.0, float('nan')], [float('nan'), 1.0, 0.5, 3.0]]", "[[4], [5]]"),
    *(
        "[[5.0, float('inf'), -float('inf'), float('inf')]]",
        "[[1 + 1j, 1 - 1j]]",
        "[1, 3, 3, 2, 1]",
    ),
)

#: Calls whose output is to be (part of) what they reduce.
_INTO_ITSELF: Final = (
    *("sum({0}, 0", "sum({0}, 1", "any({0}, 0", "any({0}, 1", "var({0}, 0", "var({0}, 1"),
    *("mean({0}, 1, True", "amax({0}, 0", "amin({0}, 1", "prod({0}, 0", "any({0}", "all({0}, [0]"),
    *("max({0}", "argmax({0}, 0", "argmin({0}, 1", "argmax({0}", "var({0}, [0, 1], correction=1"),
    *("std({0}, 0, keepdim=True", "nansum({0}, 1", "nanmean({0}, 0", "norm({0}, 2, 1"),
    *("ops.aten.norm.out({0}, 1, [0]", "ops.aten.linalg_vector_norm.out({0}, 3, [1]"),
    *("linalg.vector_norm({0}", "cumsum({0}, 0", "cumprod({0}, 0", "logcumsumexp({0}, 0"),
)
_INTO_ITSELF_TWICE: Final = (
    *("max({0}, 0", "min({0}, 1", "aminmax({0}, dim=0", "aminmax({0}", "cummax({0}, 0"),
    *("cummin({0}, 1", "median({0}, 0", "nanmedian({0}, 1", "mode({0}, 0", "kthvalue({0}, 1, 0"),
    *("sort({0}, 0", "sort({0}, 1", "topk({0}, 1, 0", "topk({0}, 2, 1"),
)
_OWN: Final = ("a", "a[0]", "a[:, 0]", "a[..., :1]")
_OWN_TWICE: Final = ("a, a", "a, i", "a[0], i", "i, a", "i, i")
_SOURCES: Final = (
    *("xp.tensor([[1.5, -2.0, 4.0], [3.0, 0.5, -1.0]])", "xp.tensor([[1, -2, 4], [3, 0, -1]])"),
    *("xp.tensor([[1.5, -2.0, 4.0], [3.0, 0.5, -1.0]]).t()", "xp.tensor([4.0, -1.5, 2.0])"),
    *("xp.tensor([[True, False, True], [False, True, True]])", "xp.tensor([[1 + 1j, 2, 7j]])"),
    *("xp.arange(24.0).reshape(2, 3, 4)", "xp.tensor(2.5)", "xp.tensor([[2, 0]], dtype=xp.uint8)"),
)


def target(call: str) -> str:
    """The name in a call of a tensor."""
    head = call.partition("(")[0]
    for prefix in ("xp.", "ops.aten.", "{0}."):
        head = head.removeprefix(prefix)
    return head


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    yield from _dtypes(dtypes)
    shaped = (*(f"xp.ones({shape}, device='{{0}}')" for shape in _SHAPES), *LAYOUTS[1:])
    by_dims = (
        (OVER_DIMS, DIMS),
        (OVER_DIM, _DIM),
        (OVER_NAMED_DIM, _NAMED_DIM),
        (ALONG_DIM, _PLACE),
    )
    for calls, dims in by_dims:
        for call in calls:
            for made, dim, device in pairwise(shaped, dims, DEVICES):
                yield target(call), call.format(made.format(device), dim)
    for call, made, device in pairwise(OVER_ALL, shaped, DEVICES):
        yield target(call), call.format(made.format(device))
    yield from _with_dtype()
    yield from _with_out()
    yield from _into_itself()
    for call in _WITH_NUMBERS:
        for values, number, device in pairwise(_VALUES, _NUMBERS, DEVICES):
            where = "" if device == "cpu" else f", device='{device}'"
            yield target(call), call.format(values.format(where), number)
    for call, row, dim in pairwise((*OVER_DIM, *ALONG_DIM), _TIES, ("0", "1")):
        yield target(call), call.format(f"xp.tensor({row})", dim)


def _dtypes(dtypes: Sequence[str]) -> Iterator[Text]:
    """Every dtype; each kind of values over all and along a row."""
    along = [call.format("{0}", "1") for call in (*OVER_DIMS, *OVER_DIM, *ALONG_DIM)]
    for call in (*OVER_ALL, *along):
        for dtype in dtypes:
            for which, values in enumerate(pools_of(dtype)):
                if which == 2 and target(call) in _EXTREMES and "float" in dtype:
                    continue
                if which and dtype not in _TYPES:
                    continue
                made = f"xp.tensor([[{', '.join(values)}]], dtype=xp.{dtype})"
                yield target(call), call.format(made)
        for dtype in dtypes:
            yield target(call), call.format(f"xp.ones((1, 3), dtype=xp.{dtype}, device='meta')")


def _with_dtype() -> Iterator[Text]:
    for call in _WITH_DTYPE:
        for dtype, wanted, device in pairwise(_TYPES, _TYPES, DEVICES):
            values = ", ".join(pools_of(dtype)[0])
            made = f"xp.tensor([{values}], dtype=xp.{dtype}, device='{device}')"
            if dtype != "complex64" or wanted == "complex64":
                yield target(call), call.format(made, f"xp.{wanted}")


def _with_out() -> Iterator[Text]:
    for call in _WITH_OUT:
        name = target(call)
        for dtype, shape, device, own in pairwise(
            _TYPES, _OUT_SHAPES, DEVICES, ("float32", "int64")
        ):
            if name in ("mean", "nanmean") and dtype in ("complex64", "float16"):
                continue
            made = f"xp.ones((2, 3), dtype=xp.{own}, device='{device}')"
            out = f"xp.zeros({shape}, dtype=xp.{dtype}, device='{device}')"
            yield name, f"o = {out}\ny = xp.{call.format(made)}, out=o)\n(o, y is o)"
    for call in _WITH_TWO_OUTS:
        for one, two, shape, device in pairwise(_TYPES, _TYPES, _OUT_SHAPES, DEVICES):
            made = call.format(f"xp.ones((2, 3), device='{device}')")
            outs = ", ".join(
                f"xp.zeros({shape}, dtype=xp.{dtype}, device='{device}')" for dtype in (one, two)
            )
            yield (
                target(call),
                f"o = ({outs})\ny = xp.{made}, out=o)\n(o, y, y[0] is o[0])",
            )


def _into_itself() -> Iterator[Text]:
    for call in _INTO_ITSELF:
        for source, own in pairwise(_SOURCES, _OWN):
            made = f"a = {source}\no = {own}\ny = xp.{call.format('a')}, out=o)"
            yield target(call), f"{made}\n(a, o, y is o, a.untyped_storage().nbytes())"
    for call in _INTO_ITSELF_TWICE:
        for source, own, dtype in pairwise(_SOURCES, _OWN_TWICE, ("float32", "int64")):
            if "median" in call and "(2, 3, 4)" in source:
                continue
            made = f"a = {source}\ni = xp.zeros(0, dtype=xp.{dtype})\no = ({own})"
            yield target(call), f"{made}\nxp.{call.format('a')}, out=o)\n(a, i, *o)"
