"""``conformance run``: every case in the torch that is installed, and in the subject."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from conformance import oracle, suite
from conformance.commands.common import (
    AGREE,
    DIFFER,
    check_areas,
    console,
    print_json,
    suite_options,
)
from conformance.report import terminal

HELP = "run cases in the torch that is installed and in the subject, and compare"


def configure(parser: ArgumentParser) -> None:
    suite_options(parser)
    parser.add_argument("--seed", type=int, help="the seed of what hypothesis draws")
    parser.add_argument("--hypothesis-profile", metavar="NAME", help="dev, ci or nightly")
    parser.add_argument(
        "--examples",
        metavar="DATABASE",
        help="keep what hypothesis finds, and try it first: a directory, or "
        "github:OWNER/REPOSITORY[/ARTIFACT]",
    )
    parser.add_argument("-k", dest="expression", metavar="EXPRESSION", help="as of pytest")


def run(options: Namespace) -> int:
    live = oracle.live()
    drawing = {
        "--hypothesis-seed": options.seed,
        "--hypothesis-profile": options.hypothesis_profile,
        "--examples": options.examples,
        "-k": options.expression,
    }
    chosen = [
        part for name, value in drawing.items() if value is not None for part in (name, str(value))
    ]
    order = order_of(options, chosen)
    environment = {oracle.RECORDING_VARIABLE: ""}
    found = suite.run(order, live.release, environment, quiet=options.json)
    if options.json:
        print_json(suite.summary(found, options.reports))
    else:
        terminal.render(found, console())
    return AGREE if found.passed else DIFFER


def order_of(options: Namespace, arguments: Sequence[str] = ()) -> suite.Order:
    """What the options of the suite's commands ask for."""
    if options.areas:
        check_areas(options)
    size = options.batch_size
    return suite.Order(
        areas=options.areas,
        subject=options.subject,
        reports=options.reports,
        shard=options.shard,
        jobs=options.jobs,
        arguments=[*arguments, *(["--batch-size", str(size)] if size else [])],
    )
