"""Where a thing is: the names of pages and of the places on them, safe in any link and any file
system whatever the names of areas, targets and cases are."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath
from typing import Final

from conformance.report.model import AreaResult, Run
from conformance.report.rules import Rule

INDEX: Final = "index.html"
PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,79}", re.ASCII)


def anchor(text: str) -> str:
    """``text`` as a fragment that needs no escaping; two texts never give the same one."""
    return re.sub(r"[^A-Za-z0-9_./-]", lambda char: f"~{ord(char[0]):x}~", text)


def rule_anchor(rule: Rule) -> str:
    return f"rule-{rule.id}"


def release_page(run: Run) -> PurePosixPath:
    """The page of a run, in the directory of reports."""
    return PurePosixPath(f"{run.stem}.html")


def area_page(run: Run, area: AreaResult) -> PurePosixPath:
    """The page of one area of a run, in the directory of reports."""
    name = area.name
    if not PLAIN.fullmatch(name):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"area-{digest[:12]}"
    return PurePosixPath(run.stem) / f"{name}.html"
