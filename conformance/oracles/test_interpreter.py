"""Area ``interpreter``: every generated case, then cases that hypothesis draws."""

from conformance.batch import Batch
from conformance.session import Checker

AREA = "interpreter"


def test_generated(batch: Batch, checker: Checker) -> None:
    checker.check(batch)


def test_drawn(checker: Checker) -> None:
    checker.draw(AREA)
