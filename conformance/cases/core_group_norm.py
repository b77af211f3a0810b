"""Normalization of groups of channels for the area core-ops, as it is called below the composite.

There the sizes are arguments of their own: they may be none of the input's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_LAYOUTS: Final = (
    *("", ".to(memory_format=xp.channels_last)", ".transpose(2, 3)", ".transpose(0, 1)"),
    ".transpose(1, 3).contiguous().transpose(1, 3)",
)
_LEARNED: Final = ("None", "6", "(6, 1)", "4")
_DTYPES: Final = ("float32", "float64", "bfloat16", "int64", "complex64")
_SIZES: Final = (
    *("2, 6, 6, 2", "2, 6, 6, 3", "2, 6, 6, 0", "2, 6, 6, 4", "2, 6, 6, -2", "2, 0, 6, 2"),
    *("2, 6, 0, 2", "0, 6, 6, 2", "-2, 6, 6, 2", "1, 6, 12, 2", "2, -6, -6, 2"),
)
_SHAPES: Final = ("(6,)", "(2, 6)", "(2, 6, 5)", "(0, 6, 2)", "(2, 0, 3)", "(2, 6, 0)", "()")
_LARGE: Final = ("(2, 6, 3, 2)", "(1, 18, 5, 7)", "(1, 40, 2, 3)", "(2, 6, 33, 32)")
_MASKS: Final = ("[True, True, True]", "[True, False, False]", "[False, True, False]")


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    count = f"xp.ones({shape}).numel()"
    numbers = f"((xp.arange({count}, device='{device}') * 7 % 23) * 0.37 - 3.1)"
    made = f"{numbers}.reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def _given(shape: str, device: str, dtype: str = "float32") -> str:
    if shape == "None":
        return shape
    return _made(f"({shape},)" if shape.isdigit() else shape, device, dtype)


def texts() -> Iterator[Text]:
    yield from _native()
    yield from _values()
    yield from _backward()
    yield from _composite()


def _native() -> Iterator[Text]:
    pools = (_LAYOUTS, _LEARNED, _LEARNED, _SIZES, _DEVICES, _DTYPES)
    for layout, weight, bias, sizes, device, dtype in pairwise(*pools):
        if sizes[:7] != "2, 6, 6" and device == "cpu":
            continue  # reads memory that is not its input's
        x = f"({_made('(2, 6, 3, 2)', device, dtype)}){layout}"
        learned = ", ".join(_given(each, device, dtype) for each in (weight, bias))
        yield "native_group_norm", f"xp.native_group_norm({x}, {learned}, {sizes}, 1e-5)"


def _values() -> Iterator[Text]:
    for shape, layout, learned in product(_LARGE, _LAYOUTS[:2], (False, True)):
        channels = shape.split(", ")[1]
        x = f"({_made(shape)}){layout}"
        weight = f"{_made(f'({channels},)')}" if learned else "None"
        yield "group_norm", f"xp.group_norm({x}, 2, {weight}, {weight})"


def _backward() -> Iterator[Text]:
    pools = (_LAYOUTS, _LAYOUTS, ("None", "6"), _MASKS, ("2, 6, 6, 2", "2, 6, 6, 3"), _DEVICES)
    for one, two, weight, mask, sizes, device in pairwise(*pools):
        if device == "cpu" and (one, two) != ("", ""):
            continue  # which reads both as if they were contiguous
        x = _made("(2, 6, 3, 2)", device)
        yield (
            "native_group_norm_backward",
            f"x = {x}\n_, m, r = xp.native_group_norm(x, None, None, 2, 6, 6, {sizes[-1]}, 1e-5)\n"
            "xp.ops.aten.native_group_norm_backward("
            f"(x * x){one}, x{two}, m, r, {_given(weight, device)}, {sizes}, {mask})",
        )


def _composite() -> Iterator[Text]:
    for shape, groups, device in product(_SHAPES, ("2", "0", "-1", "4"), _DEVICES):
        yield "group_norm", f"xp.group_norm({_made(shape, device)}, {groups})"
