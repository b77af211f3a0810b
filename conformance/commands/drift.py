"""``conformance drift``: what changed between two releases of PyTorch, grouped by rule."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rich.text import Text

from conformance import oracle, report
from conformance.commands.common import (
    AGREE,
    DIFFER,
    UsageError,
    console,
    json_option,
    print_json,
    reports_option,
    say,
)
from conformance.recorded.recording import RECORDINGS, known

HELP = "say what changed between two releases of PyTorch, grouped by rule"
LIMIT = 5
RULES = 30


def configure(parser: ArgumentParser) -> None:
    parser.epilog = "exit status: 0 nothing changed, 1 something did, 2 it could not be said"
    parser.add_argument("before", help="the earlier release, 2.4 or 2.4.1")
    parser.add_argument("after", help="the later one")
    parser.add_argument(
        "--section", action="append", metavar="NAME", help="this alone; again for more"
    )
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help="items shown for a rule, 0 for all (%(default)s)"
    )
    parser.add_argument(
        "--rules", type=int, default=RULES, help="rules shown of a section, 0 for all (%(default)s)"
    )
    parser.add_argument(
        "--recordings", type=Path, default=RECORDINGS, help="where recordings are (the package's)"
    )
    parser.add_argument(
        "--page", action="store_true", help="write a page into the site of reports instead"
    )
    reports_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    from conformance.cases import AREAS
    from conformance.drift import facts, outcomes, schemas, text
    from conformance.drift.model import Drift
    from conformance.report import drift_page
    from mindtorch_v2 import profile as profiles

    try:
        before, after = (profiles.load(name) for name in (options.before, options.after))
    except profiles.UnknownProfileError as error:
        raise UsageError(str(error)) from None
    sections = [
        facts.keys(before, after),
        schemas.drift(before, after),
        facts.signatures(before, after),
        facts.tables(before, after),
        *facts.rest(before, after),
    ]
    recorded = [_recorded(profile.name, options.recordings) for profile in (before, after)]
    if recorded[0] and recorded[1]:
        sections += outcomes.drift(AREAS, recorded[0], recorded[1])
    wanted = options.section
    if wanted and (unknown := set(wanted) - {section.name for section in sections}):
        names = ", ".join(section.name for section in sections)
        raise UsageError(f"no section is called {', '.join(sorted(unknown))}; there are {names}")
    chosen = tuple(each for each in sections if not wanted or each.name in wanted)
    drift = Drift(before.release, after.release, chosen, facts.notes(before, after))
    if options.page:
        say(f"wrote {drift_page.write(drift, options.reports)}")
        report.write_overview(options.reports)
    elif options.json:
        print_json(drift.to_json())
    else:
        for line, style in text.lines(drift, options.limit or None, options.rules or None):
            console().print(Text(line, style=style))
    return DIFFER if any(section.rules for section in chosen) else AGREE


def _recorded(profile: str, recordings: Path) -> oracle.RecordedOracle | None:
    """The recording of the release that a profile mirrors, if there is one."""
    for release in known(recordings):
        if oracle.profile_name(release) == profile:
            return oracle.recorded(str(recordings / release))
    return None
