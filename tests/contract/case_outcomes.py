"""Prints what mindtorch_v2 does with some cases of an area, a line for each: area, and of how many
cases one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final

from conformance import oracle
from conformance.case import OWN_SUBJECT, Case
from conformance.cases import BY_NAME
from conformance.execute import HELPERS
from conformance.runner import Runner
from conformance.vocabulary import for_profile
from mindtorch_v2 import profile

_PART_WAY: Final = re.compile(r"masked_scatter_\(|(take|gather|index_select)\(.*out=")


def chosen(area: str, every: int) -> list[Case]:
    cases = BY_NAME[area].cases(profile.active())
    return [each for each in list(cases)[::every] if not _goes_part_way(each.text)]


def _goes_part_way(text: str) -> bool:
    """Whether what a kernel has written is looked at after it refused.

    That is the order in which it goes through memory, which a functional kernel does not say.
    """
    return "except" in text and bool(_PART_WAY.search(text))


def lines(area: str, every: int) -> Iterator[str]:
    vocabulary = for_profile(profile.active().name).with_helpers(*HELPERS).with_free_attributes()
    runner = Runner(None, oracle.prepare(OWN_SUBJECT), vocabulary)
    cases = chosen(area, every)
    for case, outcome in zip(cases, runner.outcomes(runner.subject, cases), strict=True):
        yield repr((case.text, str(outcome)))


if __name__ == "__main__":
    for line in lines(sys.argv[1], int(sys.argv[2])):
        print(line)
