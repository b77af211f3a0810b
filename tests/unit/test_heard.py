"""What is called alike unread is what would have been found to agree."""

from __future__ import annotations

import json
from ast import literal_eval
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.heard import Heard, read
from conformance.normalise import BOTH_SIDES, normalise, subject_module
from conformance.outcome import Outcome
from conformance.worker import NO_OUTCOME, UNREADABLE

NAME = "mindtorch_v2"

pieces = (
    "torch",
    NAME,
    ".",
    "-",
    "_",
    "n",
    "\n",
    "\\",
    "é",
    "0",
    " ",
    "'",
    '"',
    " at 0x12>",
    " : str",
    "registered at ",
    "/x",
    ".py:",
    "…",
)
texts = st.lists(st.sampled_from(pieces), max_size=8).map("".join)


def is_shown(value: str) -> bool:
    """Whether a case may have answered it: a string is in the quotes that ``repr`` chooses."""
    shown = value.removesuffix(" : str")
    with suppress(SyntaxError, ValueError):
        return shown == value or shown == repr(literal_eval(shown))
    return True


outcomes = st.one_of(
    st.builds(lambda value: Outcome("returned", value=value), texts.filter(is_shown)),
    st.builds(lambda kind, message: Outcome("raised", type=kind, message=message), texts, texts),
)


def line(outcome: Outcome) -> bytes:
    return json.dumps(outcome.to_json(), separators=(",", ":")).encode()


def is_alike(oracle: Outcome, subject: Outcome) -> bool:
    heard = Heard(NAME)
    assert read(heard.oracle(line(oracle))) == oracle
    answer = heard.subject(line(subject))
    assert answer in (oracle.kind, subject)
    return answer == oracle.kind


def renamed(outcome: Outcome) -> Outcome:
    """The oracle's outcome that a subject of this outcome would be alike to, if names were all."""
    return Outcome.from_json(json.loads(line(outcome).replace(NAME.encode(), b"torch")))


def elsewhere(outcome: Outcome) -> Outcome:
    """The same at other addresses, and registered at other lines of other files."""
    moved = line(outcome).replace(b"0x1", b"0x2").replace(b"/x", b"/y").replace(b".py:0", b".py:1")
    return Outcome.from_json(json.loads(moved))


@settings(max_examples=1000)
@given(outcomes)
@example(Outcome("returned", value=f"x.{NAME}"))
@example(Outcome("returned", value=f"{NAME}é"))
@example(Outcome("returned", value=f"\n{NAME}"))
@example(Outcome("returned", value={"type": "list", "items": ["registered at ", "/x.py:0"]}))
@example(Outcome("raised", type="", message="registered at \n/x.py:0"))
@example(Outcome("raised", type="", message="registered at …/x.py:0"))
@example(Outcome("raised", type="", message="registered at /x.py:0é"))
@example(Outcome("raised", type="", message="registered at /x.py:0\\u"))
@example(Outcome("raised", type="", message="éregistered at /x.py:0"))
def test_what_is_alike_agrees(subject: Outcome) -> None:
    for oracle in (renamed(subject), subject, elsewhere(renamed(subject))):
        if is_alike(oracle, subject):
            own = (subject_module(NAME), *BOTH_SIDES)
            assert normalise(oracle, BOTH_SIDES) == normalise(subject, own)


@pytest.mark.parametrize(
    "value",
    [
        "1 : int",
        f"<class '{NAME}.Tensor'> : class",
        f"{NAME}._C : x",
        f"<{NAME}.Node object at 0x12> : {NAME}.Node",
        r"'CPU: registered at /x/y.py:07 [kernel]\n' : str",
    ],
)
def test_usual_outcomes_are_alike(value: str) -> None:
    subject = Outcome("returned", value=value)
    assert is_alike(renamed(subject), subject)
    assert is_alike(elsewhere(renamed(subject)), subject)


def test_others_are_read() -> None:
    one, other = Outcome("returned", value="1 : int"), Outcome("returned", value="2 : int")
    assert not is_alike(one, other)
    absent = Outcome("absent", type="AttributeError", message="x")
    assert not is_alike(absent, absent)


def test_a_line_that_says_nothing_is_that_of_a_worker_that_crashed() -> None:
    for said in (b"", b"{", b"1", b"\xff"):
        with pytest.raises(UNREADABLE):  # upon which the worker is ended
            Heard(NAME).oracle(said)
    assert read(Heard(NAME).oracle(b'{"kind":"returned"')) == NO_OUTCOME


def test_what_an_earlier_case_did_is_forgotten() -> None:
    heard, outcome = Heard(NAME), Outcome("returned", value="1 : int")
    heard.oracle(line(outcome))
    heard.forget()
    assert heard.subject(line(outcome)) == outcome
