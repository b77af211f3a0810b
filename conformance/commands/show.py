"""``conformance show``: what is recorded of a case, release by release; nothing runs."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from rich.text import Text

from conformance import oracle
from conformance.case import Case
from conformance.commands.common import AGREE, UNUSABLE, console, json_option, print_json, say
from conformance.recorded.area import Answer, Missing
from conformance.recorded.recording import RECORDINGS, known

_Found = tuple[str, Case, Answer | None]
"""What a release answers to a case."""

HELP = "show what each recorded release answers to a case, without running anything"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("case", help="the text of a case, or its id (area/target/hash)")
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    json_option(parser)


def run(options: Namespace) -> int:
    look = partial(_in_a_process, options.recordings, options.case)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(chain.from_iterable(threads.map(look, known(options.recordings))))
    if options.json:
        print_json(
            [
                {
                    "torch": release,
                    "case": case.to_json(),
                    "outcome": None
                    if answer is None or isinstance(answer, Missing)
                    else answer.to_json(),
                }
                for release, case, answer in found
            ]
        )
    for release, case, answer in found if not options.json else ():
        console().print(Text(f"PyTorch {release}  {case.id}", style="bold"))
        console().print(Text(answer.value if isinstance(answer, Missing) else str(answer)))
    if not found:
        say(f"no recording in {options.recordings} has the case {options.case!r}")
    return AGREE if found else UNUSABLE


def _in_a_process(recordings: Path, wanted: str, release: str) -> list[_Found]:
    """A release's cases are made of its facts, which are chosen once in a process."""
    profile = oracle.recorded(str(recordings / release)).profile
    with ProcessPoolExecutor(1, get_context("spawn"), _choose, (profile,)) as worker:
        return worker.submit(_look, recordings, wanted, release).result()


def _choose(profile: str) -> None:
    os.environ[oracle.PROFILE_VARIABLE] = profile


def _look(recordings: Path, wanted: str, release: str) -> list[_Found]:
    from conformance.reproduce import areas_of
    from mindtorch_v2 import profile as profiles

    recorded = oracle.recorded(str(recordings / release))
    return [
        (release, case, answer)
        for area in areas_of(wanted)
        if area.name in recorded.recording.areas
        for case, answer in recorded.ask(area.name, area.cases(profiles.active()))
        if wanted in (case.id, case.text)
    ]
