"""One pass over cases in the torch that is installed: a process, started afresh.

``python -m conformance.recorded.passes DIRECTORY --worker k/n AREA…`` runs the k-th of n parts of
the areas' batches and writes a file for each, so that what an interrupted pass had is there for the
next one; ``--known RECORDING`` leaves out the cases of that.  A recording is made of two passes:
processes that share nothing, and whose strings hash differently, so that what depends on an address
or on the order of a set shows.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance import oracle as oracles
from conformance.area import Area
from conformance.case import Case
from conformance.outcome import Outcome
from conformance.recorded.area import Missing
from conformance.recorded.recording import Recording, Source
from conformance.report.atomic import write_bytes, write_text
from conformance.shard import Shard
from mindtorch_v2.profile import Profile

if TYPE_CHECKING:
    from conformance.runner import Runner

BATCH_SIZE: Final = 4000  # what torch imports late, each part imports anew
MADE_BY: Final = "made-by.json"


@dataclass(frozen=True, slots=True)
class Part:
    """Some consecutive cases of an area, and the file of a pass that has their outcomes."""

    area: str
    index: int
    cases: Sequence[Case]

    @property
    def name(self) -> str:
        return f"{self.area}-{self.index:04}.json.gz"

    @property
    def digest(self) -> str:
        """Of all that the outcomes depend on: a file of other cases does not count."""
        told = json.dumps([[case.text, case.isolation, case.warnings] for case in self.cases])
        return hashlib.sha256(told.encode()).hexdigest()


def wanted(area: Area, profile: Profile, known: Recording | None) -> list[Case]:
    """The cases that a pass runs: all of the area, or those of which ``known`` knows nothing."""
    cases = area.cases(profile)
    if known is None or area.name not in known.areas:
        return list(cases)
    asked = known.area(area.name).ask(cases)
    return [case for case, answer in asked if answer is Missing.UNRECORDED]


def parts(area: Area, cases: Iterable[Case]) -> Iterator[Part]:
    """``cases`` in parts, in their order."""
    listed = list(cases)
    for index, start in enumerate(range(0, len(listed), BATCH_SIZE)):
        yield Part(area.name, index, listed[start : start + BATCH_SIZE])


class Pass:
    """The directory of one pass: a file for each part that was run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def begin(self, source: Source) -> None:
        """Keep what is there if this torch and this suite made it, and nothing else."""
        made_by = json.dumps([asdict(source), suite_digest()])
        path = self.directory / MADE_BY
        if not path.exists() or path.read_text() != made_by:
            self.clear()
            write_text(path, [made_by])

    def clear(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def write(self, part: Part, outcomes: Iterable[Outcome]) -> None:
        lines = [json.dumps(outcome.to_json()) for outcome in outcomes]
        text = "\n".join([part.digest, *lines])
        write_bytes(self.directory / part.name, [gzip.compress(text.encode(), 3)])

    def read(self, part: Part) -> list[Outcome] | None:
        """The outcomes of ``part``, or None if it was not run, or as other cases."""
        path = self.directory / part.name
        if not path.exists():
            return None
        digest, *lines = gzip.decompress(path.read_bytes()).decode().split("\n")
        if digest != part.digest:
            return None
        return [Outcome.from_json(json.loads(line)) for line in lines]

    def forget(self, part: Part) -> None:
        (self.directory / part.name).unlink(missing_ok=True)

    def has(self, part: Part) -> bool:
        path = self.directory / part.name
        if not path.exists():
            return False
        with gzip.open(path, "rt") as lines:
            return lines.readline().rstrip("\n") == part.digest


def suite_digest() -> str:
    """Of the modules that run, describe and normalise: other ones may bring other outcomes."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main() -> int:
    """Run what the arguments say; prints a line of JSON for each part that is there."""
    parser = argparse.ArgumentParser(prog="python -m conformance.recorded.passes")
    parser.add_argument("directory", type=Path)
    parser.add_argument("areas", nargs="*", help="without any: say which torch is installed")
    parser.add_argument("--worker", type=Shard.parse, default=Shard(1, 1))
    parser.add_argument("--known", type=Path, help="a recording whose cases are left out")
    options = parser.parse_args()
    if not options.areas:
        print(json.dumps(asdict(source())))
        return 0
    oracles.choose_profile()
    with suppress(KeyboardInterrupt):
        known = None if options.known is None else Recording.load(options.known)
        _run(Pass(options.directory), options.areas, options.worker, known)
        return 0
    return 130


def _run(kept: Pass, areas: Sequence[str], worker: Shard, known: Recording | None) -> None:
    from conformance.cases import BY_NAME  # the profile must be chosen before
    from conformance.runner import Runner
    from mindtorch_v2 import profile as profiles

    runner = Runner.live()  # with mindtorch_v2, which is not asked: an oracle may lack no name
    for area in map(BY_NAME.__getitem__, areas):
        listed = list(parts(area, wanted(area, profiles.active(), known)))
        for part in worker.of(listed):
            if not kept.has(part):
                kept.write(part, asked(runner, part.cases))
            print(json.dumps({"area": area.name, "cases": len(part.cases)}), flush=True)


def asked(runner: Runner, cases: Sequence[Case]) -> Iterator[Outcome]:
    """What the oracle of ``runner``, a live one, does with each case."""
    from conformance.execute import parse_all
    from conformance.normalise import BOTH_SIDES, normalise

    assert runner.oracle is not None
    parsed = parse_all(cases, runner.vocabulary)
    for outcome in runner.outcomes(runner.oracle, cases, parsed):
        yield normalise(outcome, BOTH_SIDES)


def source() -> Source:
    """The facts of the torch that is installed; imports it."""
    live = oracles.live()
    torch = live.module()
    return Source(
        release=live.release,
        full_version=live.full_version,
        git_hash=live.git_hash,
        build=_build(str(torch.__config__.show())),
        platform=live.platform,
        python=platform.python_version(),
        numpy=version("numpy"),
    )


def _build(shown: str) -> str:
    """In one line, with compilers by their names: where they lay is nobody's business."""
    return " ".join(re.sub(r"(?<==)/\S*/", "", shown).split())


if __name__ == "__main__":
    sys.exit(main())
