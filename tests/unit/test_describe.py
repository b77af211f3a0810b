"""Descriptions say everything that a comparison is to see, and are the same for every module."""

import collections
import json
import math
from typing import Any, NamedTuple

import pytest
from fakes import Tensor, patient
from hypothesis import given
from hypothesis import strategies as st

from conformance.describe import MAX_DEPTH, MAX_ITEMS, describe, is_tensor, qualified_name, show


class Pair(NamedTuple):
    left: int
    right: int


class Listed(list):  # type: ignore[type-arg]
    pass


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


HERE = __name__

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, 1e16, 0.1 + 0.2]),
    st.complex_numbers(),
    st.text(max_size=3),
    st.sampled_from(["1", "None", "1 : int", "", " "]),
    st.binary(max_size=3),
    st.sampled_from([int, bool, float, list]),
)
KEYS = st.one_of(st.booleans(), st.integers(-2, 2), st.floats(-2, 2), st.text(max_size=2))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(inner, max_size=2).map(Listed),
    ),
    max_leaves=8,
)


def same(a: Any, b: Any) -> bool:
    """Whether two of VALUES are the same in type, value, order and every digit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(i, j) and same(a[i], b[j]) for i, j in zip(a, b, strict=True)
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    return bool(a == b)


# Values -----------------------------------------------------------------------------------------


@patient
@given(VALUES, VALUES)
def test_two_values_have_one_description_only_if_they_are_the_same(a: Any, b: Any) -> None:
    assert (describe(a) == describe(b)) == same(a, b)


@patient
@given(VALUES)
def test_a_description_comes_back_from_json_as_it_was(value: Any) -> None:
    description = describe(value)
    assert json.loads(json.dumps(description)) == description


@pytest.mark.parametrize(
    ("value", "description"),
    [
        (None, "None : NoneType"),
        (True, "True : bool"),
        (1, "1 : int"),
        (1.0, "1.0 : float"),
        (-0.0, "-0.0 : float"),
        (math.nan, "nan : float"),
        ("a\n'", '"a\\n\'" : str'),
        (int, "int : class"),
        (Pair, f"{HERE}.Pair : class"),
        (json, "json : module"),
        (
            [1, (2,)],
            {"type": "list", "items": ["1 : int", {"type": "tuple", "items": ["2 : int"]}]},
        ),
        (Pair(1, 2), {"type": f"{HERE}.Pair", "items": ["1 : int", "2 : int"]}),
        (Listed([1]), {"type": f"{HERE}.Listed", "items": ["1 : int"]}),
        ({"a": 1}, {"type": "dict", "pairs": [["'a' : str", "1 : int"]]}),
        (
            collections.OrderedDict(a=1),
            {"type": "collections.OrderedDict", "pairs": [["'a' : str", "1 : int"]]},
        ),
        ({2, 1}, {"type": "set", "items": ["1 : int", "2 : int"]}),
        (frozenset(), {"type": "frozenset", "items": []}),
    ],
    ids=repr,
)
def test_a_value_is_described_by_repr_and_type_and_a_container_by_its_items(
    value: object, description: object
) -> None:
    assert describe(value) == description


def test_the_order_of_a_dict_is_described_and_that_of_a_set_is_not() -> None:
    assert describe({"a": 1, "b": 2}) != describe({"b": 2, "a": 1})
    # Of small integers, a set's order depends on the order in which they came.
    ordered = (set([8, 0]), set([0, 8]))  # noqa: C405
    assert [list(each) for each in ordered] == [[8, 0], [0, 8]]
    assert describe(ordered[0]) == describe(ordered[1])


def test_a_repr_that_raises_is_described_by_its_error() -> None:
    assert describe(Unprintable()) == (f"<repr raised RuntimeError: no text> : {HERE}.Unprintable")


def test_a_list_that_is_cut_says_how_long_it_was() -> None:
    description = describe([0] * (MAX_ITEMS + 5))
    assert isinstance(description, dict)
    assert len(description["items"]) == MAX_ITEMS + 1
    assert description["items"][-1] == f"… : {MAX_ITEMS + 5} items"
    assert describe([0] * (MAX_ITEMS + 1)) != describe([0] * (MAX_ITEMS + 2))


def test_a_list_that_holds_itself_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    shown = show(describe(endless))
    assert shown == "list[" * (MAX_DEPTH + 1) + "… : nested too deep" + "]" * (MAX_DEPTH + 1)


def test_names_are_qualified_but_for_those_of_builtins() -> None:
    assert qualified_name(int) == "int"
    assert qualified_name(Pair) == f"{HERE}.Pair"
    assert qualified_name(json.JSONDecodeError) == "json.decoder.JSONDecodeError"


# Tensors ----------------------------------------------------------------------------------------


def tensor(**facts: Any) -> Tensor:
    return Tensor(**{"values": [1.0, -0.0], **facts})


def test_a_tensor_is_known_by_what_it_can_do() -> None:
    assert is_tensor(tensor())
    assert not is_tensor(Tensor)
    assert not is_tensor([1.0])


def test_a_tensor_is_described_by_its_metadata_and_every_value() -> None:
    assert describe(tensor()) == {
        "type": "fakes.Tensor",
        "dtype": "float32",
        "device": "cpu",
        "layout": "strided",
        "requires_grad": "False",
        "shape": [2],
        "stride": [1],
        "values": ["1.0", "-0.0"],
    }


DIFFERENCES: dict[str, dict[str, Any]] = {
    "dtype": {"dtype": "float64"},
    "device": {"device": "cuda:0"},
    "layout": {"layout": "sparse_coo"},
    "requires_grad": {"requires_grad": True},
    "requires_grad as an integer": {"requires_grad": 0},
    "shape": {"shape": (2, 1)},
    "shape as floats": {"shape": (2.0,)},
    "shape as a truth value": {"shape": (True,), "stride": (1,)},
    "stride": {"stride": (2,)},
    "stride as a truth value": {"stride": (True,)},
    "sign of zero": {"values": [1.0, 0.0]},
    "last digit": {"values": [1.0000000000000002, -0.0]},
    "a value's type": {"values": [1, -0.0]},
    "nesting": {"values": [[1.0, -0.0]]},
    "order": {"values": [-0.0, 1.0]},
}


@pytest.mark.parametrize("difference", DIFFERENCES.values(), ids=DIFFERENCES)
def test_tensors_that_differ_in_one_thing_have_different_descriptions(
    difference: dict[str, Any],
) -> None:
    base = {"shape": (1,)} if difference.get("shape") == (True,) else {}
    assert describe(tensor(**difference)) != describe(tensor(**base))


def test_a_field_that_raises_is_described_by_its_error() -> None:
    class Broken(Tensor):
        def stride(self) -> tuple[int, ...]:
            raise RuntimeError("sparse tensors have no strides")

    description = describe(Broken([1.0, 2.0]))
    assert isinstance(description, dict)
    assert description["stride"] == "RuntimeError: sparse tensors have no strides"
    assert description["values"] == ["1.0", "2.0"]


def test_a_meta_tensor_has_no_values_to_describe() -> None:
    description = describe(tensor(device="meta", values=None))
    assert isinstance(description, dict)
    assert description["values"] == "no data"


def test_a_tensor_in_a_container_is_described_as_one() -> None:
    assert describe([tensor()]) == {"type": "list", "items": [describe(tensor())]}


# Showing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "1 : int"),
        ([1, (2,)], "list[1 : int, tuple[2 : int]]"),
        ({"a": [1]}, "dict{'a' : str: list[1 : int]}"),
        (
            Tensor([1.0, 2.0]),
            "fakes.Tensor(dtype=float32, device=cpu, layout=strided, requires_grad=False, "
            "shape=[2], stride=[1], values=['1.0', '2.0'])",
        ),
    ],
    ids=["leaf", "list", "dict", "tensor"],
)
def test_a_description_is_shown_on_one_line(value: object, shown: str) -> None:
    assert show(describe(value)) == shown


def test_what_was_not_described_is_shown_as_nothing() -> None:
    assert show(None) == "nothing"
