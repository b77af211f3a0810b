"""``conformance drift``: what changed between two releases of PyTorch, grouped by rule."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from conformance.drift.model import Drift
    from mindtorch_v2.profile import Profile

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
    from conformance.drift import text
    from conformance.report import drift_page
    from mindtorch_v2 import profile as profiles

    try:
        before, after = (profiles.load(name) for name in (options.before, options.after))
    except profiles.UnknownProfileError as error:
        raise UsageError(str(error)) from None
    drift = _drift(before, after, options)
    if options.page:
        say(f"wrote {drift_page.write(drift, options.reports)}")
        report.write_overview(options.reports)
    elif options.json:
        print_json(drift.to_json())
    else:
        for line, style in text.lines(drift, options.limit or None, options.rules or None):
            console().print(Text(line, style=style))
    return DIFFER if any(section.rules for section in drift.sections) else AGREE


def _drift(before: Profile, after: Profile, options: Namespace) -> Drift:
    """The sections that are asked for; those of outcomes take minutes, so no other is made."""
    from conformance.drift import facts, outcomes, schemas
    from conformance.drift.model import Drift

    sections = [
        facts.keys(before, after),
        schemas.drift(before, after),
        facts.signatures(before, after),
        facts.tables(before, after),
        *facts.rest(before, after),
    ]
    earlier, later = (_recorded(each.name, options.recordings) for each in (before, after))
    there = [section.name for section in sections]
    of_outcomes = outcomes.names(earlier, later) if earlier and later else {}
    wanted = options.section or [*there, *of_outcomes]
    _check(wanted, [*there, *of_outcomes])
    chosen = [section for section in sections if section.name in wanted]
    if earlier and later:
        asked = {name: area for name, area in of_outcomes.items() if name in wanted}
        chosen += outcomes.drift(asked, earlier, later)
    return Drift(before.release, after.release, tuple(chosen), facts.notes(before, after))


def _check(wanted: Iterable[str], there: Sequence[str]) -> None:
    if unknown := set(wanted) - set(there):
        raise UsageError(
            f"no section is called {', '.join(sorted(unknown))}; there are {', '.join(there)}"
        )


def _recorded(profile: str, recordings: Path) -> oracle.RecordedOracle | None:
    """The recording of the release that a profile mirrors, if there is one."""
    for release in known(recordings):
        if oracle.profile_name(release) == profile:
            return oracle.recorded(str(recordings / release))
    return None
