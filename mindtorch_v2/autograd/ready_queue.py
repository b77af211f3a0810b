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
import threading
from typing import TYPE_CHECKING

from mindtorch_v2.autograd.node import Gradient, Node

if TYPE_CHECKING:
    from mindtorch_v2.autograd.engine import GraphTask


class NodeTask:
    """A node that is ready, and what it gets."""

    __slots__ = ("_priority", "grads", "node", "task")

    def __init__(self, task: GraphTask, node: Node, grads: list[Gradient]) -> None:
        self.task, self.node, self.grads = task, node, grads
        self._priority = (task.depth, node._sequence)

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
        return heapq.heappop(self._heap)

    def forget(self, task: GraphTask) -> None:
        """Of a backward that failed torch takes out no node: it runs none of them any more."""
        for each in self._heap:
            if each.task is task:
                each.grads = []


class _Local(threading.local):
    def __init__(self) -> None:
        self.queue = ReadyQueue()


_local = _Local()


def local_ready_queue() -> ReadyQueue:
    """That of this thread."""
    return _local.queue
