"""What dispatch on Python objects makes of arguments before they are converted."""

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.binding.pyobj_dispatch import ObjectDispatch
from mindtorch_v2.schema import parse_schema


@pytest.mark.parametrize(
    ("schema", "given", "left"),
    [
        ("f(Tensor[] x, int y) -> Tensor", [1, 2, 3], []),
        ("f(SymInt[] x) -> Tensor", [1, 2, 3], []),
        ("f(SymInt[] x) -> Tensor", [1, "a", 3], [3]),
        ("f(int[] x) -> Tensor", [1, 2, 3], [1, 2, 3]),
        ("f(int[]? x) -> Tensor", [1, 2, 3], [1, 2, 3]),
    ],
)
@pytest.mark.parametrize("by_keyword", [False, True])
def test_iterators_are_looked_through(
    schema: str, given: list[object], left: list[object], by_keyword: bool
) -> None:
    items = (item for item in given)
    args, kwargs = ([], {"x": items}) if by_keyword else ([items], {})
    ObjectDispatch(parse_schema(schema)).look_through(args, kwargs)
    assert list(items) == left


def test_what_no_vector_is_made_of_is_left_alone() -> None:
    items = iter([1, 2])
    ObjectDispatch(parse_schema("f(Tensor[] x) -> Tensor")).look_through([items], {})
    assert list(items) == [1, 2]  # no conversion takes it


@pytest.mark.parametrize(
    ("schema", "given", "taken"),
    [
        ("f(Tensor x, Tensor[] y) -> Tensor", "rows", True),
        ("f(Tensor x, Tensor[] y) -> Tensor", "items", True),
        ("f(Tensor x, Tensor[] y) -> Tensor", "number", False),
        ("f(Tensor x, Tensor[] y) -> Tensor", "single", False),
        ("f(Tensor x, Tensor?[] y) -> Tensor", "rows", False),
        ("f(Tensor? x, Tensor[] y) -> Tensor", "rows", False),
    ],
)
def test_where_tensors_alone_are_wanted_what_can_be_iterated_is_a_list(
    schema: str, given: str, taken: bool
) -> None:
    x = torch.ones(2, 1)
    args = x, {"rows": x, "items": iter([x]), "number": 3, "single": torch.ones(())}[given]
    found = ObjectDispatch(parse_schema(schema)).taken(args, {})
    assert (found is args) is not taken
    if taken:
        assert found[0] is x
        rows = [[1], [1]]
        assert [each.tolist() for each in found[1]] == (rows if given == "rows" else [rows])


def test_by_keyword_a_tensor_is_no_list() -> None:
    x = torch.ones(2)
    args = (x,)
    dispatch = ObjectDispatch(parse_schema("f(Tensor x, Tensor[] y) -> Tensor"))
    assert dispatch.taken(args, {"y": x}) is args
