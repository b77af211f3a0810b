"""What dispatch on Python objects takes out of iterators before they are converted."""

import pytest

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
