"""Convolutions that are put together at random for the area core-ops: sizes of zero, channels and
settings that do not fit, operands in other formats, and gradients where there are some.

Not here: halves, which another library computes if the machine has the instructions for them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from conformance.area import Text

COUNT: Final = 1_500

_DTYPES: Final = ("float32",) * 3 + ("float64", "float64", "int64", "complex64", "bool")
_CHANNELS: Final = (2, 4)
_ODD_CHANNELS: Final = (1, 2, 4, 0)
_BATCHES: Final = (1, 1, 2, 0, 16)
_EXTENTS: Final = (3, 4, 5)
_ODD_EXTENTS: Final = (0, 1, 2, 3, 4, 5)
_NAMED_PADDING: Final = ("'same'", "'valid'", "'x'")


def texts() -> Iterator[Text]:
    for number in range(COUNT):
        yield from _drawn(random.Random(number))


def _drawn(chance: random.Random) -> Iterator[Text]:
    dim, transposed = chance.choice((1, 2, 2, 3)), chance.random() < 0.35
    groups = chance.choice((1, 1, 1, 2))
    channels, more = (_channels(chance) for _ in range(2))
    window = [_extent(chance, (1, 2, 3)) for _ in range(dim)]
    image = [chance.choice(_BATCHES), channels, *(_extent(chance, _EXTENTS) for _ in range(dim))]
    weight = [channels, more // groups] if transposed else [more, channels // groups]
    if chance.random() < 0.1:  # without a batch
        image = image[1:]
    dtype, device = chance.choice(_DTYPES), chance.choice(("cpu", "cpu", "meta"))
    other = dtype if chance.random() < 0.95 else "float64"
    operands = ["x", "w"]
    if chance.random() < 0.4:
        operands.append(_made([chance.choice((more, more, more, 1, 3))], other, device))
    name = f"conv_transpose{dim}d" if transposed else f"conv{dim}d"
    settings = _settings(chance, dim, groups, transposed=transposed)
    call = f"xp.{name}({', '.join([*operands, *settings])})"
    x, w = _made(image, dtype, device), _made([*weight, *window], other, device)
    if len(image) == 4 and chance.random() < 0.1:
        x += ".to(memory_format=xp.channels_last)"
    if dtype.startswith("float") and chance.random() < 0.4:
        made = f"x = {x}.requires_grad_()\nw = {w}.requires_grad_()\ny = {call}"
        yield name, f"{made}\n(y, *xp.autograd.grad(y.sum(), (x, w)))"
    else:
        yield name, f"x = {x}\nw = {w}\n{call}"


def _channels(chance: random.Random) -> int:
    return chance.choice(_ODD_CHANNELS if chance.random() < 0.15 else _CHANNELS)


def _extent(chance: random.Random, usual: Sequence[int]) -> int:
    return chance.choice(_ODD_EXTENTS if chance.random() < 0.3 else usual)


def _made(sizes: Sequence[int], dtype: str, device: str) -> str:
    """Numbers that count up and begin again."""
    return f"(xp.arange({prod(sizes)}, device='{device}') % 5).to(xp.{dtype}).view({list(sizes)})"


def _settings(chance: random.Random, dim: int, groups: int, *, transposed: bool) -> Iterator[str]:
    """Some of them, mostly such as fit."""
    if chance.random() < 0.4:
        yield f"stride={_setting(chance, dim, (1, 3), (0, -1))}"
    if chance.random() < 0.4:
        is_named = not transposed and chance.random() < 0.2
        numbers = _setting(chance, dim, (0, 2), (-1, 5))
        yield f"padding={chance.choice(_NAMED_PADDING) if is_named else numbers}"
    if chance.random() < 0.4:
        yield f"dilation={_setting(chance, dim, (1, 3), (0, -1, 4))}"
    if groups > 1 or chance.random() < 0.05:
        yield f"groups={chance.choice((groups,) * 8 + (0, 3, -1))}"
    if transposed and chance.random() < 0.3:
        yield f"output_padding={_setting(chance, dim, (0, 1), (2, -1))}"


def _setting(chance: random.Random, dim: int, usual: tuple[int, int], odd: Sequence[int]) -> str:
    """A number, or one for each dimension or for another number of them."""
    count = chance.choice((dim,) * 14 + (1, dim + 1))
    drawn = [
        chance.choice(odd) if chance.random() < 0.12 else chance.randint(*usual)
        for _ in range(count)
    ]
    return str(drawn[0]) if chance.random() < 0.5 else str(tuple(drawn))
