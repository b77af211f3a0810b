"""``torch.autograd.graph``: nodes, edges, hooks of saved tensors.

Mirrors ``torch/autograd/graph.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from mindtorch_v2.autograd import node
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.autograd.saved_variable import SavedTensorHooks, defaults
from mindtorch_v2.autograd.variable import bump_version, gradient_edge, output_nr
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "saved_tensors_hooks",
]


class Node(ABC):
    """What every node is an instance of, though no node's class has it among its bases."""

    @abstractmethod
    def name(self) -> str:
        """Of the operation."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return True if cls is Node and issubclass(subclass, node.Node) else NotImplemented


class GradientEdge(NamedTuple):
    """Where a gradient goes: a node, and which of its inputs."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(gradient_edge(tensor).function, output_nr(tensor))


_TAKES_SEVERAL: Final = HABITS["versions of several tensors are counted at once"]
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


class saved_tensors_hooks:  # noqa: N801 (torch's name)
    """Context in which ``pack_hook`` says what is kept of tensors that are saved."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if defaults.disabled is not None:
            raise RuntimeError(defaults.disabled)
        defaults.hooks.append(SavedTensorHooks(self.pack_hook, self.unpack_hook))

    def __exit__(self, *args: object) -> None:
        defaults.hooks.pop()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context in which there must be no such hooks."""
    if defaults.hooks:
        raise RuntimeError(error_message)
    before, defaults.disabled = defaults.disabled, error_message
    try:
        yield
    finally:
        defaults.disabled = before
