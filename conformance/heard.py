"""What workers write: outcomes of both sides, and those that need not be read to be compared."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from conformance.normalise import MEMORY_ADDRESS, REGISTRATION_SOURCE, subject_module
from conformance.outcome import Kind, Outcome
from conformance.worker import NO_OUTCOME, UNREADABLE, outcome_of

_CAME_BACK: Final[dict[bytes, Kind]] = {
    b'{"kind":"returned"': "returned",
    b'{"kind":"raised"': "raised",
}
"""How the lines of outcomes begin that have nothing to be judged but whether they are equal."""
_KIND_AT: Final = len(b'{"kind":"')
_IN_A_LINE: Final = MEMORY_ADDRESS, REGISTRATION_SOURCE
"""Rules that take out of a line of JSON what they would take out of the outcome, or less: they
match no escapes, nothing beyond a text's end, and look at no letters that are written as escapes.
"""


class Heard:
    """What the oracle's worker has written of a case, while the subject's is heard.

    Nearly all outcomes are alike to the letter, but for the module's name, or for addresses and
    where things were registered; such need not be decoded and rewritten to be compared.  Whatever
    else they are is for `Runner.judge` to say.
    """

    def __init__(self, subject: str) -> None:
        self._name, self._rename = subject, subject_module(subject)
        self._line = b""
        self._kind: Kind | None = None

    def oracle(self, line: bytes) -> bytes | Outcome:
        """The line itself, to be read when it must be; what is no such line is read at once."""
        self._line = line
        self._kind = _CAME_BACK.get(line[: line.find(b'"', _KIND_AT) + 1])
        return outcome_of(line) if self._kind is None else line

    def subject(self, line: bytes) -> Outcome | Kind:
        """How both ended if they are alike, else what the subject did."""
        kind = self._kind
        return kind if kind is not None and self._is_alike(line) else outcome_of(line)

    def forget(self) -> None:
        """The next case's oracle may die before it writes a line."""
        self._kind = None

    def _is_alike(self, line: bytes) -> bool:
        said = line.decode()
        if f"{self._name}\\" in said:  # an escape may stand for a letter, and so for another name
            return False
        said = self._rename(said)
        if self._name in said:
            return False
        told = self._line.decode()
        return said == told or _rewritten(said) == _rewritten(told)


def _rewritten(line: str) -> str:
    for rule in _IN_A_LINE:
        line = rule(line)
    return line


def read(said: bytes | Outcome) -> Outcome:
    """The outcome that a worker has written, or that says how the worker ended."""
    if isinstance(said, Outcome):
        return said
    try:
        return outcome_of(said)
    except UNREADABLE:
        return NO_OUTCOME


class Both(NamedTuple):
    """What a case did in either side."""

    oracle: Outcome
    subject: Outcome

    def to_json(self) -> list[Any]:
        return [self.oracle.to_json(), self.subject.to_json()]


def both_of(line: bytes) -> Both:
    """The outcomes that a worker of both sides has written."""
    return Both(*map(Outcome.from_json, json.loads(line)))
