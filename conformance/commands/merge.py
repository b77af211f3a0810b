"""``conformance merge``: the reports of a run's shards become that of the run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from conformance import report, suite
from conformance.commands.common import (
    AGREE,
    DIFFER,
    console,
    json_option,
    print_json,
    reports_option,
    say,
)
from conformance.ledger import LEDGER_FILE
from conformance.merge import MergeError, find, join_outcomes, runs, with_stale
from conformance.recorded.recording import known
from conformance.report import terminal

HELP = "join the shards of a run into one report; a lost shard is named, and fails"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "shards", nargs="+", type=Path, help="reports of shards, or directories that hold them"
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="RELEASE",
        help="fail if there is no shard of this release at all; again for more",
    )
    parser.add_argument(
        "--expect-recorded", action="store_true", help="the same for every recorded release"
    )
    reports_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    paths = find(options.shards)
    if not paths:
        raise MergeError("no report of a shard is there: all of them are lost")
    merged = [with_stale(each, LEDGER_FILE) for each in runs(paths)]
    for each in merged:
        report.write(each, options.reports)
        join_outcomes(paths, options.reports, each)
        if not options.json:
            terminal.render(each, console())
    if options.json:
        print_json([suite.summary(each, options.reports) for each in merged])
    wanted = [*options.expect, *(known() if options.expect_recorded else ())]
    lost = [each for each in wanted if each not in {run.facts.torch for run in merged}]
    for each in lost:
        say(f"torch {each}: every shard is lost")
    return DIFFER if lost or not all(each.passed for each in merged) else AGREE
