"""The command line: ``conformance COMMAND …``, or ``python -m conformance COMMAND …``."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from conformance.commands import COMMANDS
from conformance.commands.common import INTERRUPTED, STATUSES, UNUSABLE, UsageError, say
from conformance.ledger import LedgerError
from conformance.merge import MergeError
from conformance.oracle import NoOracleError
from conformance.recorded.area import RecordingError
from conformance.report import ReportError
from conformance.suite import SuiteError

PIPE_CLOSED = 128 + signal.SIGPIPE
"""What a shell makes of a program that wrote where nobody reads any more."""
EXPECTED = (
    *(LedgerError, MergeError, NoOracleError, RecordingError, ReportError, SuiteError),
    *(UsageError, OSError),
)
"""What is wrong with the outside, and says it in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(arguments)
    try:
        status = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads has read enough; Python would complain at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except EXPECTED as error:
        say(f"error: {error}")
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="conformance",
        description="Holds mindtorch_v2 against PyTorch: live, or by recordings of its releases.",
        epilog=f"{STATUSES}. `conformance COMMAND --help` has the arguments.",
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name, help=command.HELP, description=command.__doc__, epilog=STATUSES
        )
        command.configure(sub)
    return made


if __name__ == "__main__":
    sys.exit(main())
