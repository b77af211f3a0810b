"""``conformance show``: what is recorded of a case, release by release; nothing runs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rich.text import Text

from conformance import oracle
from conformance.commands.common import AGREE, UNUSABLE, console, json_option, print_json, say
from conformance.recorded.area import Missing
from conformance.recorded.recording import RECORDINGS, known

HELP = "show what each recorded release answers to a case, without running anything"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("case", help="the text of a case, or its id (area/target/hash)")
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    json_option(parser)


def run(options: Namespace) -> int:
    from conformance.reproduce import areas_of
    from mindtorch_v2 import profile as profiles

    found = []
    for release in known(options.recordings):
        recorded = oracle.recorded(str(options.recordings / release))
        profile = profiles.load(recorded.profile)
        for area in areas_of(options.case):
            if area.name not in recorded.recording.areas:
                continue
            for case, answer in recorded.ask(area.name, area.cases(profile)):
                if options.case in (case.id, case.text):
                    found.append((release, case, answer))
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
