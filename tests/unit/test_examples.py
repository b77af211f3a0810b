"""What hypothesis finds is kept, in a directory or as an artifact, and tried first."""

from __future__ import annotations

import zipfile
from datetime import datetime, timezone
from pathlib import Path

import pytest
from fakes.small_suite import SmallSuite

RARE = {"texts": ["1"], "DRAWN_TO": str(10**8), "WRONG_AT": "54321"}
"""One number of a hundred million is wrong: who meets it had it from somewhere."""


def test_what_is_kept_as_an_example_is_tried_first(suite: SmallSuite) -> None:
    drawn = ("-k", "drawn", "--hypothesis-profile=dev")
    kept = ("--examples", "kept")
    common = {"texts": ["1"], "DRAWN_TO": str(10**8)}
    status, printed = suite.run(*drawn, *kept, **common, WRONG_FROM="54321")
    assert status == 1, printed
    status, printed = suite.run(*drawn, **RARE)
    assert status == 0, printed
    status, printed = suite.run(*drawn, *kept, **RARE)
    assert status == 1, printed
    assert [c.case.text for c in suite.report.areas[0].differing] == ["xp.mul(54321, 3)"]
    _upload(suite.directory / "kept", suite.directory / ".hypothesis")
    status, printed = suite.run(*drawn, "--examples=github:somebody/something", **RARE)
    assert status == 1, printed
    assert [c.case.text for c in suite.report.areas[0].differing] == ["xp.mul(54321, 3)"]


def _upload(kept: Path, storage: Path) -> None:
    """Put a directory where hypothesis looks for an artifact that it has downloaded today."""
    now = datetime.now(timezone.utc).isoformat().replace(":", "_")
    target = storage / "github-artifacts" / "hypothesis-example-db" / now
    target.parent.mkdir(parents=True)
    with zipfile.ZipFile(f"{target}.zip", "w") as packed:
        for path in kept.rglob("*"):
            packed.write(path, path.relative_to(kept))


def test_areas_keep_their_examples_apart(suite: SmallSuite) -> None:
    """A find of one area would mean nothing to another, which would forget it."""
    other = suite.directory / "suite"
    (other / "test_other.py").write_text(
        (other / "test_tiny.py").read_text().replace('"tiny"', '"other"')
    )
    with (other / "conftest.py").open("a") as file:
        file.write('BY_NAME["other"] = Area("other", lambda profile: TEXTS, lambda profile: DRAWN)')
    kept = ("--hypothesis-profile=dev", "--examples=kept")
    common = {"texts": ["1"], "DRAWN_TO": str(10**8)}
    suite.run("-k", "drawn and other", *kept, **common, WRONG_FROM="54321")
    status, printed = suite.run("-k", "drawn", *kept, **RARE)
    assert status == 1, printed
    areas = {area.name: len(area.differing) for area in suite.report.areas}
    assert areas == {"other": 1, "tiny": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--hypothesis-profile=ci", "--examples=kept"), "draws the same cases every time"),
        (("--hypothesis-profile=dev", "--examples=github:me"), "is not of the form github:OWNER/"),
    ],
)
def test_examples_that_cannot_be_kept_are_a_usage_error(
    suite: SmallSuite, options: tuple[str, ...], message: str
) -> None:
    status, printed = suite.run(*options, texts=["1"])
    assert status == pytest.ExitCode.USAGE_ERROR
    assert message in printed
