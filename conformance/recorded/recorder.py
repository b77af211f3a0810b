"""Records a release: two passes side by side, in processes of their own, and what they agree in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from conformance import oracle as oracles
from conformance.area import Area
from conformance.case import Case
from conformance.closeness import close
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, AreaRecording, Missing, RecordingError
from conformance.recorded.difference import Difference
from conformance.recorded.passes import Pass, parts, wanted
from conformance.recorded.recording import Recording, Source, add, check_source
from conformance.shard import Shard
from mindtorch_v2.profile import Profile
from mindtorch_v2.version import __version__

PASSES: Final = (1, 2)

Told = Callable[[str, int], None]
"""Told of an area, or of a part of it that is there, and how many cases it has."""


@dataclass(frozen=True)
class Recorder:
    """Records areas of the torch that is installed into ``target``.

    ``work`` keeps what the passes have so far: a recording that was interrupted goes on there.
    ``missing`` leaves what ``target`` has as it is, and runs the cases that it knows nothing of.
    """

    profile: Profile
    target: Path
    work: Path
    jobs: int = 2
    missing: bool = False

    def record(self, areas: Sequence[Area], planned: Told, advance: Told) -> Iterator[Recording]:
        """Run both passes, then put area by area into the recording."""
        source = installed()
        known = self._known(source)
        passes = [Pass(self.work / f"pass-{number}") for number in PASSES]
        self._run(passes, source, areas, known, planned, advance)
        for area in areas:
            yield self._assemble(area, source, passes, known)

    def _known(self, source: Source) -> Recording | None:
        """What need not be run: nothing, unless what is missing is asked for."""
        if not self.missing:
            return None
        known = Recording.load(self.target)
        check_source(known, source)
        return known

    def check(self, areas: Sequence[Area], planned: Told, advance: Told) -> Iterator[Difference]:
        """Run one pass, and say where it differs from what is recorded of these areas."""
        recording = Recording.load(self.target)
        kept = Pass(self.work / "check")
        kept.clear()  # what somebody recorded yesterday checks nothing today
        self._run([kept], installed(), areas, None, planned, advance)
        oracle = oracles.RecordedOracle(recording)
        for area in areas:
            cases = list(area.cases(self.profile))
            live = _outcomes(area, kept, list(parts(area, cases)))
            for (case, answer), outcome in zip(oracle.ask(area.name, cases), live, strict=True):
                if differs(case, answer, outcome):
                    yield Difference(case, answer, outcome)

    def _run(
        self,
        passes: Sequence[Pass],
        source: Source,
        areas: Sequence[Area],
        known: Recording | None,
        planned: Told,
        advance: Told,
    ) -> None:
        for each in passes:
            each.begin(source)
        for area in areas:
            planned(area.name, len(wanted(area, self.profile, known)))
        run(passes, areas, max(1, self.jobs // len(passes)), known, advance)

    def _assemble(
        self, area: Area, source: Source, passes: Sequence[Pass], known: Recording | None
    ) -> Recording:
        run = wanted(area, self.profile, known)
        cases = list(area.cases(self.profile))
        there = None if known is None else known.areas.get(area.name)
        if there is not None and there.cases == len(cases) and not run:
            return Recording.load(self.target)  # its file stays as it is, date and all
        made = list(parts(area, run))
        first, second = (_outcomes(area, kept, made) for kept in passes)
        settled = map(settle, run, first, second)
        answers = list(settled if known is None else _filled(area, cases, known, settled))
        dropped = [
            case.id
            for case, answer in zip(cases, answers, strict=True)
            if answer is Missing.NONDETERMINISTIC
        ]
        facts: dict[str, Any] = {
            "cases": len(cases),
            "nondeterministic": tuple(dropped),
            "suite": __version__,
            "recorded": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        recording = add(self.target, source, AreaRecording.of(area.name, cases, answers), facts)
        for kept in passes:
            for part in made:
                kept.forget(part)
        return recording


def _filled(
    area: Area, cases: Sequence[Case], known: Recording, found: Iterator[Answer]
) -> Iterator[Answer]:
    """What is known of each case, and what was found for those of which nothing is."""
    if area.name not in known.areas:
        yield from found
        return
    for _, answer in known.area(area.name).ask(cases):
        yield next(found) if answer is Missing.UNRECORDED else answer


def settle(case: Case, first: Outcome, second: Outcome) -> Answer:
    """What two passes agree in.  A case that may differ a little may do so between them."""
    same = first == second or (case.close and close(first, second))
    return first if same else Missing.NONDETERMINISTIC


def differs(case: Case, recorded: Answer | None, outcome: Outcome) -> bool:
    """Whether a recording does not hold for a case; of one that it dropped it says nothing."""
    if isinstance(recorded, Outcome):
        return isinstance(settle(case, recorded, outcome), Missing)
    return recorded is not Missing.NONDETERMINISTIC


def installed() -> Source:
    """The facts of the torch that is installed, which a process of its own imports."""
    command = [sys.executable, "-m", "conformance.recorded.passes", os.devnull]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Source(**json.loads(told))


def run(
    passes: Sequence[Pass],
    areas: Sequence[Area],
    workers: int,
    known: Recording | None,
    advance: Told,
) -> None:
    """Every part of every pass, by ``workers`` processes for each pass; those that run already
    are told of as well, and what is ``known`` is left out.  RecordingError if a process fails; the
    others are ended."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(_start(kept, seed, areas, Shard(index, workers), known))
            for seed, kept in enumerate(passes, 1)
            for index in range(1, workers + 1)
        ]
        threads = stack.enter_context(ThreadPoolExecutor(len(processes)))
        try:
            listening = [threads.submit(_listen, process, advance) for process in processes]
            for done in as_completed(listening):
                done.result()
        finally:
            for process in processes:
                process.terminate()


def _start(
    kept: Pass, seed: int, areas: Sequence[Area], worker: Shard, known: Recording | None
) -> subprocess.Popen[str]:
    names = [area.name for area in areas]
    command = [
        *(sys.executable, "-W", "ignore", "-m", "conformance.recorded.passes"),
        *(str(kept.directory), *names, "--worker", str(worker)),
        *(("--known", str(known.directory)) if known else ()),
    ]
    # Sets of strings have another order in each pass.
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    environment.pop(oracles.RECORDING_VARIABLE, None)
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _listen(process: subprocess.Popen[str], advance: Told) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        advance(told["area"], told["cases"])
    if process.wait() != 0:
        raise RecordingError(f"a pass ended with status {process.returncode}")


def _outcomes(area: Area, kept: Pass, made: Iterable[Any]) -> Iterator[Outcome]:
    for part in made:
        outcomes = kept.read(part)
        if outcomes is None:
            raise RecordingError(f"{area.name}: {part.name} is missing in {kept.directory}")
        yield from outcomes
