"""What benchmarks answer: ratios of what was measured by turns, and their bars."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.results import Ratio, Result, Row


def test_a_ratio_is_that_of_each_round() -> None:
    ratio = Ratio.of([(2.0, 1.0), (4.0, 1.0), (8.0, 8.0)])
    assert ratio.median == pytest.approx(0.5)  # and not 1 to 4
    assert ratio.lower_quartile < ratio.median < ratio.upper_quartile
    assert str(Ratio(0.5, 0.25, 1.0)) == "0.50 (0.25 to 1.00)"


@pytest.mark.parametrize(
    ("bar", "is_above"), [(None, False), (0.4, True), (0.5, False), (0.6, False)]
)
def test_a_row_is_above_its_bar_by_its_first_ratio(bar: float | None, is_above: bool) -> None:
    ratios = {"one": Ratio(0.5, 0.4, 0.6), "two": Ratio(9.0, 9.0, 9.0)}
    assert Row("loop", {"µs": 1.0}, ratios, bar).is_above is is_above


def test_a_result_is_kept_as_json(tmp_path: Path) -> None:
    row = Row("loop", {"µs": 1.5, "operators": "3"}, {"ratio": Ratio(0.5, 0.4, 0.6)})
    path = Result("some", "Some", [row], {"torch": "2.4.1"}).save(tmp_path / "new")
    kept = json.loads(path.read_text())
    assert path.name == "bench-some.json"
    assert kept["torch"] == "2.4.1"
    assert kept["rows"][0]["ratios"]["ratio"]["median"] == 0.5
