"""The ledger: known mismatches with a reason each.  It only shrinks.

A TOML file of entries; each names one case by its id, or several by a pattern of ids
(``fnmatch``), the torch releases it holds for, and why.  A mismatch that no entry covers fails
the run, and so does an entry that covers no mismatch any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.compare import Comparison

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LEDGER_FILE = Path(__file__).parent / "ledger.toml"

REQUIRED = {"case", "reason"}
OPTIONAL = {"torch"}


class LedgerError(ValueError):
    """The ledger's file cannot be read; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Known mismatches: ``case`` is an id or a pattern of ids."""

    case: str
    reason: str
    torch: tuple[str, ...] = ()
    """Releases such as ``2.4.1``; empty for all."""

    def covers(self, case_id: str) -> bool:
        return self.case == case_id or fnmatchcase(case_id, self.case)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entries that hold for one release."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def load(cls, path: Path, torch_release: str) -> Ledger:
        """Read ``path``; LedgerError names what is wrong with it."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:  # ValueError: no TOML, or no UTF-8
            raise LedgerError(f"cannot read the ledger {path}: {error}") from error
        if data.keys() - {"known"} or not isinstance(data.get("known", []), list):
            raise LedgerError(f"{path}: a ledger holds [[known]] tables alone; got {data!r}")
        entries = tuple(_entry(path, item) for item in data.get("known", []))
        held = (entry for entry in entries if not entry.torch or torch_release in entry.torch)
        return cls(tuple(held))

    def judge(self, comparison: Comparison) -> Comparison:
        """A mismatch that an entry covers becomes known, with the entry's reason."""
        if comparison.verdict != "mismatch":
            return comparison
        for entry in self.entries:
            if entry.covers(comparison.case.id):
                return replace(comparison, verdict="known", reason=entry.reason)
        return comparison

    def stale(self, differing: Iterable[Comparison], areas_run: Iterable[str]) -> tuple[str, ...]:
        """The entries of those areas that cover none of the differing cases any more."""
        ids = [comparison.case.id for comparison in differing]
        areas = set(areas_run)
        return tuple(
            entry.case
            for entry in self.entries
            if entry.case.partition("/")[0] in areas and not any(map(entry.covers, ids))
        )


def _entry(path: Path, item: object) -> Entry:
    if not isinstance(item, dict) or not REQUIRED <= item.keys() <= REQUIRED | OPTIONAL:
        raise LedgerError(
            f"{path}: every [[known]] has a case and a reason, and may have torch; got {item!r}"
        )
    case, reason, releases = item["case"], item["reason"], item.get("torch", [])
    if not (isinstance(releases, list) and _are_strings(case, reason, *releases)):
        raise LedgerError(
            f"{path}: case and reason are strings, torch is a list of strings; got {item!r}"
        )
    if not reason.strip():
        raise LedgerError(f"{path}: the reason is empty; got {item!r}")
    area, slash, _ = case.partition("/")
    if not slash or set(area) & set("*?["):
        raise LedgerError(
            f"{path}: {case!r} is no case id; ids look like area/target/hash, and a pattern of "
            "ids names its area"
        )
    return Entry(case, reason, tuple(releases))


def _are_strings(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)
