"""The facts of a run that never was, for tests of what becomes of runs."""

from __future__ import annotations

from conformance.report import Facts

FACTS = Facts(
    torch="2.4.1",
    full_version="2.4.1+none",
    git_hash="0" * 40,
    platform="Linux",
    python="3.11",
    suite="0",
    subject="imitation",
    profile="2.4",
    started="2026-01-31T12:00:00Z",
)
