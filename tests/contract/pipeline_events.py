"""What a pipeline's trace tells, as the tests ask for it."""

from __future__ import annotations

from typing import Any


def names(p: Any, kind: str) -> list[str]:
    return [event.name for event in p.trace() if event.kind == kind]


def reasons(p: Any, kind: str = "flush") -> list[str]:
    return [event.reason for event in p.trace() if event.kind == kind]
