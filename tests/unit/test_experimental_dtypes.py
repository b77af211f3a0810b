"""Complex numbers of halves: what is warned of does not depend on the calls before."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

import mindtorch_v2 as xp

pytestmark = pytest.mark.usefixtures("warns_always")


def _warnings_of(call: Callable[[], object]) -> int:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        call()
    return sum("ComplexHalf" in str(each.message) for each in given)


def test_each_call_warns_of_its_copies_and_its_result() -> None:
    halves = xp.ones(3).to(xp.half)

    counts = [
        _warnings_of(lambda of=function: of(halves, 1j))
        for function in (xp.add, xp.sub, xp.mul, xp.sub)
    ]

    assert counts == [3, 3, 3, 3]  # the halves, the number, what they come to


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (lambda x: xp.ne(x, 1j), 2),
        (lambda x: xp.add(x, 1, out=xp.empty(3, dtype=xp.complex64)), 0),
        (lambda x: xp.cat([xp.ones(3), x.to(xp.complex32)]), 2),
        (lambda x: x.to(xp.complex32)[xp.tensor([0])], 2),
        (lambda x: x.to(xp.complex32).to_dense(), 1),
    ],
)
def test_of_which_copies_there_are_warnings(
    call: Callable[[xp.Tensor], object], count: int
) -> None:
    halves = xp.ones(3).to(xp.half)

    assert _warnings_of(lambda: call(halves)) == count
