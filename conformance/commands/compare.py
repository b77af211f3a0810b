"""``conformance compare``: what changed from one report to another, for people and for CI."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from rich.text import Text

from conformance.changes import Change, changes
from conformance.commands.common import AGREE, DIFFER, console, json_option, print_json
from conformance.report import json_report
from conformance.report.marks import visible

HELP = "say what got better and worse, appeared and vanished between two reports"


def configure(parser: ArgumentParser) -> None:
    parser.epilog = "exit status: 1 if a case got worse or an area did not run whole any more"
    parser.add_argument("old", type=Path, help="the earlier report, reports/torch-<release>.json")
    parser.add_argument("new", type=Path, help="the later one")
    json_option(parser)


def run(options: Namespace) -> int:
    found = changes(json_report.read(options.old), json_report.read(options.new))
    if options.json:
        print_json(found.to_json())
    else:
        _cases("better", found.better)
        _cases("worse", found.worse)
        _cases("otherwise", found.otherwise)
        _lines("appeared", map(str, found.appeared))
        _lines("vanished", map(str, found.vanished))
        _lines("no longer whole", found.lost)
        verdict = "It got worse." if found.regressed else "Nothing got worse."
        console().print(Text(verdict, style="bold red" if found.regressed else "bold green"))
    return DIFFER if found.regressed else AGREE


def _cases(title: str, found: tuple[Change, ...]) -> None:
    texts = (
        f"{change.id}\n    {change.text}\n    was  {change.before}\n    is   {change.after}"
        for change in found
    )
    _lines(title, texts)


def _lines(title: str, texts: Iterable[str]) -> None:
    listed = list(texts)
    if listed:
        console().print(Text(f"{title}: {len(listed):,}", style="bold"))
    for text in listed:
        console().print(Text(f"  {visible(text)}"))
