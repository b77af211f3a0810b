"""Comparisons: a case, both outcomes, and what holds between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from conformance.case import GENERATED, Case
from conformance.closeness import close
from conformance.left_open import as_far_as_compared
from conformance.on_npu import is_on_npu
from conformance.outcome import DEVICE_FAULT, MORE_DTYPES, NO_KERNEL, VIOLATIONS, Kind, Outcome

Verdict = Literal["agree", "mismatch", "known", "absent", "uncovered", "unjudged"]
"""``known`` is a mismatch that the ledger lists; ``absent`` a name the subject does not have.

``uncovered``: a case on a device for which the subject has not all the kernels; the two agree, but
another device has computed.  Or both refuse, the device in its own words.  Or documents leave open
what a device shows somewhere, and all else agrees.

``unjudged``: the oracle did not survive the case, so there is nothing to hold the subject
against; the subject itself must survive, or it is a mismatch.
"""

_REFUSED_DTYPE: Final = re.compile(
    r'"\w+" not implemented for |half to float conversion is not supported on CPU'
)
_CAUGHT: Final = re.compile(r"'\w+Error' : str|\bout of (bounds|range)\b")
"""What a program shows of an error that it caught: the type's name, or what is wrong with an
index."""

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
    """The ledger's, for a known mismatch; what is not covered."""

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

    def in_short(self) -> Comparison | Agreement:
        """What is kept of it."""
        if self.verdict == "agree" and self.case.origin == GENERATED:
            return Agreement(self.case, self.oracle.kind)
        return self

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Comparison:
        oracle = Outcome.from_json(data["oracle"])
        subject = Outcome.from_json(data["subject"]) if "subject" in data else oracle
        return cls(
            Case.from_json(data["case"]), oracle, subject, data["verdict"], data.get("reason", "")
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """A generated case in which both did the same, and how it ended.

    There is nothing to see that could not be made again, and they are by far the most.
    """

    case: Case
    kind: Kind


def compare(case: Case, oracle: Outcome, subject: Outcome) -> Comparison:
    """Compare two normalised outcomes: they agree when they are equal.

    For a case that says so, floats that are close are equal, and nothing else.
    """
    on_npu = is_on_npu(case.text)
    if subject.kind == "absent" and oracle.kind == "raised" and oracle.type == subject.type:
        subject = replace(subject, kind="raised")  # PyTorch lacks a name, too
    told = as_far_as_compared(oracle, subject)
    agree = told == subject or (case.close and close(told, subject, on_device=on_npu))
    verdict: Verdict = "agree" if agree else "mismatch"
    if on_npu and not agree and _takes_more(oracle, subject):
        subject = replace(subject, uncovered=MORE_DTYPES)
        verdict = "uncovered"
    if subject.uncovered and (agree or _both_refuse(oracle, subject)):
        verdict = "uncovered"
    if subject.kind == "absent":
        verdict = "absent"
    elif not subject.survived:
        verdict = "mismatch"
    elif not oracle.survived:
        verdict = "unjudged"
    reason = subject.uncovered if verdict == "uncovered" else ""
    return Comparison(case, oracle, subject, verdict, reason)


def _takes_more(oracle: Outcome, subject: Outcome) -> bool:
    """Whether a kernel of torch's for the CPU refused a dtype, from where on the two may differ."""
    refused = _REFUSED_DTYPE.search(str(oracle)) is not None
    return refused and subject.kind in ("returned", "raised") and subject.type != VIOLATIONS


def _both_refuse(oracle: Outcome, subject: Outcome) -> bool:
    """Whether both refuse what a device refuses in words of its own."""
    if subject.uncovered == DEVICE_FAULT:
        return oracle.kind == "raised" or _CAUGHT.search(str(oracle)) is not None
    return subject.uncovered == NO_KERNEL and oracle.type == subject.type


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
    uncovered: int = 0
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
            uncovered=verdicts["uncovered"],
            oracle_crashed=kinds["crashed"],
            oracle_hung=kinds["hung"] + kinds["exhausted"],
        )
