"""What commands share: exit statuses, options, and what goes to which stream.

Results go to stdout, everything else to stderr.  ``--json`` makes the result one JSON document.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress

from conformance.case import OWN_SUBJECT
from conformance.report.terminal import UNBOUNDED
from conformance.shard import Shard

AGREE: Final = 0
DIFFER: Final = 1
UNUSABLE: Final = 2
"""There is nothing to run, to read or to compare with; stderr says why."""
INTERRUPTED: Final = 130

STATUSES: Final = (
    "exit status: 0 all agree, 1 something differs, 2 it could not be done, 130 interrupted"
)


def json_option(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def reports_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--reports", type=Path, default=Path("reports"), help="where reports are (%(default)s/)"
    )


def suite_options(parser: ArgumentParser) -> None:
    """Of the commands that run the suite."""
    parser.add_argument("areas", nargs="*", metavar="AREA", help="these alone (`conformance list`)")
    parser.add_argument(
        "--subject", default=OWN_SUBJECT, help="the torch-like module to judge (%(default)s)"
    )
    parser.add_argument(
        "--shard",
        type=Shard.parse,
        metavar="K/N",
        help="run the K-th of N parts; `conformance merge` joins them",
    )
    parser.add_argument(
        "--batch-size", type=int, metavar="N", help="cases that one process runs in a row"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes (%(default)s)")
    reports_option(parser)
    json_option(parser)


def console() -> Console:
    """For results.  In a file or a pipe no line is wrapped and no cell cut."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else UNBOUNDED)


def say(text: str) -> None:
    """To stderr, as it is."""
    print(text, file=sys.stderr, flush=True)


def progress() -> Progress:
    """A bar on stderr, where that is a terminal, and else nothing."""
    return Progress(console=Console(stderr=True), disable=not sys.stderr.isatty())


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=1))


def check_areas(options: Namespace) -> list[str]:
    """The areas that are asked for, or all; exits with a message that names one there is not."""
    from conformance.cases import BY_NAME

    unknown = [name for name in options.areas if name not in BY_NAME]
    if unknown:
        raise UsageError(
            f"no area is called {', '.join(map(repr, unknown))}; there are {', '.join(BY_NAME)}"
        )
    return list(dict.fromkeys(options.areas)) or list(BY_NAME)


class UsageError(ValueError):
    """The arguments ask for what there is not; the message says what there is."""
