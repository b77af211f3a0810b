"""Torch's samples as cases: texts that can be read, and none left out that could be run."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp
from conformance import grammar
from conformance.cases import opinfo, opinfo_samples
from conformance.cases.opinfo_pools import (
    CANCELLED,
    ELSEWHERE,
    NEARLY_FLAT,
    OPERATORS,
    ROUNDED,
    UNINITIALISED,
)
from conformance.vocabulary import for_profile
from mindtorch_v2 import profile
from tests.other_profiles import once_per_other_profile, run_again

PROFILE = profile.active()
LEFT_OUT = [
    each
    for each in PROFILE.opinfo["operators"]
    if each["name"] not in OPERATORS | ELSEWHERE and each["samples"]
]


def tensor(text: str) -> Any:
    return eval(text, {"xp": xp})


def test_every_text_is_a_case() -> None:
    vocabulary = for_profile(PROFILE.name)
    for _, text in opinfo.texts(PROFILE):
        grammar.parse(text, vocabulary)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"shape": [], "values": ["2.5"]}, "xp.tensor(2.5, dtype=xp.float32)"),
        ({"shape": [2, 1], "values": ["1.0", "xp.nan"]}, "[[1.0], [xp.nan]]"),
        ({"shape": [0, 3], "values": []}, "xp.empty((0, 3), dtype=xp.float32)"),
        ({"shape": [3, 3], "range": [9, -1.0, 0.25]}, "xp.arange(9) * 13 % 9 * 0.25 + -1.0"),
        ({"shape": [2, 8], "range": [1, 4.0, 1]}, "xp.full((2, 8), 4.0, dtype=xp.float32)"),
        ({"shape": [2, 2], "values": list("1234"), "stride": [1, 2]}, "xp.tensor([1, 3, 2, 4]"),
        ({"shape": [3, 2], "values": ["1"] * 6, "stride": [0, 1]}, ".as_strided((3, 2), (0, 1))"),
        ({"shape": [1] * 6, "values": ["7"]}, ".view((1, 1, 1, 1, 1, 1))"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_tensor_has_its_geometry(facts: dict[str, Any], text: str, device: str) -> None:
    facts = {"dtype": "float32", **facts}
    written = opinfo_samples.tensor(facts, device)  # type: ignore[arg-type]
    made = tensor(written)
    assert device == "meta" or text in written
    assert list(made.shape) == facts["shape"]
    assert made.dtype is xp.float32
    assert str(made.device) == device
    assert "stride" not in facts or list(made.stride()) == facts["stride"]


def test_a_range_has_as_many_different_numbers_as_it_says() -> None:
    facts: Any = {"dtype": "float16", "shape": [61], "range": [61, -8.5, 0.25]}
    assert sorted(tensor(opinfo_samples.tensor(facts)).tolist()) == [
        -8.5 + 0.25 * place for place in range(61)
    ]


def test_lists_name_operators_that_there_are() -> None:
    known = {
        each["name"] for name in profile.known() for each in profile.load(name).opinfo["operators"]
    }
    lists = (OPERATORS, ELSEWHERE, UNINITIALISED, CANCELLED, NEARLY_FLAT)
    for names in (*lists, ROUNDED.keys()):
        assert not names - known


@pytest.mark.parametrize("operator", LEFT_OUT, ids=lambda each: each["name"])
def test_an_operator_that_is_left_out_has_no_kernel(operator: Any) -> None:
    sample = operator["samples"][0]
    with pytest.raises(Exception):  # noqa: B017, PT011 (a kernel or a function is missing)
        exec(opinfo_samples.function(operator, sample), {"xp": xp})


@once_per_other_profile
def test_the_same_of_the_others(other: str) -> None:
    run_again(__file__, other)
