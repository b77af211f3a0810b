"""Normalization of batches and of instances for the area core-ops.

Not here: values of dense halves, which are rounded after each of the steps that a vector unit
takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_SHAPES: Final = ("(4, 3)", "(2, 3, 2)", "(2, 3, 2, 2)", "(1, 3, 2, 1, 2)", "(1, 3)", "(0, 3, 2)")
_LEARNED: Final = ("None", "3", "2", "(3, 1)")
_RUNNING: Final = ("None", "3", "2")
_OTHER_SHAPES: Final = ("()", "5", "(1, 3)", "(3, 2)", "(2, 2, 2)")
"""Of what is one for each of three channels: kernels take the first numbers, or ask for vectors."""
_MOMENTA: Final = ("0.1", "0.0", "1.0", "2")
_EPS: Final = ("1e-5", "0.0", "1")
_TRAINING: Final = ("True", "False")
_DEVICES: Final = ("cpu", "meta")
_FLOATS: Final = ("float32", "float64")
_HALF: Final = ("float16", "bfloat16")
_GAPS: Final = ("[..., ::2]", "[..., :1]", ".transpose(0, 1).contiguous().transpose(0, 1)")
_VIEWS: Final = (
    *("", ".contiguous(memory_format=xp.channels_last)", ".transpose(2, 3)", ".transpose(0, 1)"),
    ".expand(3, 3, 3, 2)",
)


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    """Numbers, none of them the mean of others: what is left of two that cancel is rounding."""
    factor = 0.37 if "," in shape else 0.41
    count = f"xp.ones({shape}, device='{device}').numel()"
    numbers = f"((xp.arange({count}, device='{device}') * 7 % 11 + 1) * {factor}) ** 2"
    made = f"({numbers}).reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def _given(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    return shape if shape == "None" else _made(shape, device, dtype)


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    yield from _composite()
    yield from _native()
    yield from _dtypes([name for name in dtypes if name not in _HALF])
    yield from _halves()
    yield from _backward()
    yield from _instances()
    yield from _of_other_shapes()


def _composite() -> Iterator[Text]:
    pools = (_SHAPES, _LEARNED, _LEARNED, _RUNNING, _RUNNING, _TRAINING, _MOMENTA, _EPS)
    for shape, weight, bias, mean, var, training, momentum, eps in pairwise(*pools):
        yield (
            "batch_norm",
            f"m, v = {_given(mean)}, {_given(var)}\n"
            f"y = xp.batch_norm({_made(shape)}, {_given(weight)}, {_given(bias)}, m, v, "
            f"{training}, {momentum}, {eps}, False)\n(y, m, v)",
        )
    for shape, weight, mean, training in pairwise(_SHAPES, _LEARNED[:2], _RUNNING[:2], _TRAINING):
        m, w = _given(mean, "meta"), _given(weight, "meta")
        yield (
            "batch_norm",
            f"xp.batch_norm({_made(shape, 'meta')}, {w}, {w}, {m}, {m}, {training}, 0.1, "
            "1e-5, False)",
        )


def _native() -> Iterator[Text]:
    calls = (
        "native_batch_norm(x, w, w, m, v, {0}, 0.3, 1e-5)",
        "ops.aten._native_batch_norm_legit(x, w, w, m, v, {0}, 0.3, 1e-5)",
        "ops.aten._native_batch_norm_legit.no_stats(x, w, w, True, 0.3, 1e-5)",
        "ops.aten._native_batch_norm_legit_no_training(x, w, w, m, v, 0.3, 1e-5)",
        "_batch_norm_impl_index(x, w, w, m, v, {0}, 0.3, 1e-5, True)",
        "ops.aten._batch_norm_with_update(x, w, w, m, v, 0.3, 1e-5)",
        "ops.aten._batch_norm_no_update(x, w, w, m, v, 0.3, 1e-5)",
    )
    pools = (calls, _SHAPES[:5], ("None", "3"), _TRAINING, _DEVICES)
    for call, shape, weight, training, device in pairwise(*pools):
        w, m = _given(weight, device), _made("3", device)
        yield (
            call.partition("(")[0].rpartition(".")[2],
            f"x, w, m = {_made(shape, device)}, {w}, {m}\nv = m + 1\n"
            f"y = xp.{call.format(training)}\n(y, m, v, m._version)",
        )
    for view, training in pairwise(_VIEWS, _TRAINING):
        shape = "(1, 3, 3, 2)" if "expand" in view else "(3, 3, 2, 2)"
        yield (
            "native_batch_norm",
            f"m = {_made('3')}\nx = {_made(shape)}{view}\n"
            f"(xp.native_batch_norm(x, m, m, m, m, {training}, 0.1, 1e-5), m)",
        )
    for shapes, training in pairwise(("3, 3, 2", "3, 3, 2, 2", "0", "1, 3"), _TRAINING):
        yield (
            "native_batch_norm",
            f"o, p, q = xp.zeros({shapes}), xp.zeros(3), xp.zeros(0)\nm = {_made('3')}\n"
            f"y = xp.native_batch_norm({_made('(3, 3, 2)')}, m, m, m, m, {training}, 0.1, 1e-5, "
            "out=(o, p, q))\n(o, p, q, y[0] is o)",
        )


def _dtypes(dtypes: Sequence[str]) -> Iterator[Text]:
    for one, two, three, training in pairwise(dtypes, _FLOATS, _FLOATS, _TRAINING):
        x, w, m = _made("(2, 3, 2)", dtype=one), _made("3", dtype=two), _made("3", dtype=three)
        for weight in (w, "None"):
            yield (
                "batch_norm",
                f"xp.batch_norm({x}, {weight}, {weight}, {m}, {m}, {training}, 0.1, 1e-5, False)",
            )


def _halves() -> Iterator[Text]:
    """Values where nothing is dense, which no vector unit computes."""
    pools = (_HALF, _SHAPES[1:3], _GAPS, _LEARNED[:2], (*_HALF, "float32"), _TRAINING, _MOMENTA)
    for one, shape, view, learned, two, training, momentum in pairwise(*pools):
        if learned == "None" and training == "False":
            continue
        given = _given(learned, dtype=one if two in _HALF else two)
        yield (
            "native_batch_norm",
            f"w, b, m, v = {given}, {given}, {given}, {given}\n"
            f"y = xp.native_batch_norm({_made(shape, dtype=one)}{view}, w, b, m, v, {training}, "
            f"{momentum}, 0.6)\n(y, m, v)",
        )


def _backward() -> Iterator[Text]:
    masks = ("[True] * 3", "[True, False, False]", "[False, True, False]", "[False, False, True]")
    pools = (_SHAPES[:4], ("None", "3"), _TRAINING, masks, _FLOATS, _DEVICES)
    for shape, weight, training, mask, dtype, device in pairwise(*pools):
        x, w = _made(shape, device, dtype), _given(weight, device, dtype)
        m = _made("3", device, dtype)
        yield (
            "native_batch_norm_backward",
            f"xp.ops.aten.native_batch_norm_backward({x} + 1, {x}, {w}, {m}, {m} + 1, {m} + 2, "
            f"{m} + 3, {training}, 0.25, {mask})",
        )


def _instances() -> Iterator[Text]:
    pools = (_SHAPES[1:4], ("None", "3"), ("None", "3"), _TRAINING, _DEVICES)
    for shape, weight, mean, training, device in pairwise(*pools):
        w, m = _given(weight, device), _given(mean, device)
        b = w if w == "None" else f"({w} + 1)"
        yield (
            "instance_norm",
            f"m = {m}\ny = xp.instance_norm({_made(shape, device)}, {w}, {b}, m, m, {training}, "
            "0.1, 1e-5, False)\n(y, m)",
        )


def _of_other_shapes() -> Iterator[Text]:
    """Parameters of other numbers and dimensions, each in turn, where torch does not read past
    their end: where nothing is contiguous they are broadcast."""
    whole, gaps = _made("(2, 3, 2)"), f"{_made('(2, 3, 4)')}[..., ::2]"
    for x, place, training in product((whole, gaps), range(4), _TRAINING):
        is_learned, is_whole = place < 2, x == whole
        shapes = _OTHER_SHAPES[1:] if is_learned and is_whole else _OTHER_SHAPES
        if not is_whole and (is_learned or training == "False"):
            shapes = ("1", *shapes)
        for shape in shapes:
            given = ", ".join(_made(shape if each == place else "3") for each in range(4))
            yield (
                "native_batch_norm",
                f"w, b, m, v = {given}\n"
                f"y = xp.native_batch_norm({x}, w, b, m, v, {training}, 0.3, 0.5)\n(y, m, v)",
            )
    for shape, place, training in product(_OTHER_SHAPES, range(4), _TRAINING):
        given = ", ".join(_made(shape if each == place else "3") for each in range(4))
        yield (
            "native_batch_norm_backward",
            f"w, b, m, v = {given}\nx = {whole}\nxp.ops.aten.native_batch_norm_backward("
            f"x + 1, x, w, m, v, b, v, {training}, 0.5, [True] * 3)",
        )
