"""Area ``npu``: every generated case, then cases that hypothesis draws."""

import pytest

from conformance import ascend
from conformance.batch import Batch
from conformance.session import Checker

AREA = "npu"

pytestmark = pytest.mark.skipif(
    not ascend.can_run(), reason="there is no Ascend device, and no C compiler for a simulated one"
)


def test_generated(batch: Batch, checker: Checker) -> None:
    checker.check(batch)


def test_drawn(checker: Checker) -> None:
    checker.draw(AREA)
