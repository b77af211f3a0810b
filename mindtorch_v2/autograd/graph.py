"""``torch.autograd.graph``: nodes, edges, and hooks of several tensors.

Mirrors ``torch/autograd/graph.py``.
"""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod, update_abstractmethods
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd import node
from mindtorch_v2.autograd.engine import current_graph_task_id, will_engine_execute_node
from mindtorch_v2.autograd.function import FunctionBase
from mindtorch_v2.autograd.grad_mode import enable_grad
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.autograd.mutation_on_saved import allow_mutation_on_saved_tensors
from mindtorch_v2.autograd.saved_tensors_hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from mindtorch_v2.autograd.variable import bump_version
from mindtorch_v2.tensor.support import HABITS, exception_of
from mindtorch_v2.tensor.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(ABC):
    """What every node is an instance of, though no node's class has it among its bases."""

    @abstractmethod
    def name(self) -> str:
        """Of the operation."""

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Nodes that gradients go to, and which of their inputs."""

    @abstractmethod
    def metadata(self) -> dict[str, Any]:
        """What anybody has said of it."""

    @property
    @abstractmethod
    def _input_metadata(self) -> list[Any]: ...

    @abstractmethod
    def _sequence_nr(self) -> int: ...

    @abstractmethod
    def _register_hook_dict(self, tensor: Any) -> None: ...

    @abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node."""

    @abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        """Of users' functions only what ``apply`` makes: their contexts alone are no nodes."""
        from mindtorch_v2.autograd.function import BackwardCFunction

        is_node = issubclass(subclass, (node.CppFunction, BackwardCFunction))
        return True if cls is Node and is_node else NotImplemented


for _name in Node.__abstractmethods__ - {*profile.active().autograd["node_methods"]}:
    delattr(Node, _name)  # what newer releases have
update_abstractmethods(Node)  # type: ignore[type-abstract]


_OWNS: Final = HABITS["a gradient edge owns its graph"]


class GradientEdge(NamedTuple):
    """Where a gradient goes: a node, and which of its inputs."""

    node: Any
    output_nr: int
    ownership_token: Any = None


if not _OWNS:

    class GradientEdge(NamedTuple):  # type: ignore[no-redef]
        """The same, in releases whose edges keep nothing."""

        node: Any
        output_nr: int


def get_gradient_edge(tensor: Any) -> GradientEdge:
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    function = _get_grad_fn_or_grad_acc(tensor)
    token: tuple[Any, ...] = ()
    if _OWNS and isinstance(function, FunctionBase):
        with enable_grad():  # which keeps what the node is a part of
            token = (tensor.view_as(tensor).grad_fn,)
    return GradientEdge(function, tensor.output_nr, *token)


_TAKES_SEVERAL: Final = HABITS["versions of several tensors are counted at once"]
_WITHOUT_GRADIENT: Final[Any] = profile.active().autograd["words"]["hook_without_gradient"]
_COUNTED: Final[Any] = (Tensor, Iterable) if _TAKES_SEVERAL else Tensor
_COUNTED_WORD: Final = "Iterable[Tensor]" if _TAKES_SEVERAL else "Tensor"


def increment_version(tensor: Any) -> None:
    """Count a change that nobody has seen; RuntimeError for what is no tensor."""
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensor, _COUNTED):
        raise RuntimeError(f"increment_version expect a {_COUNTED_WORD} as input")
    for each in tensors:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if not (_TAKES_SEVERAL and each._is_inference()):
            bump_version(each)


# --- hooks of several tensors -----------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """Takes back a hook from every tensor that has it."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state


def _get_grad_fn_or_grad_acc(tensor: Any) -> Any:
    if isinstance(tensor, GradientEdge):
        return tensor.node
    if tensor.requires_grad and tensor.grad_fn is None:
        with enable_grad():
            return tensor.view_as(tensor).grad_fn.next_functions[0][0]
    node = tensor.grad_fn
    if node is None:
        raise exception_of(*_WITHOUT_GRADIENT)
    return node


def _task_id() -> int:
    """Of the backward that runs, within a hook."""
    number = current_graph_task_id()
    assert number != -1, "expected this hook to be called inside a backward call"
    return number


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn`` once in each backward: with all gradients, None where a tensor gets none, as
    soon as they are there; in mode ``any`` with the first one.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "all":
        arrived = _Arrivals([*map(_get_grad_fn_or_grad_acc, tensors)], fn)
        hooks = (functools.partial(arrived.hook, place) for place in range(len(tensors)))
        return _MultiHandle(
            tuple(each.register_hook(hook) for each, hook in zip(tensors, hooks, strict=True))
        )
    lock, ran_hook = threading.Lock(), defaultdict[int, bool](bool)

    @functools.wraps(fn)
    def wrapped_fn(grad: Any) -> None:
        number = _task_id()
        with lock:
            is_late, ran_hook[number] = ran_hook[number], True
        if not is_late:
            fn(grad)

    return _MultiHandle(
        tuple(each.register_hook(wrapped_fn) for each in tensors if each.requires_grad)
    )


class _Arrivals:
    """The gradients that have arrived at some nodes, for each backward that runs."""

    def __init__(self, nodes: list[Any], fn: Callable[[Any], None]) -> None:
        self.nodes, self.fn = nodes, fn
        self.lock = threading.Lock()
        self.counts: dict[int, int] = {}
        self.wanted = 0
        self.grads: dict[int, list[Any]] = {}

    def hook(self, place: int, grad: Any) -> None:
        number = _task_id()
        grads = self.grads.setdefault(number, [None] * len(self.nodes))
        with self.lock:
            self.counts[number] = count = self.counts.get(number, 0) + 1
            if count == 1:
                self.wanted = sum(map(will_engine_execute_node, self.nodes))
        grads[place] = grad
        if count == self.wanted:
            self.fn(grads)
            del self.counts[number], self.grads[number]
