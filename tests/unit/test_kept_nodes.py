"""Nodes that accumulate for a leaf: who else looks cannot tell that the leaf keeps one.

What is expected was read off PyTorch, whose nodes live as long as somebody holds them.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mindtorch_v2 as xp

_OFTEN = 12


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    """Calls take the short way, and nothing but its last owner lets go of an object."""
    x, y = xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True)
    for _ in range(_OFTEN):
        x + 1.0, x * y, x.view(-1), x + y
    gc.disable()
    yield
    gc.enable()


def leaf(size: int = 2) -> Any:
    return xp.ones(size, requires_grad=True)


def node_of(graph: Any, place: int = 0) -> Any:
    return graph.grad_fn.next_functions[place][0]


def keeps(x: Any) -> bool:
    return type(x._autograd.grad_accumulator) is tuple


def shapes(node: Any) -> list[list[int]]:
    return [list(each[3]) for each in node._received]


def test_a_leaf_keeps_its_node_from_graph_to_graph() -> None:
    x = leaf()
    first = (x + 1.0).grad_fn._edges[0][0]
    assert keeps(x)
    assert (x + 1.0).grad_fn._edges[0][0] is first


def test_a_node_that_was_shown_dies_with_the_last_who_has_it() -> None:
    x = leaf()
    y, z = x + 1.0, x * x
    node = node_of(y)
    assert node_of(z) is node_of(z, 1) is node
    seen = weakref.ref(node)
    del y, node
    assert seen() is not None
    assert node_of(z) is seen()
    del z
    assert seen() is None
    assert not keeps(x)


def test_a_graph_keeps_the_leaf_and_the_leaf_no_graph() -> None:
    x = leaf()
    y = x + 1.0
    seen = weakref.ref(x)
    del x
    assert seen() is not None
    del y
    assert seen() is None


def test_a_node_keeps_the_leaf() -> None:
    x = leaf()
    y = x + 1.0
    seen, node = weakref.ref(x), node_of(y)
    del x, y
    assert node.variable is seen()
    del node
    assert seen() is None


def test_a_graph_keeps_no_operand_that_is_no_leaf() -> None:
    x = leaf()
    y = x + 1.0
    z = y + x
    seen = weakref.ref(y)
    del y
    assert seen() is None
    assert z.requires_grad


def test_nothing_of_a_graph_stays_but_the_node() -> None:
    x, other = leaf(), leaf()
    y = (x + 1.0) * other
    seen = weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(other)
    del y, other
    assert [each() for each in seen] == [None] * 3


@pytest.mark.parametrize("shown", [False, True])
def test_a_node_knows_the_leaf_as_it_was_when_its_graph_was_made(shown: bool) -> None:
    x = leaf(2)
    y = x + 1.0
    if shown:
        node_of(y)
    x.data = xp.ones(3)
    assert shapes(node_of(x * x)) == [[2]]  # it is the node of both
    del y
    assert shapes(node_of(x + 1.0)) == [[3]]


@pytest.mark.parametrize("record", [lambda x: x + 1.0, lambda x: x.view(-1)])
def test_a_leaf_that_has_changed_gets_another_node(record: Callable[[Any], Any]) -> None:
    x = leaf(2)
    record(x)
    with xp.no_grad():
        x.unsqueeze_(0)
    assert shapes(record(x).grad_fn._edges[0][0]) == [[1, 2]]
    record(x)
    x.data = x.data.double()
    assert record(x).grad_fn._edges[0][0]._received[0][0] is xp.float64


def test_what_is_no_leaf_any_more_has_no_such_edge() -> None:
    x = leaf()
    x + 1.0
    assert keeps(x)
    x.requires_grad_(False)
    assert not (x + 1.0).requires_grad
    x.mul_(leaf())
    x.requires_grad_(True)
    assert node_of(x + 1.0) is x.grad_fn


def test_backward_reaches_a_leaf_that_nobody_else_has() -> None:
    seen: list[Any] = []
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda each: seen.append(each.grad.tolist()))
    y = x * x
    del x
    y.sum().backward()
    assert seen == [[2.0, 2.0]]


def test_an_edge_that_another_node_takes_over_keeps_the_leaf() -> None:
    seen: list[Any] = []
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda each: seen.append(each.grad.tolist()))
    base = xp.zeros(4)
    base[:2].add_(x + 0.0)
    view = base[2:]
    view.mul_(x)  # whose node's edges are those of the base's from now on
    del x, view
    base.sum().backward()
    assert seen == [[1.0, 1.0]]


def test_a_node_of_anomaly_mode_knows_where_it_was_made() -> None:
    x = leaf()
    x + 1.0
    with xp.autograd.set_detect_anomaly(True):
        assert set(node_of(x + 1.0).metadata) == {"traceback_"}
    assert not node_of(x + 1.0).metadata


def test_hooks_of_a_node_go_with_it() -> None:
    called: list[str] = []
    x = leaf()
    y = x + 1.0
    node_of(y).register_hook(lambda *grads: called.append("hook"))
    z = x + 1.0
    z.sum().backward()
    assert called == ["hook"]
    del y, z
    (x + 1.0).sum().backward()
    assert called == ["hook"]


def test_a_backward_shows_its_nodes() -> None:
    found: list[Any] = []
    x = leaf()
    y = x + 1.0

    def ask(grad: Any) -> None:
        found.extend(xp._C._current_graph_task_execution_order())

    total = y.sum()
    total.register_hook(ask)
    with xp.autograd.set_multithreading_enabled(False):
        total.backward()
    node = found.pop()
    seen = weakref.ref(x)
    del x, y, total
    found.clear()
    assert node.variable is seen()


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_node_is_shown_as_the_parent_of_what_it_makes() -> None:
    x = leaf()
    y = (x + 1.0) * leaf()
    with xp.autograd.set_detect_anomaly(True):
        y.sum().backward(create_graph=True)
        y.sum().backward(create_graph=True)
    parent = x.grad.grad_fn.metadata["parent_"]
    x.grad = None
    seen = weakref.ref(x)
    del x, y
    assert parent.variable is seen()


def test_a_second_backward_is_refused_though_a_number_was_saved() -> None:
    x = leaf()
    for y in (x * 2, 2.0 * x, x / 3, x.clone().mul_(2)):
        y.sum().backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            y.sum().backward()
