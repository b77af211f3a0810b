"""The commands of the command line, one module each.

A module has ``HELP``, ``configure(parser)`` and ``run(options)``, which returns an exit status.
What mirrors a release is imported in ``run`` alone: the profile must be chosen before.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final, Protocol

from conformance.commands import (
    compare,
    drift,
    list_,
    merge,
    record,
    replay,
    report,
    reproduce,
    run,
    show,
)


class Command(Protocol):
    """What each module is."""

    HELP: str

    def configure(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        ...

    def run(self, options: Namespace) -> int:
        """Do it; the exit status."""
        ...


COMMANDS: Final[dict[str, Command]] = {
    "run": run,
    "replay": replay,
    "record": record,
    "reproduce": reproduce,
    "show": show,
    "list": list_,
    "compare": compare,
    "drift": drift,
    "merge": merge,
    "report": report,
}
