"""Comparisons: a case, both outcomes, and what holds between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from conformance.case import Case
from conformance.closeness import close
from conformance.outcome import Outcome

Verdict = Literal["agree", "mismatch", "known", "absent", "unjudged"]
"""``known`` is a mismatch that the ledger lists; ``absent`` a name the subject does not have.

``unjudged``: the oracle did not survive the case, so there is nothing to hold the subject
against; the subject itself must survive, or it is a mismatch.
"""

Span = tuple[Literal["same", "left", "right"], str]
"""A piece of a character-level difference: in both texts, or in one of them only."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A case and what came of it; outcomes are normalised (see :mod:`conformance.normalise`)."""

    case: Case
    oracle: Outcome
    subject: Outcome
    verdict: Verdict
    reason: str = ""
    """The ledger's reason, for a known mismatch."""

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "case": self.case.to_json(),
            "verdict": self.verdict,
            "oracle": self.oracle.to_json(),
        }
        if self.subject != self.oracle:
            data["subject"] = self.subject.to_json()
        if self.reason:
            data["reason"] = self.reason
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Comparison:
        oracle = Outcome.from_json(data["oracle"])
        subject = Outcome.from_json(data["subject"]) if "subject" in data else oracle
        return cls(
            Case.from_json(data["case"]), oracle, subject, data["verdict"], data.get("reason", "")
        )


def compare(case: Case, oracle: Outcome, subject: Outcome) -> Comparison:
    """Compare two normalised outcomes: they agree when they are equal.

    For a case that says so, floats that are close are equal, and nothing else.
    """
    agree = oracle == subject or (case.close and close(oracle, subject))
    verdict: Verdict = "agree" if agree else "mismatch"
    if subject.kind == "absent":
        verdict = "absent"
    elif not subject.survived:
        verdict = "mismatch"
    elif not oracle.survived:
        verdict = "unjudged"
    return Comparison(case, oracle, subject, verdict)


def difference(left: str, right: str) -> list[Span]:
    """The character-level difference of two texts, in reading order."""
    spans: list[Span] = []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            spans.append(("same", left[a:b]))
        else:
            if a < b:
                spans.append(("left", left[a:b]))
            if c < d:
                spans.append(("right", right[c:d]))
    return spans


@dataclass(frozen=True, slots=True)
class AreaCounts:
    """What the report counts for one area."""

    cases: int = 0
    agree: int = 0
    mismatch: int = 0
    known: int = 0
    absent: int = 0
    oracle_crashed: int = 0
    oracle_hung: int = 0

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> AreaCounts:
        verdicts: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for comparison in comparisons:
            verdicts[comparison.verdict] += 1
            kinds[comparison.oracle.kind] += 1
        return cls(
            cases=sum(verdicts.values()),
            agree=verdicts["agree"],
            mismatch=verdicts["mismatch"],
            known=verdicts["known"],
            absent=verdicts["absent"],
            oracle_crashed=kinds["crashed"],
            oracle_hung=kinds["hung"] + kinds["exhausted"],
        )
