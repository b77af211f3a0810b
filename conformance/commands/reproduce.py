"""``conformance reproduce``: one case again, both sides beside each other."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from rich.console import Console

from conformance import oracle
from conformance.case import OWN_SUBJECT
from conformance.commands.common import json_option, reports_option

HELP = "run one case in both sides and show them side by side"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("case", help="the text of a case, or its id (area/target/hash)")
    parser.add_argument("--subject", default=OWN_SUBJECT, help="module to judge (%(default)s)")
    parser.add_argument(
        "--torch",
        metavar="RELEASE",
        help="compare with the recording of this release, or in this directory (the torch that "
        "is installed)",
    )
    reports_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    if options.torch:
        os.environ[oracle.RECORDING_VARIABLE] = options.torch
    oracle.choose_profile()
    # Imported late: the subject reads its profile when it is first imported.
    from conformance.reproduce import reproduce

    screen = Console(highlight=False)  # two columns side by side need a width
    return reproduce(options.case, options.subject, options.reports, screen, options.json)
