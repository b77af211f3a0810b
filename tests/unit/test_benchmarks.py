"""What benchmarks answer: ratios of what was measured by turns, and their bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

import mindtorch_v2 as xp
from benchmarks import growth as growths
from benchmarks import training
from benchmarks.growth import GROWTHS, Growth
from benchmarks.results import Ratio, Result, Row

SVG: Final = "{http://www.w3.org/2000/svg}"


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


def test_a_picture_of_ratios_has_a_bar_for_each_row_and_marks_those_above() -> None:
    rows = [
        Row("quick & short", {}, {"ratio": Ratio(0.4, 0.4, 0.4)}, 0.5),
        Row("slow", {}, {"ratio": Ratio(8.0, 7.0, 9.0)}, 1.0),
    ]
    drawn = ElementTree.fromstring(Result("some", "Some", rows).picture())
    bars = [each for each in drawn.iter(f"{SVG}rect") if each.get("y")]
    quick, slow = (float(each.attrib["width"]) for each in bars)
    assert quick < slow
    assert bars[0].get("fill") != bars[1].get("fill")
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert {"Some", "quick & short", "slow", "0.40", "8.00"} <= set(texts)


def test_a_picture_of_curves_is_level_where_cost_stays_the_same() -> None:
    curves = {"level": [(10.0, 3.0), (1000.0, 3.0)], "linear": [(10.0, 3.0), (1000.0, 300.0)]}
    drawn = ElementTree.fromstring(Result("some", "Some", [], {}, curves).picture())
    level, linear = (
        [float(point.split(",")[1]) for point in line.attrib["points"].split()]
        for line in drawn.iter(f"{SVG}polyline")
    )
    assert level[0] == level[1]
    assert linear[0] > linear[1]  # upwards


@pytest.mark.parametrize("growth", GROWTHS, ids=lambda growth: growth.what)
def test_what_grows_is_measured(growth: Growth, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROUNDS", "LOOPS", "WARMING_UP"):
        monkeypatch.setattr(growths, name, 1)
    if "cases" not in growth.what:  # which takes a torch to compare with
        assert growth.measure(xp, growth.sizes[0]) > 0


def test_a_training_step_lowers_the_loss() -> None:
    step = training.step_of(xp)
    first, *_, last = [step() for _ in range(4)]
    assert last < first
