"""Values that documents leave open: what of two outcomes is compared, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import ascend
from conformance.case import Case
from conformance.compare import compare
from conformance.left_open import OPEN, settled
from conformance.on_npu import Here
from conformance.on_npu import settled as settled_on_npu
from conformance.outcome import DEVICE_FAULT, LEFT_OPEN, VIOLATIONS, Outcome
from tests.described import described_tensor

CASE = Case("npu", "to", "xp.ones(2, device=here()).to(xp.int32)", close=True)


def tensor(*values: str, dtype: str = "torch.int32") -> Outcome:
    described = described_tensor(*values, dtype=dtype)
    return Outcome("returned", {"type": "tuple", "items": [described, "7 : int"]})


def values(outcome: Outcome) -> Any:
    described: Any = outcome.value
    return described["items"][0]["values"]


def marked(first: Outcome, *others: Outcome) -> Outcome:
    return replace(settled(first, others), uncovered=LEFT_OPEN + "something")


IN_QUESTION = marked(tensor("1", "5"), tensor("1", "6"), tensor("1", "7"))
"""The second element is whatever the device likes."""


def test_only_what_differs_from_run_to_run_is_open() -> None:
    assert values(IN_QUESTION) == ["1", OPEN]
    assert settled(tensor("1", "5"), [tensor("1", "5")]) == tensor("1", "5")


@pytest.mark.parametrize(
    ("oracle", "verdict"),
    [
        (tensor("1", "-9"), "uncovered"),
        (tensor("2", "-9"), "mismatch"),  # a kernel's mistake next to it
        (tensor("1", "-9", dtype="torch.int64"), "mismatch"),
        (tensor("1", "-9", "0"), "mismatch"),
        (Outcome("raised", type="RuntimeError", message="no"), "mismatch"),
        (replace(tensor("1", "-9"), warnings=(("UserWarning", "…"),)), "mismatch"),
    ],
)
def test_all_else_is_compared(oracle: Outcome, verdict: str) -> None:
    found = compare(CASE, oracle, IN_QUESTION)
    assert found.verdict == verdict
    assert found.oracle == oracle
    assert (found.reason == "documents leave open something") is (verdict == "uncovered")


def test_a_number_that_is_open_gives_no_other_a_tolerance() -> None:
    """A tolerance is of the largest number of a tensor, which must not be one that is open."""
    ours = marked(*(tensor("1.0", it, dtype="torch.float32") for it in ("0.5", "0.25")))
    theirs = tensor("1.001", "9e30", dtype="torch.float32")
    assert compare(CASE, theirs, ours).verdict == "mismatch"
    close = tensor("1.000001", "9e30", dtype="torch.float32")
    assert compare(CASE, close, ours).verdict == "uncovered"


def test_an_error_whose_words_show_it() -> None:
    one, two = (Outcome("raised", type="RuntimeError", message=it) for it in ("5 > 1", "6 > 1"))
    found = marked(one, two)
    assert compare(CASE, replace(one, message="9 > 1"), found).verdict == "uncovered"
    assert compare(CASE, replace(one, type="ValueError"), found).verdict == "mismatch"
    assert compare(CASE, tensor("1"), found).verdict == "mismatch"


def test_a_case_that_ends_otherwise_for_it_may_end_anyhow() -> None:
    refused = Outcome("raised", type="RuntimeError", message="no")
    for found in (
        marked(tensor("1"), refused, tensor("1")),
        marked(refused, replace(refused, type="TypeError")),
    ):
        for oracle in (tensor("9"), refused, replace(refused, type="ValueError")):
            assert compare(CASE, oracle, found).verdict == "uncovered"


def test_an_outcome_that_has_the_words_by_chance_is_compared() -> None:
    """Only what the device told of is open."""
    ours = Outcome("returned", OPEN)
    assert compare(CASE, tensor("1"), ours).verdict == "mismatch"


def test_warnings_that_show_it() -> None:
    one, two = (replace(tensor("1"), warnings=(("W", text),)) for text in ("5", "6"))
    assert compare(CASE, replace(one, warnings=(("W", "9"),)), marked(one, two)).verdict == (
        "uncovered"
    )


# --- when a case runs again -----------------------------------------------------------------------


class FakeNpu:
    AclError = RuntimeError

    def record_fallbacks(self) -> Any:
        return nullcontext([])

    def synchronize(self) -> None:
        pass


@pytest.fixture
def noticed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a simulator would tell."""
    words: list[str] = []
    monkeypatch.setattr(ascend, "provide", lambda: None)
    monkeypatch.setattr(ascend, "violations", list)
    monkeypatch.setattr(ascend, "take_open", lambda: words)
    return words


def judged(outcome: Outcome) -> tuple[Here, Outcome]:
    here = Here(SimpleNamespace(npu=FakeNpu()))  # type: ignore[arg-type]
    here()
    return here, here.judged(outcome)


def test_a_case_in_which_nothing_happened_runs_once(noticed: list[str]) -> None:
    here, found = judged(tensor("1"))
    assert (here.left_open, found.uncovered) == ([], "")


def test_what_happened_is_told(noticed: list[str]) -> None:
    noticed.append("integer")
    assert judged(tensor("1"))[0].left_open == ["integer"]


def test_a_kernel_that_gave_up_is_counted_apart_whoever_hears_of_it(noticed: list[str]) -> None:
    noticed.append("fault")
    here, found = judged(tensor("1"))
    assert (here.left_open, found.uncovered) == ([], DEVICE_FAULT)
    refused = Outcome("raised", type="IndexError", message="index 7 is out of bounds")
    assert compare(CASE, refused, found).verdict == "uncovered"
    assert compare(CASE, tensor("2"), found).verdict == "mismatch"  # torch found nothing wrong


def test_a_broken_rule_is_no_open_value(
    noticed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noticed.append("integer")
    monkeypatch.setattr(ascend, "violations", lambda: ["use-after-free: …"])
    here, found = judged(tensor("1"))
    assert (here.left_open, found.type) == ([], VIOLATIONS)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the simulator is told to make of it; 0 when a case runs as ever."""
    now = [0]

    @contextmanager
    def choosing(choice: int) -> Iterator[None]:
        now[0] = choice
        yield
        now[0] = 0

    monkeypatch.setattr(ascend, "choosing", choosing)
    return now


def test_it_runs_again_with_every_choice(chosen: list[int]) -> None:
    found = settled_on_npu(tensor("1", "0"), ["tie"], lambda: tensor("1", str(chosen[0])))
    assert values(found) == ["1", OPEN]
    assert found.uncovered == "documents leave open which of two alike comes first"
    assert chosen == [0]


def test_one_that_does_not_show_it_is_compared_like_any_other(chosen: list[int]) -> None:
    first = replace(tensor("1"), uncovered="aten::sort")
    assert settled_on_npu(first, ["tie"], lambda: tensor("1")).uncovered == "aten::sort"


def test_one_that_does_not_do_the_same_twice_is_compared_as_it_is(chosen: list[int]) -> None:
    runs = iter([tensor("2"), tensor("3"), tensor("4")])
    assert settled_on_npu(tensor("1"), ["tie"], lambda: next(runs)) == tensor("1")
