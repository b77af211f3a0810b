"""Pictures of results: ratios beside their bars, and curves of how cost grows.

Plain SVG with logarithmic axes, on which a cost that grows linearly is a straight line with slope
one, and one that stays the same is level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

Point = tuple[float, float]

_WIDTH: Final = 760
_LABELS: Final = 230
"""What names take at the left."""
_LINE: Final = 22
_HEIGHT: Final = 420
_COLOURS: Final = ("#4269d0", "#d97706", "#b91c1c", "#0e7490", "#15803d", "#7c3aed", "#57534e")
_WITHIN, _ABOVE = "#15803d", "#b91c1c"


class Ratio(NamedTuple):
    """A row of a table: its name, its ratio, and what that shall be at most."""

    what: str
    value: float
    bar: float | None


class Axis(NamedTuple):
    """Decades between two numbers, laid out between two places."""

    low: float
    high: float
    start: float
    stop: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, stop: float) -> Axis:
        positive = [value for value in values if value > 0] or [1.0]
        low = math.floor(math.log10(min(positive)))
        high = max(math.ceil(math.log10(max(positive))), low + 1)
        return cls(low, high, start, stop)

    def at(self, value: float) -> float:
        share = (math.log10(max(value, 10**self.low)) - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(int(self.low), int(self.high) + 1)]


def ratios(title: str, rows: Sequence[Ratio]) -> str:
    """A bar for each row, red where it is above what is asked for, which a line marks."""
    bottom = 50 + _LINE * len(rows)
    known = [each for row in rows for each in (row.value, row.bar) if each is not None]
    axis = Axis.over(known, _LABELS, _WIDTH - 60)

    def drawn() -> Iterator[str]:
        for value in axis.decades():
            yield _line((axis.at(value), 40), (axis.at(value), bottom), "#e5e5e5")
            yield _text((axis.at(value), bottom + 16), f"{value:g}", "middle")
        for place, row in enumerate(rows):
            top = 46 + _LINE * place
            colour = _ABOVE if row.bar is not None and row.value > row.bar else _WITHIN
            yield _text((_LABELS - 8, top + 12), row.what, "end")
            yield (
                f'<rect x="{_LABELS}" y="{top}" width="{axis.at(row.value) - _LABELS:.1f}" '
                f'height="14" fill="{colour}"/>'
            )
            yield _text((axis.at(row.value) + 5, top + 12), f"{row.value:.2f}")
            if row.bar is not None:
                yield _line((axis.at(row.bar), top - 3), (axis.at(row.bar), top + 17), "#000")

    return _page(title, bottom + 30, drawn())


def curves(title: str, lines: Mapping[str, Sequence[Point]]) -> str:
    """A line for each name, by what grows and what it costs."""
    points = [point for line in lines.values() for point in line]
    across = Axis.over([point[0] for point in points], 60, _WIDTH - _LABELS)
    up = Axis.over([point[1] for point in points], _HEIGHT - 40, 40)

    def drawn() -> Iterator[str]:
        for value in across.decades():
            yield _line((across.at(value), 40), (across.at(value), _HEIGHT - 40), "#e5e5e5")
            yield _text((across.at(value), _HEIGHT - 22), f"{value:,.0f}", "middle")
        for value in up.decades():
            yield _line((60, up.at(value)), (_WIDTH - _LABELS, up.at(value)), "#e5e5e5")
            yield _text((54, up.at(value) + 4), f"{value:g} µs", "end")
        for place, (name, line) in enumerate(lines.items()):
            colour = _COLOURS[place % len(_COLOURS)]
            path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in line)
            yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            yield _text((_WIDTH - _LABELS + 16, 56 + 20 * place), name, colour=colour)

    return _page(title, _HEIGHT, drawn())


def _page(title: str, height: float, drawn: Iterator[str]) -> str:
    lines = "\n".join((_text((16, 24), title, weight="bold"), *drawn))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{lines}\n</svg>\n'
    )


def _line(start: Point, stop: Point, colour: str) -> str:
    (x1, y1), (x2, y2) = start, stop
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>'


def _text(
    at: Point, text: str, anchor: str = "start", *, colour: str = "#222", weight: str = "normal"
) -> str:
    return (
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
