"""Cases of ``core-ops`` about what is written to: outputs that are inputs, are cast, are reduced.

An operator's in-place form and its ``out=`` form with the same tensor are two things: of the first
a result that does not fit is refused, of the second it is said, and the tensor is resized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_LIKE: Final = ("ones_like", "zeros_like", "full_like")
_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_xor")
_OTHERS: Final = ("xp.ones(3)", "2", "xp.ones(3, dtype=xp.complex64)", "xp.ones(1, 3)")
_LOSSES: Final = ("mse_loss", "smooth_l1_loss", "huber_loss")
_REDUCTIONS: Final = (0, 1, 2, 3, -1)

OVER_INPUTS: Final = (
    "xp.addmm(o, xp.ones(2, 3), xp.ones(3, 3), out=o)",
    "xp.addmv(o, xp.ones(2, 3), xp.ones(3), out=o)",
    "xp.cumsum(o, 0, dtype=xp.float64, out=o)",
    "xp.cumprod(o, -1, dtype=xp.float64, out=o)",
    "o.addmm_(xp.ones(2, 3), xp.ones(3, 3))",
    "o.addmv_(xp.ones(2, 3), xp.ones(3))",
    "o.cumsum_(0, dtype=xp.float64)",
    "xp.tril(o, out=o)",
    "xp.index_add(o, 0, xp.tensor([0]), o[:1].clone(), out=o)",
    "xp.index_copy(o, 0, xp.tensor([0]), o[:1].clone(), out=o)",
)
_WRITTEN: Final = ("xp.ones(1)", "xp.ones(3)", "xp.ones(2, 3)", "xp.ones(2, 3, dtype=xp.int64)")

NO_INDEX: Final = (
    "xp.ops.aten.index.Tensor(x, {0})",
    "xp.ops.aten.index_put(x, {0}, xp.ones(3))",
    "xp.ops.aten.index_put_(x, {0}, xp.ones(()))",
    "xp.ops.aten.index_put_(x, {0}, xp.ones(1), True)",
)

OVERLAPPING: Final = (
    "xp.arange(1, 5).expand(3, 4)",
    "xp.arange(1.0, 5.0).view(4, 1).expand(4, 3)",
    "xp.arange(1, 10).as_strided((3, 3), (1, 1))",
    "xp.arange(1, 10).as_strided((1, 1, 3, 3), (1, 1, 1, 1))",
    "xp.arange(1, 9).view(1, 2, 2, 2).transpose(2, 3)",
)
"""Of triangles in place, only what is outside of them is written."""

INTO_META: Final = (
    *("xp.eye(2, out={0})", "xp.eye(2, 3, out={0})", "xp.full((2, 2), 1.0, out={0})"),
    *(
        "xp.tril({1}, out={0})",
        "xp.softmax({1}, 0, out={0})",
        "xp._softmax({1}, 0, False, out={0})",
    ),
    *("xp.log_softmax({1}, 0, out={0})", "xp.ops.aten.flip.out({1}, [0], out={0})"),
    *("xp.ops.aten.repeat.out({1}, [1, 2], out={0})", "xp.stack([{1}, {1}], out={0})"),
    *("xp.embedding({1}, {2}, out={0})", "xp.ops.aten.embedding.out({1}, {2}, out={0})"),
    *("xp.ops.aten.new_full.out({1}, [2], 3, out={0})", "xp.ops.aten.ones_like.out({1}, out={0})"),
    *("xp.arange(4, out={0})", "xp.arange(0, 3, 0.5, out={0})", "xp.linspace(0, 1, 3, out={0})"),
    "xp.ops.aten.mse_loss.out({1}, {1}, 0, out={0})",
)
"""Into an output of another shape, dtype or device; the first makes a tensor by its options."""

_META_OUTPUTS: Final = (
    *("xp.ones(2, 2, device='meta')", "xp.ones(3, device='meta')", "xp.ones(0, device='meta')"),
    *("xp.ones(2, 2, device='meta', dtype=xp.int32)", "xp.ones(2, 2)"),
    *("xp.ones(3, device='meta', dtype=xp.float64)", "xp.ones(2, 2, device='meta').t()"),
)

OF_NOTHING: Final = ("float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")
"""Of nothing the largest is the least of a dtype."""

VIEW_COPIES: Final = (
    *("alias_copy(x", "as_strided_copy(x, (2,), (1,)", "diagonal_copy(x", "squeeze_copy(x"),
    *("expand_copy(x, (2, 2, 2)", "narrow_copy(x, 0, 0, 1", "permute_copy(x, (1, 0)"),
    *("select_copy(x, 0, 0",),
    *("squeeze_copy(x, 0", "squeeze_copy(x, (0, 1)", "t_copy(x", "transpose_copy(x, 0, 1"),
    *("unfold_copy(x, 0, 1, 1", "unsqueeze_copy(x, 0", "view_copy(x, (4,)"),
    *("view_copy(x, dtype=xp.int32", "slice_copy(x, 0", "detach_copy(x"),
)
_COPIES: Final = (
    *("xp.empty(2, 2, device='meta')", "xp.empty(2, 2, device='meta', dtype=xp.float64)"),
    *("xp.empty(2, device='meta', dtype=xp.int64)", "xp.empty(3, device='meta')", "xp.empty(2, 2)"),
)
_PARTS: Final = (
    *("o[:]", "o[:1]", "[o[0].double(), o[1]]", "[o[0].int(), o[1]]", "[x, x]"),
    "[xp.empty(2), xp.empty(2)]",
)
"""Outputs for the two rows of a matrix."""

EMPTY_IMAGES: Final = ((0, 3, 2, 2), (2, 0, 2, 2), (2, 3, 0, 2), (2, 3, 2, 0), (2, 3, 2, 1))


_INTEGER: Final = "xp.ones(2, dtype=xp.int64)"


def _name(call: str) -> str:
    return call.partition("(")[0].removeprefix("xp.").removeprefix("ops.aten.")


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, dtype, shape in product(_LIKE, dtypes, ("3", "2, 2")):
        number = ", 2" if name == "full_like" else ""
        target = f"xp.zeros({shape}, dtype=xp.{dtype})"
        yield name, f"xp.ops.aten.{name}.out(xp.ones(3){number}, out={target})"
    for name, other, (dtype, shape) in product(
        _COMPARISONS, _OTHERS, (("int32", "2, 2"), ("float32", "2, 2"), ("bool", "2"))
    ):
        if not name.startswith("logical") or other != "2":
            out = f"xp.zeros({shape}, dtype=xp.{dtype})"
            yield name, f"o = {out}\nxp.{name}(xp.ones(3), {other}, out=o)"
    for name, reduction, out in product(_LOSSES, _REDUCTIONS, ("", "2", "3, 1", "()")):
        if name == "huber_loss" and out and reduction not in (0, 1, 2):
            continue  # whose kernel gives the output another shape than the result has
        target = f", out=xp.zeros({out})" if out else ""
        yield name, f"xp.ops.aten.{name}(xp.ones(3), xp.zeros(3), {reduction}{target})"
    for call, made in product(OVER_INPUTS, _WRITTEN):
        shown = "o.shape, o.stride(), o.dtype"  # what memory is grown by, nobody has written
        yield call.partition("(")[0].removeprefix("xp."), f"o = {made}\n{call}\n{shown}"
    for name, made, diagonal in product(("tril", "triu"), OVERLAPPING, (0, 1, -1)):
        yield f"{name}_", f"o = {made}\no.{name}_({diagonal})\no"
    for call, indices in product(NO_INDEX, ("[]", "[None]", "[None, None]")):
        yield "index", f"x = xp.ones(3)\n{call.format(indices)}"
    for call, output in product(INTO_META, _META_OUTPUTS):
        read, labels = "xp.ones(2, 2, device='meta')", "xp.zeros(2, dtype=xp.int64, device='meta')"
        yield _name(call), call.format(output, read, labels)
    for name, dtype, shape in product(("max", "min"), OF_NOTHING, ("0", "0, 2")):
        read = f"xp.zeros({shape}, dtype=xp.{dtype})"
        yield name, f"xp.ops.aten.{name}.unary_out({read}, out=xp.zeros((), dtype=xp.{dtype}))"
    for output in ("xp.ones(())", "xp.ones(2)", "xp.ones((), dtype=xp.float64)", _INTEGER):
        yield "mean", f"xp.ops.aten.mean.dtype_out(xp.arange(3), dtype=xp.float32, out={output})"
        yield "mean", f"xp.ops.aten.mean.dtype_out(xp.ones(3), out={output})"
        yield "narrow_copy", f"xp.narrow_copy({output}, 0, 0, 1, out=xp.ones(1))"
        yield "narrow_copy", f"xp.narrow_copy({output}, 1, 0, 1, out=xp.ones(1))"
    for bounds, dtype, steps in product(("0, 1j", "0, 5", "2.5, 7"), OF_NOTHING, (0, 1, 3)):
        target = f"xp.zeros(3, dtype=xp.{dtype})"
        yield "linspace", f"xp.linspace({bounds}, {steps}, out={target})"
    for made, index in product(("xp.ones(1, 3)", "xp.ones(3)"), ("[1]", "[0, 1]", "[]")):
        indices = f"xp.tensor({index}, dtype=xp.int64)"
        yield "index_fill_", f"x = {made}.expand(2, 3)\nx.index_fill_(-1, {indices}, 5)\nx"
    x = "x = xp.empty(2, 2, device='meta')"
    for call, made in product(VIEW_COPIES, _COPIES):
        text = f"{x}\no = {made}\nxp.{call}, out=o)\n(o.shape, o.stride(), o.dtype)"
        yield call.partition("(")[0], text
    for parts in _PARTS:
        made = f"o = [xp.empty(2, device='meta'), xp.empty(2, device='meta')]\no = {parts}"
        yield "unbind_copy", f"{x}\n{made}\nxp.unbind_copy(x, 0, out=o)\n[each.shape for each in o]"
    for sizes in EMPTY_IMAGES:
        yield "empty", f"xp.empty({sizes}, memory_format=xp.channels_last).stride()"
        made = f"xp.ones({sizes}).contiguous(memory_format=xp.channels_last)"
        for call in ("{0}.stride()", "xp.add({0}, {0}).stride()", "xp.cat([{0}, {0}]).stride()"):
            yield "contiguous", call.format(made)
    for name, dtype, dim in product(("argmax", "argmin"), ("bool", "complex64", "int64"), (0, 2)):
        yield name, f"xp.{name}(xp.ones(3, dtype=xp.{dtype}), {dim})"
    for name, (one, two), size in product(
        ("clamp_min", "clamp_max", "clamp", "maximum"),
        (("complex64", "float32"), ("float32", "complex64")),
        (2, 3),
    ):
        bound = f"xp.ones({size}, dtype=xp.{two})"
        yield name, f"xp.{name}(xp.ones(3, dtype=xp.{one}), {bound})"
