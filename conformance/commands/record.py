"""``conformance record``: keep what the torch that is installed answers, or check what was kept."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from conformance import oracle
from conformance.commands.common import (
    AGREE,
    DIFFER,
    check_areas,
    console,
    json_option,
    print_json,
    progress,
    reports_option,
)
from conformance.recorded.difference import Difference
from conformance.recorded.recording import RECORDINGS, Recording

HELP = "record what the installed torch answers, twice; or check that a recording still holds"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("areas", nargs="*", metavar="AREA", help="these alone (all)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--check", action="store_true", help="run once, and compare with what is recorded"
    )
    how.add_argument(
        "--missing", action="store_true", help="record the cases alone that the recording has not"
    )
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count() or 2, help="processes (%(default)s)"
    )
    reports_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    oracle.choose_profile()
    from conformance.cases import BY_NAME
    from conformance.recorded.recorder import Recorder
    from mindtorch_v2 import profile as profiles

    live = oracle.live()
    areas = [BY_NAME[name] for name in check_areas(options)]
    recorder = Recorder(
        profiles.active(),
        options.recordings / live.release,
        options.reports / "recording" / f"torch-{live.version}",
        options.jobs,
        options.missing,
    )
    with progress() as bar:
        tasks = {area.name: bar.add_task(area.name, total=None) for area in areas}
        passes = 1 if options.check else 2

        def planned(area: str, cases: int) -> None:
            bar.update(tasks[area], total=passes * cases)

        def advance(area: str, cases: int) -> None:
            bar.update(tasks[area], advance=cases)

        if options.check:
            differences = list(recorder.check(areas, planned, advance))
        else:
            recordings = list(recorder.record(areas, planned, advance))
    return _checked(differences, options) if options.check else _made(recordings[-1], options)


def _made(recording: Recording, options: Namespace) -> int:
    """Say what is recorded now."""
    dropped = sum(len(facts.nondeterministic) for facts in recording.areas.values())
    if options.json:
        print_json(
            {
                "directory": str(recording.directory),
                "source": asdict(recording.source),
                "cases": recording.cases,
                "nondeterministic": dropped,
                "bytes": recording.bytes,
            }
        )
    else:
        console().print(
            f"{recording.directory}: {recording.cases:,} cases of PyTorch "
            f"{recording.source.full_version} in {recording.bytes:,} bytes; {dropped:,} of them "
            "dropped, since they did not end the same way twice",
            markup=False,
        )
    return AGREE


def _checked(differences: list[Difference], options: Namespace) -> int:
    """Say where the torch that is installed and its recording part."""
    if options.json:
        print_json([difference.to_json() for difference in differences])
    else:
        for difference in differences:
            console().print(str(difference), markup=False)
        console().print(
            f"{len(differences):,} cases differ from the recording."
            if differences
            else "The recording holds."
        )
    return DIFFER if differences else AGREE
