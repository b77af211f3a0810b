"""The command line: ``python -m conformance reproduce 'LINE'``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from conformance.oracle import NoOracleError, choose_profile


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0 agree, 1 differ, 2 no such case or oracle."""
    options = _parser().parse_args(arguments)
    try:
        choose_profile()
    except NoOracleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # Imported late: the subject reads its profile when it is first imported.
    from conformance.reproduce import reproduce

    console = Console(highlight=False)
    return reproduce(options.case, options.subject, options.reports, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance",
        description="Holds mindtorch_v2 against real PyTorch; the suite itself is a pytest suite.",
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    again = commands.add_parser(
        "reproduce", help="run one case in both sides and show them side by side"
    )
    again.add_argument("case", help="the text of a case, or its id (area/target/hash)")
    again.add_argument("--subject", default="mindtorch_v2", help="module to judge (%(default)s)")
    again.add_argument(
        "--reports", type=Path, default=Path("reports"), help="where runs recorded (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
