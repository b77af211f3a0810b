"""What every page of the site has: its templates, its one style and script, its policy.

A page needs nothing but itself: it opens from a file system, an archive or a mail.  Every text
passes through Jinja's autoescape, and the page's own policy forbids any script or style but the
two whose hashes it names: a text that got past the escaping would still not run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from conformance.report.blocks import block, tokens
from conformance.report.marks import visible
from conformance.report.model import number
from conformance.report.places import anchor, rule_anchor

TEMPLATES: Final = Path(__file__).with_name("templates")
BUFFERED: Final = 200
"""Pieces of a page that are written at once."""


def pieces(template: str, **context: Any) -> Iterator[str]:
    """A page, piece by piece: one with ten thousand cases is never in memory as a whole."""
    stream = _environment().get_template(template).stream(**context)
    stream.enable_buffering(BUFFERED)
    return stream


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _asset("site.css"), _asset("site.js")
    environment.filters.update(
        visible=visible, tokens=tokens, count=number, anchor=anchor, block=block
    )
    environment.globals.update(
        # Both are files of this package, not texts of a case: they alone are not escaped.
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        rule_anchor=rule_anchor,
    )
    return environment


def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """What allows this script and this style alone."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
