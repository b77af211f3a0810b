"""``conformance list``: areas, recordings, or the cases of an area."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from conformance import oracle
from conformance.commands.common import AGREE, UsageError, json_option, print_json
from conformance.recorded.recording import RECORDINGS, Recording, known

HELP = "list the areas, the recordings, or the cases of an area"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="areas|recordings|AREA", help="what there is, or an area for its cases"
    )
    parser.add_argument(
        "--profile", default="2.4", help="of an area's cases: those for this profile (%(default)s)"
    )
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    json_option(parser)


def run(options: Namespace) -> int:
    os.environ[oracle.PROFILE_VARIABLE] = options.profile
    if options.what == "recordings":
        return _recordings(options)
    from conformance.cases import BY_NAME
    from mindtorch_v2 import profile as profiles

    if options.what == "areas":
        if options.json:
            print_json(list(BY_NAME))
        else:
            print(*BY_NAME, sep="\n")
        return AGREE
    if options.what not in BY_NAME:
        raise UsageError(f"no area is called {options.what!r}; there are {', '.join(BY_NAME)}")
    cases = BY_NAME[options.what].cases(profiles.load(options.profile))
    if options.json:
        print_json([case.to_json() for case in cases])
    else:
        for case in cases:
            print(case.id, case.text.encode("unicode_escape").decode(), sep="\t")
    return AGREE


def _recordings(options: Namespace) -> int:
    found = [Recording.load(options.recordings / release) for release in known(options.recordings)]
    if options.json:
        print_json(
            [
                {
                    "source": asdict(each.source),
                    "areas": {name: asdict(facts) for name, facts in each.areas.items()},
                    "bytes": each.bytes,
                }
                for each in found
            ]
        )
        return AGREE
    for each in found:
        dropped = sum(len(facts.nondeterministic) for facts in each.areas.values())
        print(
            f"{each.source.full_version}: {each.cases:,} cases of {len(each.areas)} areas, "
            f"{dropped:,} dropped, {each.bytes:,} bytes"
        )
    return AGREE
