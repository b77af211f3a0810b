"""Convolutions in one, two and three dimensions for the area core-ops: plain, transposed, with
padding that has a name.

Not here: halves, which another library computes if the machine has the instructions for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_IMAGES: Final = {1: "(2, 4, 6)", 2: "(1, 4, 6, 5)", 3: "(1, 4, 4, 3, 5)"}
_WITHOUT_BATCH: Final = {1: "(4, 6)", 2: "(4, 6, 5)", 3: "(4, 4, 3, 5)"}
_KERNELS: Final = {1: ("(4, 2, 3)", "(4, 4, 2)"), 2: ("(4, 2, 3, 2)", "(4, 4, 2, 2)")}
_KERNELS_OF_THREE: Final = ("(4, 2, 2, 1, 3)", "(4, 4, 2, 2, 2)")
_BIASES: Final = ("None", "4", "8", "3", "(4, 1)")
_STRIDES: Final = ("1", "2", "(2,)", "0", "(1, 2, 3, 4)", "-1")
_PADDINGS: Final = ("0", "1", "2", "-1")
_NAMED: Final = ("'same'", "'valid'", "'full'", "''")
_DILATIONS: Final = ("1", "2", "3", "0")
_MORE: Final = ("0", "1", "2", "-1")
_GROUPS: Final = ("1", "2", "4", "0", "3")
_DTYPES: Final = ("float32", "float64", "int64", "int32", "uint8", "bool", "complex64")
_DEVICES: Final = ("cpu", "meta")


def _kernels(dim: int) -> tuple[str, ...]:
    return _KERNELS.get(dim, _KERNELS_OF_THREE)


def _made(shape: str, dtype: str = "float32", device: str = "cpu") -> str:
    """Numbers that count up from one and begin again, in a shape."""
    count = f"xp.ones({shape}, device='{device}').numel()"
    made = f"((xp.arange({count}, device='{device}') % 7 + 1) * 0.5).reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def _call(name: str, operands: Sequence[str], **settings: str) -> Text:
    shown = "".join(f", {key}={value}" for key, value in settings.items())
    return name, f"xp.{name}({', '.join(operands)}{shown})"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    known = [name for name in _DTYPES if name in dtypes]
    for dim in (1, 2, 3):
        yield from _settings(dim)
        yield from _operands(dim, known)
        yield from _on_meta(dim)
        yield from _backward(dim)
    yield from _padding()


def _settings(dim: int) -> Iterator[Text]:
    """On the CPU, fitting and not."""
    plain, transposed = f"conv{dim}d", f"conv_transpose{dim}d"
    image = _made(_IMAGES[dim])
    pools: tuple[Sequence[str], ...]
    pools = (_kernels(dim), _BIASES, _STRIDES, _PADDINGS, _DILATIONS, _GROUPS)
    for weight, bias, stride, padding, dilation, groups in pairwise(*pools):
        shown = bias if bias == "None" else _made(bias)
        settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        yield _call(plain, (image, _made(weight), shown), **settings)
    pools = (_kernels(dim), _BIASES[:3], _NAMED, _DILATIONS[:3], _GROUPS[:2], _STRIDES[:3])
    for weight, bias, padding, dilation, groups, stride in pairwise(*pools):
        shown = bias if bias == "None" else _made(bias)
        settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        yield _call(plain, (image, _made(weight), shown), **settings)
    pools = (_kernels(dim), _BIASES, _STRIDES, _PADDINGS, _MORE, _GROUPS, _DILATIONS[:3])
    for weight, bias, stride, padding, more, groups, dilation in pairwise(*pools):
        shown = bias if bias == "None" else _made(bias)
        settings = {
            "stride": stride,
            "padding": padding,
            "output_padding": more,
            "groups": groups,
            "dilation": dilation,
        }
        yield _call(transposed, (image, _made(weight), shown), **settings)
    weight = _made(_kernels(dim)[1])
    for name in (plain, transposed):
        yield _call(name, (image, weight))
        yield _call(name, (_made(_WITHOUT_BATCH[dim]), weight))
        yield _call(name, (_made("(4, 4)"), weight))
        yield _call(name, (_made("(1,) * 6"), weight))
        yield _call(name, (image, _made("(4, 4)")))
        yield _call(name, (image, _made("(4, 4, 2, 2, 2, 2)")))
        yield _call(name, (_made(f"(0, 4, *(4,) * {dim})"), weight))
        yield _call(name, (_made(f"(1, 4, *(0,) * {dim})"), weight))
        yield _call(name, (_made(f"(1, 3, *(4,) * {dim})"), weight))


def _operands(dim: int, dtypes: Sequence[str]) -> Iterator[Text]:
    """Of every dtype, and of two."""
    image, weight = _IMAGES[dim], _kernels(dim)[1]
    for name in (f"conv{dim}d", f"conv_transpose{dim}d"):
        for dtype in dtypes:
            one, two = _made(image, dtype), _made(weight, dtype)
            yield _call(name, (one, two))
            yield _call(name, (one, two, _made("4", dtype)), dilation="2", padding="2")
        for first, second, third, dilation in pairwise(dtypes, dtypes, dtypes, ("1", "2")):
            operands = (_made(image, first), _made(weight, second), _made("4", third))
            yield _call(name, operands, dilation=dilation, padding="2")
        if "complex64" in dtypes:
            one, two = (f"{_made(each, 'complex64')} * (1 - 2j)" for each in (image, weight))
            yield _call(name, (f"({one})", f"({two}).conj()", _made("4", "complex64")))
            if name == f"conv{dim}d":
                yield _call(name, (f"({one})", f"({two})"), padding="'same'")


def _on_meta(dim: int) -> Iterator[Text]:
    """What fits."""
    image = _made(_IMAGES[dim], device="meta")
    for weight, padding, dilation in pairwise(
        _kernels(dim), ("0", "1", "'same'", "'valid'"), _DILATIONS[:2]
    ):
        groups = "1" if ", 4, " in weight else "2"
        settings = {"padding": padding, "dilation": dilation, "groups": groups}
        made = _made(weight, device="meta")
        yield _call(f"conv{dim}d", (image, made), **settings)
    for weight, stride, more in pairwise(_kernels(dim), ("2", "3"), ("0", "1")):
        made = _made(weight, device="meta")
        settings = {"stride": stride, "output_padding": more, "groups": "2"}
        yield _call(f"conv_transpose{dim}d", (image, made), **settings)


def _backward(dim: int) -> Iterator[Text]:
    """``convolution_backward`` of both kinds, for some of the gradients."""
    masks = ("True, True, True", "True, False, False", "False, True, False", "False, False, True")
    pools = (("True", "False"), ("1", "2"), ("0", "1"), ("1", "2"), masks, _DEVICES)
    for transposed, stride, padding, groups, mask, device in pairwise(*pools):
        per_group = "2" if groups == "2" else "4"
        x = _made(_IMAGES[dim], device=device)
        w = _made(f"(4, {per_group}, *(2,) * {dim})", device=device)
        window = f"[{stride}], [{padding}], [1], {transposed}, [0], {groups}"
        yield (
            "convolution_backward",
            f"x = {x}\nw = {w}\ny = xp.convolution(x, w, None, {window})\n"
            f"xp.ops.aten.convolution_backward(y, x, w, [4], {window}, [{mask}])",
        )


def _padding() -> Iterator[Text]:
    pads = (
        "[]",
        "[1, 2]",
        "[-1, 0]",
        "[0, 1, 2, 0]",
        "[-1, 2, 1, -1]",
        "[1]",
        "[1] * 6",
        "[-9, 1]",
    )
    shapes = ("(3,)", "(2, 3)", "(1, 2, 3)", "()", "(0, 3)")
    for pad, shape, value, device in pairwise(pads, shapes, ("0", "1.5", "True"), _DEVICES):
        made = _made(shape, device=device)
        yield "constant_pad_nd", f"xp.constant_pad_nd({made}, {pad}, {value})"
