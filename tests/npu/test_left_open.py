"""A case of the suite whose values documents leave open, from its text to the verdict.

The cases run as in a worker of the suite: in a process that has opened no runtime before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.case import Case
from conformance.compare import Comparison, compare
from conformance.left_open import OPEN
from conformance.outcome import Outcome
from tests.described import described_tensor

from .conftest import is_on_hardware

pytestmark = [
    pytest.mark.npu,
    pytest.mark.skipif(is_on_hardware(), reason="only the simulator can tell"),
]

ROOT = Path(__file__).parents[2]
RUN = """
import json, sys
import mindtorch_v2
from conformance.case import Case
from conformance.execute import HELPERS, execute
from conformance.vocabulary import for_profile
from mindtorch_v2 import profile
vocabulary = for_profile(profile.active().name).with_helpers(*HELPERS).with_free_attributes()
cases = map(Case.from_json, json.load(sys.stdin))
print(json.dumps([execute(case, mindtorch_v2, vocabulary).to_json() for case in cases]))
"""

TO_INT = "xp.tensor([1.5, {}], device=here()).to(xp.int32)"
TEXTS = {
    "an integer of infinity": TO_INT.format("float('inf')"),
    "an integer of a number": TO_INT.format("-2.5"),
    "what does not show it": TO_INT.format("float('inf')") + ".shape",
    "what comes of it": TO_INT.format("float('inf')") + ".add(1).float().sum().item()",
    "an integer made in place": (
        "x = xp.ones(2, dtype=xp.int32, device=here())\n"
        "x.copy_(xp.tensor([1.5, -1e30], device=here()))\nx"
    ),
    "an index out of range": (
        "xp.tensor([3, 4], device=here()).gather(0, xp.tensor([7], device=here()))"
    ),
    "what is refused": TO_INT.format("float('inf')") + ".view(3)",
}


def case(what: str) -> Case:
    return Case("npu", "to", TEXTS[what], isolation="thread", close=True)


@cache
def outcomes() -> dict[str, Outcome]:
    """What each does; one process runs them all, so what one leaves would show in the next."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN],
        input=json.dumps([case(what).to_json() for what in TEXTS]),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(TEXTS, map(Outcome.from_json, json.loads(done.stdout)), strict=True))


def described(*values: str, dtype: str = "torch.int32") -> Outcome:
    return Outcome("returned", described_tensor(*values, dtype=dtype))


def judged(what: str, oracle: Outcome) -> Comparison:
    return compare(case(what), oracle, _on_cpu(outcomes()[what]))


def _on_cpu(outcome: Outcome) -> Outcome:
    """As far as these outcomes name the device."""
    value: Any = outcome.value
    if not isinstance(value, dict):
        return outcome
    return replace(
        outcome,
        value={**value, "type": "torch.Tensor", "dtype": "torch.int32", "device": "cpu",
               "layout": "torch.strided"},
    )  # fmt: skip


@pytest.mark.parametrize("what", ["an integer of infinity", "an integer made in place"])
def test_an_integer_that_no_document_names_is_compared_with_nothing(what: str) -> None:
    assert outcomes()[what].value["values"] == ["1", OPEN]  # type: ignore[index]
    found = judged(what, described("1", "-2147483648"))
    assert found.verdict == "uncovered"
    assert found.reason == (
        "documents leave open what an integer becomes of a number that it cannot be"
    )


@pytest.mark.parametrize("what", ["an integer of infinity", "an integer made in place"])
def test_a_mistake_of_a_kernel_next_to_it_is_a_mismatch(what: str) -> None:
    assert judged(what, described("2", "-2147483648")).verdict == "mismatch"
    refused = Outcome("raised", type="RuntimeError", message="no")
    assert judged(what, refused).verdict == "mismatch"


def test_an_ordinary_conversion_is_compared_to_the_letter() -> None:
    what = "an integer of a number"
    assert outcomes()[what].uncovered == ""
    assert judged(what, described("1", "-2")).verdict == "agree"
    assert judged(what, described("1", "-3")).verdict == "mismatch"


def test_what_does_not_depend_on_it_is_compared_to_the_letter() -> None:
    what = "what does not show it"
    assert outcomes()[what].uncovered == ""
    assert OPEN not in str(outcomes()[what])
    refused = outcomes()["what is refused"]
    assert (refused.kind, refused.uncovered) == ("raised", "")
    assert "shape '[3]' is invalid for input of size 2" in refused.message


def test_what_comes_of_it_is_as_open() -> None:
    assert outcomes()["what comes of it"].value == OPEN


def test_an_index_out_of_range_is_told_by_the_device() -> None:
    what = "an index out of range"
    refused = Outcome("raised", type="RuntimeError", message="index 7 is out of bounds")
    assert judged(what, refused).verdict == "uncovered"
    assert judged(what, described("3")).verdict == "mismatch"
