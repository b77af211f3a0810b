"""Sizes below zero, cut away or of no whole number of blocks, for the area core-ops.

On the CPU, and on meta, where a function of Python looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_PAIRS: Final = ("[1, 1]", "[2, 2]", "[0, 1]", "[2, 1]", "[-1, 2]")
_PADDING: Final = ("[0, 0]", "[1, 0]", "[-1, 0]")
_IMAGES: Final = ("1, 2, 3", "2, 1, 2, 3", "1, 0, 2, 3", "0, 1, 2, 3", "2, 3", "1, 5, 4")
_COLUMNS: Final = ("4, 6", "1, 4, 2", "1, 4, 0", "0, 4, 6", "1, 3, 6", "4, 4, 4, 4")
_PIXELS: Final = (
    *("1, 8, 2, 2", "8, 2, 2", "2, 2", "1, 3, 2, 2", "1, 4, 3, 2", "2, 1, 8, 2, 2", "0, 4, 2, 2"),
)
_FACTORS: Final = ("2", "1", "0", "-1", "-2", "3037000500")
_SIZES: Final = ("(-1, 5)", "(2, -3)", "(2, 5)", "(0,)", "()")
_BORDERS: Final = {
    1: ("[1, 1]", "[0, 2]", "[-1, -2]", "[-2, -2]", "[3, 0]"),
    2: ("[1, 1, 1, 1]", "[-2, -2, 0, 0]", "[-2, -1, -2, -1]", "[0, 0, -3, -1]"),
    3: ("[1, 1, 1, 1, 1, 1]", "[-1, -2, 0, 0, 0, 0]", "[0, 0, 0, 0, -2, -2]"),
}


def texts() -> Iterator[Text]:
    yield from _blocks()
    yield from _pixels()
    yield from _searches()
    yield from _parts()
    yield from _factories()
    yield from _strides()
    yield from _borders()
    yield from _pools()
    yield from _bins()


def _ones(sizes: str, device: str, dtype: str = "float32") -> str:
    return f"xp.ones({sizes}, dtype=xp.{dtype}, device='{device}')"


def _blocks() -> Iterator[Text]:
    for image, *window, device in pairwise(
        _IMAGES, _PAIRS, _PAIRS[:4], _PADDING, _PAIRS[:4], _DEVICES
    ):
        yield "im2col", f"xp.ops.aten.im2col({_ones(image, device)}, {', '.join(window)})"
    outputs = ("[2, 3]", "[3, 3]", "[0, 3]")
    for columns, *window, device in pairwise(
        _COLUMNS, outputs, _PAIRS, _PAIRS[:4], _PADDING, _PAIRS[:3], _DEVICES
    ):
        yield "col2im", f"xp.ops.aten.col2im({_ones(columns, device)}, {', '.join(window)})"


def _pixels() -> Iterator[Text]:
    for name, sizes, factor, device in product(
        ("pixel_shuffle", "pixel_unshuffle"), _PIXELS, _FACTORS, _DEVICES
    ):
        if name == "pixel_unshuffle" and ((sizes, device) == ("2, 2", "meta") or len(factor) > 2):
            continue  # whose message has an address, or whose sizes wrap
        yield name, f"xp.{name}({_ones(sizes, device)}, {factor})"
    for layout in (".to(memory_format=xp.channels_last)", ".transpose(2, 3)", ".transpose(1, 3)"):
        x = f"{_ones('1, 8, 8, 8', 'meta')}{layout}"
        for name in ("pixel_shuffle", "pixel_unshuffle"):
            yield name, f"xp.{name}({x}, 2).stride()"


def _searches() -> Iterator[Text]:
    for sorted_sequence, sought, options, device in product(
        ("3", "2, 3", "1, 0", "0"),
        ("3", "2, 3", "0, 0", "()"),
        ("", ", side='left', right=True", ", side='right'", ", sorter=order"),
        _DEVICES,
    ):
        order = f"xp.arange(2, device='{device}')"
        yield (
            "searchsorted",
            f"order = {order}\nxp.searchsorted({_ones(sorted_sequence, device)}, "
            f"{_ones(sought, device)}{options})",
        )
    for device in _DEVICES:
        yield "searchsorted", f"xp.searchsorted({_ones('3, 3', device)}, 1.0)"


def _parts() -> Iterator[Text]:
    for sizes, parts, dim, out, device in product(
        ("5, 5", "6, 5", "()"), ("(1, 3, 1)", "(6, -1)", "(5,)"), (0, 1, 5), (False, True), _DEVICES
    ):
        x = _ones(sizes, device)
        given = f", out=[{_ones('2, 5', device)} for _ in {parts}]" if out else ""
        yield "split_with_sizes_copy", f"xp.split_with_sizes_copy({x}, {parts}, {dim}{given})"


def _factories() -> Iterator[Text]:
    for name, size, device in product(("zeros", "ones", "empty", "full", "rand"), _SIZES, _DEVICES):
        value = ", 2" if name == "full" else ""
        yield name, f"xp.{name}({size}{value}, device='{device}').shape"
        for dtype in ("float32", "int64"):
            out = f"xp.empty(5, 5, dtype=xp.{dtype}, device='{device}')"
            yield name, f"xp.{name}({size}{value}, out={out}).shape"


def _strides() -> Iterator[Text]:
    for geometry, device in product(
        (
            *("(5,), (-4,)", "(2, 3, 4), (-1, 10, 2)", "(2, 3, 4), (1, -10, -2)"),
            *("(2, 0, 4), (1, -10, -2)", "(0,), (-1,)", "(1,), (-5,)", "(-1,), (1,)"),
        ),
        _DEVICES,
    ):
        yield "empty_strided", f"xp.empty_strided({geometry}, device='{device}').stride()"
        like = f"xp.empty(1, device='{device}')"
        yield "new_empty_strided", f"{like}.new_empty_strided({geometry}).stride()"


def _borders() -> Iterator[Text]:
    for name, rank, dtype, device in product(
        ("reflection", "replication"), _BORDERS, ("float32", "float16", "bool"), _DEVICES
    ):
        for batch, padding in product(("1, 2", "0, 2", "2, 0"), _BORDERS[rank]):
            if batch == "0, 2" and "-" in padding:
                continue  # of which nothing is left, and a size below zero
            sizes = f"{batch}, {', '.join('3' * rank)}"
            x = _ones(sizes, device, dtype)
            called = f"xp.ops.aten.{name}_pad{rank}d"
            yield f"{name}_pad{rank}d", f"{called}({x}, {padding}).shape"
            grad = _ones(f"{batch}, {', '.join('5' * rank)}", device, dtype)
            yield (
                f"{name}_pad{rank}d_backward",
                f"{called}_backward({grad}, {x}, {padding}).shape",
            )
    for mode, value in product(range(-1, 6), ("None", "2")):
        yield (
            "_pad_enum",
            f"xp.ops.aten._pad_enum({_ones('1, 2, 3', 'cpu')}, [1, 2], {mode}, {value})",
        )


def _pools() -> Iterator[Text]:
    steps = ("(72, 1, 12, 1)", "(72, 1, 12, 2)", "(72, 36, 1, 6)", "(1, 1, 1, 1)")
    for strides, dtype, device in product(steps, ("float32", "uint8", "bool"), _DEVICES):
        x = f"xp.zeros(99, dtype=xp.{dtype}, device='{device}').as_strided((1, 2, 6, 6), {strides})"
        yield "avg_pool2d", f"xp.nn.functional.avg_pool2d({x}, (3, 2)).stride()"
        pooled = f"xp.nn.functional.max_pool2d({x}, (3, 2), return_indices=True)"
        yield "max_pool2d_with_indices", f"[each.stride() for each in {pooled}]"


def _bins() -> Iterator[Text]:
    for options, dtype, device in product(
        (
            *("min=1, max=0", "bins=3, min=-1, max=10", "bins=0", "bins=-1"),
            *("bins=3, max=300", "bins=3, min=float('nan'), max=1", "max=float('inf')"),
        ),
        ("float32", "uint8", "int64", "complex64"),
        _DEVICES,
    ):
        yield "histc", f"xp.histc({_ones('2, 2', device, dtype)}, {options}).shape"
