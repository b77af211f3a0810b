"""What hypothesis draws under one seed, whatever else the process has loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_DRAW = """
import sys
from hypothesis import given, seed, settings, strategies
from conformance import draws

if "seed" in sys.argv:
    draws.follow_from_the_seed()
if "literals" in sys.argv:
    import some_literals

@seed(7)
@settings(database=None, max_examples=300)
@given(strategies.integers(0, 10**9))
def draw(number):
    print(number)

draw()
"""


@pytest.fixture
def literals(tmp_path: Path) -> Path:
    """A directory with a module of many numbers, as a project's own modules have them."""
    numbers = ", ".join(str(123_456_000 + n) for n in range(200))
    (tmp_path / "some_literals.py").write_text(f"NUMBERS = ({numbers})\n")
    return tmp_path


def _drawn(directory: Path, *words: str) -> str:
    script = directory / "draw.py"
    script.write_text(_DRAW)
    run = [sys.executable, str(script), *words]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout


def test_modules_that_are_loaded_change_nothing(literals: Path) -> None:
    assert _drawn(literals, "seed", "literals") == _drawn(literals, "seed")


def test_of_its_own_accord_hypothesis_draws_their_literals(literals: Path) -> None:
    assert _drawn(literals, "literals") != _drawn(literals)
