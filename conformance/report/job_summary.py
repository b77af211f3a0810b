"""The summary of a GitHub Actions job: what a person sees first of a run in CI.

GitHub renders the file that ``GITHUB_STEP_SUMMARY`` names, as Markdown, and drops one of more than
a mebibyte; so this is short: the verdict, the areas, and the rules that most cases break.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance.report.marks import command, visible
from conformance.report.model import AreaResult, Run, number
from conformance.report.release_page import area_status, broken_rules

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
MOST_RULES: Final = 20
MOST_TEXT: Final = 2000
"""Characters that are shown of one case."""
MEANING: Final = frozenset("&<>\"'\\`*_{}[]()#+!|~@$^:")
"""What begins something in HTML or in GitHub's Markdown."""
SIGNS: Final = {"agrees": "✅", "known": "🟡", "differs": "❌", "short": "⏳", "empty": "–"}


def append(run: Run, environment: Mapping[str, str] = os.environ) -> bool:
    """Add ``run`` to the job's summary, where there is one; whether there was."""
    name = environment.get(VARIABLE)
    if not name:
        return False
    with Path(name).open("a", encoding="utf-8") as file:
        file.write(render(run))
    return True


def render(run: Run) -> str:
    """The summary, as Markdown in which no text of a case means anything."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    yield f"## {'✅' if run.passed else '❌'} {_plain(run.verdict)}"
    yield ""
    notes = [*run.notes, *(f"Stale ledger entry: {entry}" for entry in run.stale)]
    yield from (f"- {_plain(note)}" for note in notes)
    yield ""
    yield "| | area | cases | agree | mismatch | known | absent |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for area in run.areas:
        yield _row(SIGNS[area_status(area)], _code(area.name), area)
    yield _row("", "**all**", run)
    yield ""
    rules = broken_rules(run)
    if rules:
        some = f", the first {MOST_RULES} of {len(rules):,}" if len(rules) > MOST_RULES else ""
        yield f"### What differs, by rule{some}"
        yield ""
    for each in rules[:MOST_RULES]:
        yield (f"<details><summary>{_code(str(each.rule))} {number(each.count, 'case')}</summary>")
        yield ""
        text = f"{each.smallest.case.text}\n\n{command(each.smallest, run.facts)}"
        yield f"<pre>{_escaped(text)}</pre>"
        yield "</details>"
        yield ""
    facts = run.facts
    yield _plain(
        f"PyTorch {facts.full_version} ({facts.oracle}, {facts.git_hash[:12]}), "
        f"profile {facts.profile}, Python {facts.python}, suite {facts.suite}."
    )


def _row(sign: str, name: str, of: AreaResult | Run) -> str:
    counts = of.counts
    numbers = (counts.cases, counts.agree, counts.mismatch, counts.known, counts.absent)
    return f"| {sign} | {name} | {' | '.join(f'{each:,}' for each in numbers)} |"


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>"


def _plain(text: str) -> str:
    """``text`` on one line, in which neither HTML nor Markdown means anything."""
    line = visible(text.replace("\n", " "))
    return "".join(f"&#{ord(char)};" if char in MEANING else char for char in line)


def _escaped(text: str) -> str:
    """``text`` for a ``<pre>``; a blank line would end it and begin Markdown again."""
    shown = visible(text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} …")
    return "&#10;".join(html.escape(line) for line in shown.split("\n"))
