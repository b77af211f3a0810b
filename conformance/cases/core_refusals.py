"""What a kernel refuses first: the elements' dtype, that of an output, a shape, a number.

Of each operator the same calls with every kind of dtype, and into outputs of other dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DTYPES: Final = (
    *("bool", "int64", "uint16", "float16", "bfloat16", "float32", "complex64"),
    "float8_e4m3fn",
)
_SHAPES: Final = ("()", "0", "2")
_OUTPUTS: Final = ("float16", "float32", "int64", "complex64")

_OF_SHAPES: Final = (
    *("sort(x)[1]", "topk(x, 0)", "equal(x, x)", "equal(x, x.clone())"),
    *("flip(x, [0])", "linalg_vector_norm(x)", "embedding_backward(x, x + 0.5, 2, 0, False, True)"),
    *("embedding_dense_backward(x, x, -1, 0, False)", "mse_loss_backward(x, x, x, 1)"),
    *("native_batch_norm(x, None, None, x, {0}, {1}, 0.1, 1)", "mul_.Scalar(x, 2.5)"),
    *("cross_entropy_loss(x, x)", "native_layer_norm(x, [0], None, None, 1)"),
    *("clamp(x, {2})", "embedding_backward(x, x.long(), 2, 0, True, True)"),
)
_OF_DTYPES: Final = (
    *("flip(x[None].repeat(2, 1), [0])", "flip(x[None].repeat(2, 1).mT, [1])"),
    *("flip(x[:, None], [0, 1])", "unfold_backward(x.repeat(2, 1), [3], 0, 2, 1)"),
    *("glu_backward(x{4}, x, 0)", "binary_cross_entropy_backward(x, x, x, None, {5})"),
    *(
        "unfold_backward(x[:, None], [2], 0, 1, {3})",
        "full([{5}], {6}, dtype=xp.{dtype})",
        "new_full(x, [{5}], {6})",
        "fill(x[:{5}], {6})",
    ),
    *("hardshrink(x, {7})", "hardshrink_backward(x, x, {7})", "pow.Scalar({7}, x)"),
    *("softshrink_backward(x, x, {7})", "elu_backward(x, {7}, 1, 1, True, x)"),
    *("index.Tensor(x, [x])", "index_put(x, [x], x)", "smooth_l1_loss_backward(x, x + x, x, 1, 2)"),
)
_INTO: Final = (
    *("sort.values_stable(x, stable=True, values={out}, indices=xp.ones(2).bool())",),
    *("topk.values(x, 1, values={out}, indices={out})", "std.correction_out(x, out={out})"),
    *("unbind_copy.int_out(x, out=[{out}] * {5})", "addr.out(x, x, x, alpha=0.5, out={out})"),
    *("split_with_sizes_copy.out(x, [2], out=[{out}] * {5})",),
    *("gelu.out(x, approximate='sum', out={out})", "linspace.out({6}, 2, {5}, out={out})"),
    *(
        "var.correction_out(x[None], [0], out={out})",
        "glu_backward.grad_input(x{4}, x, 0, grad_input={out})",
    ),
    "native_batch_norm.out(x[None], None, None, x, x, {1}, 0.1, 1, out=x.clone(), "
    "save_mean={out}, save_invstd=x.clone())",
)
_PLACES: Final = {
    "{0}": ("None", "x"),
    "{1}": ("True", "False"),
    "{2}": ("1j", "float('nan')", "None, float('nan')"),
    "{3}": ("1", "-1"),
    "{4}": ("", "[:1]"),
    "{5}": ("1", "2"),
    "{6}": ("1j", "1e300"),
    "{7}": ("1j", "float('nan')"),
}


def texts() -> Iterator[Text]:
    for call, dtype, shape in product(_filled(_OF_SHAPES), _DTYPES, _SHAPES):
        yield _case(call, dtype, shape)
    for call, dtype in product(_filled(_OF_DTYPES), _DTYPES):
        yield _case(call.replace("{dtype}", dtype), dtype, "2")
    for call, dtype, other in product(_filled(_INTO), _DTYPES, _OUTPUTS):
        yield _case(call.replace("{out}", f"xp.zeros(0, dtype=xp.{other})"), dtype, "2")
    for mask in ("xp.ones(2).to(xp.uint8)", "xp.ones(2).bool()"):
        yield "__getitem__", f"xp.ones(2)[{mask}]"
        yield "__setitem__", f"x = xp.ones(2)\nx[{mask}] = 2\nx"
    yield "native_batch_norm", "xp.native_batch_norm(xp.ones(()), *[None] * 4, True, 0.1, 1)"


def _case(call: str, dtype: str, shape: str) -> Text:
    made = f"x = xp.ones({shape}).to(xp.{dtype})"
    return call.partition("(")[0], f"{made}\ny = xp.ops.aten.{call}\n(x, y)"


def _filled(calls: tuple[str, ...]) -> Iterator[str]:
    """Calls with every text for each of their places."""
    for call in calls:
        places = [place for place in _PLACES if place in call]
        for found in product(*(_PLACES[place] for place in places)):
            text = call
            for place, each in zip(places, found, strict=True):
                text = text.replace(place, each)
            yield text
