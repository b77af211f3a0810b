"""``conformance report``: the views of a run again, from its JSON."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from conformance import report, suite
from conformance.commands.common import (
    AGREE,
    DIFFER,
    UsageError,
    console,
    json_option,
    print_json,
    reports_option,
)
from conformance.report import json_report, terminal

HELP = "write the views of stored reports again, and show them here"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", type=Path, help="reports (all torch-*.json of --reports)"
    )
    reports_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    files = options.files or sorted(options.reports.glob("torch-*.json"))
    if not files:
        raise UsageError(f"there is no report in {options.reports}/")
    runs = [json_report.read(path) for path in files]
    for each in runs:
        report.write(each, options.reports)
        if not options.json:
            terminal.render(each, console())
    if options.json:
        print_json([suite.summary(each, options.reports) for each in runs])
    return AGREE if all(each.passed for each in runs) else DIFFER
