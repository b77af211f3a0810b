"""Containers as trees of leaves: what a ``__torch_dispatch__`` needs to handle its arguments.

Mirrors ``torch/utils/_pytree.py``, without serialisation and paths.  A container is a node by its
exact type, or if it is a named tuple; anything else is a leaf, None too.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mindtorch_v2.tensor.size import Size

PyTree = Any
IsLeaf = Callable[[PyTree], bool]
TypeOrPredicate = type | tuple[type, ...] | Callable[[Any], bool]


class Node(NamedTuple):
    """How a container comes apart, into children and what else it is made of, and together."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]


def _of_mapping(make: Callable[[Any], Any]) -> Node:
    return Node(
        lambda tree: (list(tree.values()), list(tree)),
        lambda children, keys: make(zip(keys, children, strict=True)),
    )


SUPPORTED_NODES: Final[dict[type, Node]] = {
    tuple: Node(lambda tree: (list(tree), None), lambda children, _: tuple(children)),
    list: Node(lambda tree: (tree, None), lambda children, _: list(children)),
    Size: Node(lambda tree: (list(tree), None), lambda children, _: tuple(children)),
    dict: _of_mapping(dict),
    OrderedDict: _of_mapping(OrderedDict),
    defaultdict: Node(
        lambda tree: (list(tree.values()), [tree.default_factory, list(tree)]),
        lambda children, made: defaultdict(made[0], zip(made[1], children, strict=True)),
    ),
    deque: Node(
        lambda tree: (list(tree), tree.maxlen),
        lambda children, maxlen: deque(children, maxlen=maxlen),
    ),
}
_NAMED_TUPLE: Final = Node(
    lambda tree: (list(tree), type(tree)), lambda children, cls: cls(*children)
)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    **_names: Any,
) -> None:
    """Make a class a container; ValueError if it is one."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = Node(flatten_fn, unflatten_fn)


def _is_named_tuple(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return cls.__bases__ == (tuple,) and isinstance(fields, tuple)


def _node(tree: PyTree) -> Node | None:
    cls = type(tree)
    return SUPPORTED_NODES.get(cls) or (_NAMED_TUPLE if _is_named_tuple(cls) else None)


# --- flat, and back ---------------------------------------------------------------------------


@dataclass
class TreeSpec:
    """What of a tree is no leaf."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @property
    def num_leaves(self) -> int:
        return sum(spec.num_leaves for spec in self.children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return isinstance(self, LeafSpec)

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree of as many leaves; ValueError for another number."""
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(given))

    def _built(self, leaves: Iterator[Any]) -> PyTree:
        children = [spec._built(leaves) for spec in self.children_specs]
        node = SUPPORTED_NODES.get(self.type, _NAMED_TUPLE)
        return node.unflatten(children, self.context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of another tree where this one has leaves; ValueError if it is of another
        shape."""
        node = _node(tree)
        if node is None:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, _ = node.flatten(tree)
        if type(tree) is not self._python_type or len(children) != self.num_children:
            raise ValueError(
                f"Node mismatch; expected {self.type!r} with {self.num_children} children, "
                f"but got {type(tree)!r} with {len(children)}."
            )
        if isinstance(tree, (dict, OrderedDict)):
            children = [tree[key] for key in self._keys]
        pairs = zip(self.children_specs, children, strict=True)
        return [part for spec, child in pairs for part in spec.flatten_up_to(child)]

    @property
    def _python_type(self) -> Any:
        return self.type if self.type in SUPPORTED_NODES else self.context

    @property
    def _keys(self) -> Any:
        return self.context[1] if self.type is defaultdict else self.context

    def __repr__(self) -> str:
        inner = ",\n".join(repr(spec) for spec in self.children_specs).replace("\n", "\n  ")
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


class LeafSpec(TreeSpec):
    """A leaf alone."""

    def __init__(self) -> None:
        super().__init__(None, None, [])

    @property
    def num_leaves(self) -> int:
        return 1

    def _built(self, leaves: Iterator[Any]) -> PyTree:
        return next(leaves)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        return [tree]

    def __repr__(self) -> str:
        return "*"


def tree_flatten(tree: PyTree, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, and the spec that makes the tree of them."""
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        return [tree], LeafSpec()
    children, context = node.flatten(tree)
    leaves: list[Any] = []
    specs = []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    kind = type(tree) if type(tree) in SUPPORTED_NODES else namedtuple
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of these leaves; TypeError for what is no spec."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec "
            f"but got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf | None = None) -> Iterator[Any]:
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[Any]:
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf | None = None) -> TreeSpec:
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_leaves(tree)]


# --- every leaf -------------------------------------------------------------------------------


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """The tree of what ``func`` answers for every leaf, with those at its place in the rests."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """The same for what ``func`` does; answers ``tree``."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types_or_pred: TypeOrPredicate,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf | None = None,
) -> PyTree:
    """:func:`tree_map` for leaves of some types, or of which something holds."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: TypeOrPredicate,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf | None = None,
) -> PyTree:
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def map_only(
    type_or_types_or_pred: TypeOrPredicate,
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Restricts a function to some values; of others the result answers themselves."""
    holds = _predicate(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if holds(leaf) else leaf


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any_only(
    type_or_types: TypeOrPredicate,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: IsLeaf | None = None,
) -> bool:
    return any(map(pred, _leaves_of(type_or_types, tree, is_leaf)))


def tree_all_only(
    type_or_types: TypeOrPredicate,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: IsLeaf | None = None,
) -> bool:
    return all(map(pred, _leaves_of(type_or_types, tree, is_leaf)))


def _leaves_of(
    type_or_types: TypeOrPredicate, tree: PyTree, is_leaf: IsLeaf | None
) -> Iterator[Any]:
    return filter(_predicate(type_or_types), tree_iter(tree, is_leaf))


def _predicate(given: TypeOrPredicate) -> Callable[[Any], bool]:
    if isinstance(given, (type, tuple)):
        return lambda leaf: isinstance(leaf, given)
    if callable(given):
        return given
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")
