"""What a recorded release answers, told by a process of its own.

Which cases there are depends on the release: they are made of its profile's schemas, by the parser
that knows its types.  A process has one profile, so each release is asked in one that has chosen
its own.  ``python -m conformance.drift.answers RECORDING AREA…`` prints a line of JSON for each
case that came back, and ``null`` after each area.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from conformance import oracle as oracles
from conformance.oracle import RecordedOracle
from conformance.outcome import Outcome
from conformance.recorded.area import Missing

if TYPE_CHECKING:
    from conformance.area import Area
    from mindtorch_v2.profile import Profile


class AnswersError(RuntimeError):
    """The process that was asked ended before it had told all."""


class Told(NamedTuple):
    """A case that came back, and what came of it."""

    id: str
    text: str
    outcome: Outcome


class Answers:
    """The answers of one release, area after area, as a process tells them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def area(self) -> Iterator[Told]:
        """The next area's; AnswersError if the process ends before the area does."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if told is None:
                return
            id, text, outcome = told
            yield Told(id, text, Outcome.from_json(outcome))
        raise AnswersError(f"{self._process.args!r} ended with status {self._process.wait()}")


@contextmanager
def asked(oracle: RecordedOracle, areas: Sequence[str]) -> Iterator[Answers]:
    """Ask a recording for areas that it has; the process is ended with the context."""
    directory = str(Path(oracle.recording.directory).resolve())
    command = [sys.executable, "-m", "conformance.drift.answers", directory, *areas]
    environment = {**os.environ, oracles.RECORDING_VARIABLE: directory}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Answers(process)
        finally:
            process.terminate()


def survived(area: Area, oracle: RecordedOracle, profile: Profile) -> Iterator[Told]:
    """Every case of an area that came back."""
    for case, answer in oracle.ask(area.name, area.cases(profile)):
        if answer is not None and not isinstance(answer, Missing) and answer.survived:
            yield Told(case.id, case.text, answer)


def lines(areas: Iterable[Area], oracle: RecordedOracle, profile: Profile) -> Iterator[str]:
    """What :class:`Answers` reads."""
    for area in areas:
        for told in survived(area, oracle, profile):
            yield json.dumps([told.id, told.text, told.outcome.to_json()])
        yield json.dumps(None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance.drift.answers")
    parser.add_argument("recording", type=Path)
    parser.add_argument("areas", nargs="+")
    options = parser.parse_args()
    oracles.choose_profile()
    from conformance.cases import BY_NAME  # the profile must be chosen before
    from mindtorch_v2 import profile as profiles

    recorded = oracles.recorded(str(options.recording))
    for line in lines(map(BY_NAME.__getitem__, options.areas), recorded, profiles.active()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
