"""Lists of numbers of one type: that they are told apart, and become what they ever became."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.tensor import construct
from mindtorch_v2.tensor.usual_lists import usual_array

_LISTS = ("[1.5]", "[[1.0, 2.0], [float('inf'), float('nan')]]", "[1, -2]", "[[True], [False]]")


@pytest.mark.parametrize("text", _LISTS)
@pytest.mark.parametrize("dtype", [None, xp.float32, xp.float64, xp.int64, xp.bool, xp.int8])
def test_a_tensor_is_the_same_on_both_ways(
    text: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = eval(text)
    try:
        usual = xp.tensor(data, dtype=dtype)
    except RuntimeError as error:
        usual = error
    monkeypatch.setattr(construct, "usual_array", lambda data, dtype: None)
    try:
        long = xp.tensor(data, dtype=dtype)
    except RuntimeError as error:
        long = error
    assert repr(usual) == repr(long)
    assert type(usual) is type(long)


@pytest.mark.parametrize(
    "data",
    [[], [[]], [[1], [1, 2]], [[1], 2], [1, 2.5], [True, 1], [1 << 63], [(1, 2)], ["a"], [None]],
)
def test_what_has_to_be_looked_at_is_left_alone(data: Any) -> None:
    assert usual_array(data, None) is None


def test_a_list_in_itself_is_no_usual_one() -> None:
    data: list[Any] = []
    data.append(data)
    assert usual_array(data, None) is None


def test_numbers_become_another_type_one_by_one() -> None:
    assert usual_array([1], xp.float32) is None
    assert usual_array([1.5], xp.float16) is None
    found = usual_array([1.5], xp.float64)
    assert found is not None
    assert found[1] is xp.float64
