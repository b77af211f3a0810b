"""The rule for close floats: what it lets pass, and that it lets nothing else pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.case import Case
from conformance.closeness import close
from conformance.compare import compare
from conformance.outcome import Outcome

CASE = Case("core-ops", "exp", "xp.exp(xp.ones(1))", close=True)


def tensor(values: Any, dtype: str = "torch.float32", **changed: Any) -> dict[str, Any]:
    facts = {"type": "torch.Tensor", "dtype": dtype, "shape": [1], "stride": [1], "values": values}
    return {**facts, **changed}


def returned(value: Any, **changed: Any) -> Outcome:
    return Outcome("returned", value=value, **changed)


@pytest.mark.parametrize(
    ("one", "two", "dtype"),
    [
        (["1.0"], ["1.000001"], "torch.float32"),
        ([["-2.5"], ["3.0"]], [["-2.50001"], ["3.0"]], "torch.float32"),
        ("1.0", "1.000001", "torch.float32"),
        (["1.0"], ["1.0000000000001"], "torch.float64"),
        (["1e300"], ["1.0000000000001e300"], "torch.float64"),
        (["(1+2j)"], ["(1.00001+2j)"], "torch.complex64"),
        (["(1e-09+2j)"], ["2j"], "torch.complex64"),
        (["(nan+infj)"], ["(nan+infj)"], "torch.complex64"),
        (["-0j"], ["0j"], "torch.complex64"),
    ],
)
def test_close_elements_agree(one: Any, two: Any, dtype: str) -> None:
    assert close(returned(tensor(one, dtype)), returned(tensor(two, dtype)))


@pytest.mark.parametrize(
    ("one", "two", "dtype"),
    [
        (["1.0"], ["1.00002"], "torch.float32"),
        (["1.0"], ["1.00000000001"], "torch.float64"),
        (["1.0"], ["1.001"], "torch.float16"),
        (["1.0"], ["1.0000001"], "torch.bfloat16"),
        (["100000000"], ["100000001"], "torch.int64"),
        (["0.0"], ["-0.0"], "torch.float32"),
        (["0.0"], ["1e-30"], "torch.float32"),
        (["nan"], ["1.0"], "torch.float32"),
        (["inf"], ["-inf"], "torch.float32"),
        (["inf"], ["3e38"], "torch.float32"),
        (["(1+2j)"], ["(1+2.001j)"], "torch.complex64"),
        (["1.0"], ["1.0", "1.0"], "torch.float32"),
        (["1.0"], [["1.0"]], "torch.float32"),
        (["1.0"], "RuntimeError: no", "torch.float32"),
        ("no data", "no  data", "torch.float32"),
    ],
)
def test_other_elements_do_not(one: Any, two: Any, dtype: str) -> None:
    assert not close(returned(tensor(one, dtype)), returned(tensor(two, dtype)))


@pytest.mark.parametrize("field", ["type", "dtype", "shape", "stride"])
def test_metadata_is_compared_exactly(field: str) -> None:
    one = tensor(["1.0"])
    assert not close(returned(one), returned({**one, field: "another"}))
    assert not close(returned(one), returned({**one, "more": 1}))


def test_tensors_are_found_in_containers() -> None:
    def pair(value: str) -> Any:
        items = [tensor([value]), "True : bool"]
        return {"type": "tuple", "items": items}

    assert close(returned(pair("1.0")), returned(pair("1.000001")))
    assert not close(returned(pair("1.0")), returned(pair("1.1")))


def test_numbers_texts_and_warnings_are_compared_exactly() -> None:
    assert not close(returned("1.0 : float"), returned("1.000001 : float"))
    one, two = returned(tensor(["1.0"])), returned(tensor(["1.000001"]))
    assert not close(one, replace(two, warnings=(("UserWarning", "w"),)))
    raised = Outcome("raised", type="E", message="1.0")
    assert not close(raised, replace(raised, message="1.000001"))
    assert not close(one, raised)


def test_only_cases_that_say_so_use_it() -> None:
    one, two = returned(tensor(["1.0"])), returned(tensor(["1.000001"]))
    assert compare(CASE, one, two).verdict == "agree"
    assert compare(replace(CASE, close=False), one, two).verdict == "mismatch"


def test_a_case_keeps_it_in_json() -> None:
    assert Case.from_json(CASE.to_json()) == CASE
