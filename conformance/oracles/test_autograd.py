"""Area ``autograd``: every generated case, then cases that hypothesis draws."""

from hypothesis import given

from conformance.batch import Batch
from conformance.case import Case
from conformance.cases import BY_NAME
from conformance.session import Checker

AREA = "autograd"


def test_generated(batch: Batch, checker: Checker) -> None:
    checker.check(batch)


def test_drawn(checker: Checker) -> None:
    with checker.explore(AREA) as exploration:

        @given(BY_NAME[AREA].drawn(checker.profile))
        def explore(case: Case) -> None:
            exploration.check(case)

        explore()
