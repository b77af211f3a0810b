"""Values that a device's documents leave open, and how a case that has one is compared.

What an integer becomes of infinity, no document of CANN's says, and torch's CPU answers it by what
its processor does.  So there is nothing to compare.  But which values of an outcome are such, no
text of a case says: infinity may come of a division, and the integer be anywhere.

The simulated device notices when it makes such a value (``tests/npu/sim/runtime/open.c``):

- an integer of NaN, of infinity, or of a number that is out of its range, by whatever operator;
- what NaN becomes where an operator's page speaks of numbers only: a sign, a threshold, a bound, a
  mean of what is not finite, a product that is taken no times;
- products and quotients of complex numbers of which a part is not finite;
- which of two different values stays that are written to one place by their indices;
- in which order those alike come, of which only some are asked for.

Then the case runs again, once for each other thing that the device may make of it, and *what is not
the same in all runs is the device's*.  It is `OPEN` in the outcome, and is compared with nothing;
what is the same in all is compared to the letter, be it the next element of the same tensor, and so
are types, shapes, strides, exceptions and warnings.  The case is counted as ``uncovered``, with the
reason.  One that makes such a value and does not show it agrees, or not, like any other; so does
one that has random numbers of no seed, and so is not the same twice.

An index out of range leaves nothing to compare at all: the kernel gives up, and the device says so
(``DEVICE_FAULT`` in :mod:`conformance.outcome`); torch must have refused, too.

A device of hardware notices nothing, and is compared to the letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any, Final

from conformance.outcome import LEFT_OPEN, Outcome

__all__ = ["OPEN", "as_far_as_compared", "settled"]

OPEN: Final = "<what the device makes of it>"
"""What stands in an outcome where the device may put what it likes."""
_WARNED: Final = ((OPEN, OPEN),)
_ANYTHING: Final = Outcome("returned", value=OPEN)
"""Of a case that ends otherwise if the device chooses otherwise."""


def settled(first: Outcome, others: Iterable[Outcome]) -> Outcome:
    """``first`` with `OPEN` wherever one of the others differs."""
    return reduce(_settled, others, first)


def as_far_as_compared(oracle: Outcome, subject: Outcome) -> Outcome:
    """The oracle's outcome with `OPEN` wherever the subject's has it because a device said so."""
    if not subject.uncovered.startswith(LEFT_OPEN):
        return oracle
    if subject.value == OPEN and oracle.survived:
        return replace(subject, uncovered="")
    return replace(
        oracle,
        value=_blanked(oracle.value, subject.value),
        message=_blanked(oracle.message, subject.message),
        warnings=_WARNED if subject.warnings == _WARNED else oracle.warnings,
    )


def _settled(one: Outcome, two: Outcome) -> Outcome:
    if one.kind != two.kind or one.type != two.type or one == _ANYTHING:
        return replace(_ANYTHING, uncovered=one.uncovered)
    return replace(
        one,
        value=_common(one.value, two.value),
        message=_common(one.message, two.message),
        warnings=one.warnings if one.warnings == two.warnings else _WARNED,
    )


def _common(one: Any, two: Any) -> Any:
    """What two descriptions have in common."""
    if one == two:
        return one
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return {key: _common(value, two[key]) for key, value in one.items()}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [_common(*pair) for pair in zip(one, two, strict=True)]
    return OPEN


def _blanked(oracles: Any, subjects: Any) -> Any:
    if subjects == OPEN:
        return OPEN
    if isinstance(oracles, dict) and isinstance(subjects, dict):
        return {key: _blanked(value, subjects.get(key)) for key, value in oracles.items()}
    if isinstance(oracles, list) and isinstance(subjects, list) and len(oracles) == len(subjects):
        return [_blanked(*pair) for pair in zip(oracles, subjects, strict=True)]
    return oracles
