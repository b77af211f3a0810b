"""What a benchmark answers: rows of figures with their spread, as a table, a picture and JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks import plot


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median over the rounds, and the quartiles beside it."""

    median: float
    lower_quartile: float
    upper_quartile: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Ratio:
        """Of the second of each pair to the first: what was measured by turns is compared."""
        low, middle, high = statistics.quantiles([two / one for one, two in pairs], n=4)
        return cls(middle, low, high)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lower_quartile:.2f} to {self.upper_quartile:.2f})"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was measured: figures by column, and ratios by column, with their bars."""

    what: str
    figures: dict[str, str | float]
    ratios: dict[str, Ratio]
    #: Above this the first ratio misses what is asked for.
    bar: float | None = None

    @property
    def is_above(self) -> bool:
        return self.bar is not None and self.ratio > self.bar

    @property
    def ratio(self) -> float:
        """The first, or 1 for a row that compares nothing."""
        return next(iter(self.ratios.values())).median if self.ratios else 1.0


@dataclass(frozen=True, slots=True)
class Result:
    """A benchmark's rows; ``name`` is that of its file."""

    name: str
    title: str
    rows: list[Row]
    facts: dict[str, Any] = field(default_factory=dict)
    #: What its picture shows in the place of ratios: by name, what grows and what that costs.
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def table(self) -> Table:
        """A column for each figure and each ratio."""
        made = Table(title=self.title)
        first = self.rows[0]
        made.add_column("what")
        for column in (*first.figures, *first.ratios):
            made.add_column(column, justify="right")
        for row in self.rows:
            figures = (
                f"{each:,.1f}" if isinstance(each, float) else each for each in row.figures.values()
            )
            ratios = [str(ratio) for ratio in row.ratios.values()]
            made.add_row(
                row.what, *map(str, figures), *ratios, style="red" if row.is_above else None
            )
        return made

    def save(self, folder: Path) -> Path:
        """``bench-<name>.json`` in a folder, and the picture beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"bench-{self.name}.json"
        data = {**self.facts, "rows": [asdict(row) for row in self.rows]}
        path.write_text(json.dumps(data, indent=1) + "\n")
        path.with_suffix(".svg").write_text(self.picture(), encoding="utf-8")
        return path

    def picture(self) -> str:
        """As SVG: the curves, or each row's ratio beside its bar."""
        if self.curves:
            return plot.curves(self.title, self.curves)
        rows = [plot.Ratio(row.what, row.ratio, row.bar) for row in self.rows]
        return plot.ratios(self.title, rows)
