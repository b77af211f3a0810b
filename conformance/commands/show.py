"""``conformance show``: what is recorded of a case, release by release; nothing runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from rich.text import Text

from conformance import oracle
from conformance.commands.common import (
    AGREE,
    UNUSABLE,
    UsageError,
    console,
    json_option,
    print_json,
    say,
)
from conformance.outcome import Outcome
from conformance.recorded.area import Missing
from conformance.recorded.recording import RECORDINGS, known

HELP = "show what each recorded release answers to a case, without running anything"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("case", help="the text of a case, or its id (area/target/hash)")
    parser.add_argument("--torch", metavar="RELEASE", help="this release alone")
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    json_option(parser)


def run(options: Namespace) -> int:
    if options.torch:
        found = _recorded_of(options.recordings, options.case, options.torch)
    else:
        ask = partial(_in_a_process, options.recordings, options.case)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            found = list(chain.from_iterable(threads.map(ask, known(options.recordings))))
    if options.json:
        print_json(found)
    for each in found if not options.json else ():
        console().print(Text(f"PyTorch {each['torch']}  {each['case']['id']}", style="bold"))
        outcome = each["outcome"]
        said = each["missing"] if outcome is None else str(Outcome.from_json(outcome))
        console().print(Text(str(said)))
    if not found:
        say(f"no recording in {options.recordings} has the case {options.case!r}")
    return AGREE if found else UNUSABLE


def _in_a_process(recordings: Path, wanted: str, release: str) -> list[dict[str, Any]]:
    """A release's cases are made of its facts, which are chosen once in a process."""
    command = [sys.executable, "-m", "conformance", "show", "--json", "--torch", release]
    done = subprocess.run(
        [*command, "--recordings", str(recordings), "--", wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise UsageError(f"{release}: {done.stderr.strip()}")
    answered: list[dict[str, Any]] = json.loads(done.stdout)
    return answered


def _recorded_of(recordings: Path, wanted: str, release: str) -> list[dict[str, Any]]:
    """What a release answers to the cases of this text or id."""
    recorded = oracle.recorded(str(recordings / release))
    os.environ[oracle.PROFILE_VARIABLE] = recorded.profile

    from conformance.reproduce import areas_of
    from mindtorch_v2 import profile as profiles

    return [
        {
            "torch": release,
            "case": case.to_json(),
            "outcome": answer.to_json() if isinstance(answer, Outcome) else None,
            "missing": answer.value if isinstance(answer, Missing) else None,
        }
        for area in areas_of(wanted)
        if area.name in recorded.recording.areas
        for case, answer in recorded.ask(area.name, area.cases(profiles.active()))
        if wanted in (case.id, case.text)
    ]
