"""Trees of containers agree with ``torch.utils._pytree``."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

from mindtorch_v2.utils import _pytree

Point = namedtuple("Point", ["x", "y"])

TREES: tuple[Any, ...] = (
    1,
    None,
    [],
    (),
    {},
    [1, (2, None), {"a": [3], "b": 4}],
    Point(1, [2, 3]),
    OrderedDict(b=1, a=(2,)),
    defaultdict(list, a=1, b=[2]),
    deque([1, [2]], maxlen=3),
    [range(2), "ab", {1, 2}],
)

USES: tuple[Callable[[Any, Any], object], ...] = (
    lambda pytree, tree: pytree.tree_leaves(tree),
    lambda pytree, tree: repr(pytree.tree_flatten(tree)[1]),
    lambda pytree, tree: pytree.tree_unflatten(*pytree.tree_flatten(tree)),
    lambda pytree, tree: pytree.tree_map(str, tree),
    lambda pytree, tree: pytree.tree_map(lambda a, b: (a, b), tree, tree),
    lambda pytree, tree: pytree.tree_map_only(int, float, tree),
    lambda pytree, tree: pytree.tree_map_only(lambda leaf: leaf is None, str, tree),
    lambda pytree, tree: pytree.tree_map_(str, tree) is tree,
    lambda pytree, tree: pytree.arg_tree_leaves(tree, 1, k=tree),
    lambda pytree, tree: pytree.tree_any(lambda leaf: leaf == 2, tree),
    lambda pytree, tree: pytree.tree_all_only(int, lambda leaf: leaf > 1, tree),
    lambda pytree, tree: pytree.tree_leaves(tree, is_leaf=lambda each: isinstance(each, tuple)),
)


@pytest.mark.torch
@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_a_tree_is_taken_apart_as_in_torch(tree: Any) -> None:
    torch_pytree = pytest.importorskip("torch.utils._pytree")
    for use in USES:
        expected, found = use(torch_pytree, tree), use(_pytree, tree)
        assert (type(found), found) == (type(expected), expected)


def test_a_tree_comes_together_again_of_other_leaves() -> None:
    leaves, spec = _pytree.tree_flatten(Point(1, {"a": [2, 3]}))
    assert leaves == [1, 2, 3]
    assert spec.num_leaves == 3
    assert spec.unflatten("xyz") == Point("x", {"a": ["y", "z"]})


def test_too_few_leaves_are_refused() -> None:
    spec = _pytree.tree_structure([1, 2])
    with pytest.raises(ValueError, match="`leaves` has length 1"):
        spec.unflatten([1])


def test_trees_of_other_shapes_are_not_mapped_together() -> None:
    with pytest.raises(ValueError, match="mismatch"):
        _pytree.tree_map(max, [1, 2], [1])
    with pytest.raises(ValueError, match="mismatch"):
        _pytree.tree_map(max, [1, 2], 1)
