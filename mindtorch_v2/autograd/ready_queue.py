"""The order in which the nodes of a backward run: the latest operation first.

Mirrors ``ReadyQueue`` and ``CompareNodeTaskTime`` of ``torch/csrc/autograd/engine.{h,cpp}``.

Note [Nodes of the same number]
Every AccumulateGrad has the same sequence number, and torch's ``std::priority_queue`` does not say
in which order it gives out equals: they come as a binary heap happens to leave them.  ``heapq``
moves elements in the steps of libstdc++, so it leaves them in the same order, as long as nothing
but their priority is compared.  Backwards within each other have one heap, since what one of them
takes out moves what is left of the other.
"""

from __future__ import annotations

import heapq
from typing import Final

from mindtorch_v2.autograd.node import Gradient, Node
from mindtorch_v2.thread_state import ThreadLocal


class NodeTask:
    """A node that is ready, and what it gets, in a backward at some reentrant depth."""

    __slots__ = ("_priority", "grads", "node")

    def __init__(self, reentrant_depth: int, node: Node, grads: list[Gradient]) -> None:
        self.node, self.grads = node, grads
        self._priority = (reentrant_depth, node._sequence)

    def __lt__(self, other: NodeTask) -> bool:
        """Whether it runs earlier."""
        return self._priority > other._priority


class ReadyQueue:
    """The nodes that are ready, of a backward and of those that run within it."""

    def __init__(self) -> None:
        self._heap: list[NodeTask] = []

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, task: NodeTask) -> None:
        heapq.heappush(self._heap, task)

    def pop(self) -> NodeTask:
        """That of the innermost backward which runs next."""
        return heapq.heappop(self._heap)


class _Local(ThreadLocal):
    def __init__(self) -> None:
        self.ready_queue: Final = ReadyQueue()


_local: Final = _Local()


def local_ready_queue() -> ReadyQueue:
    """That of this thread."""
    return _local.ready_queue
