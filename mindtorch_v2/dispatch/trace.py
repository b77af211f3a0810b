"""The dispatch trace: what a call runs, operator by operator and key by key.

Mirrors what a debug build of torch prints with ``TORCH_SHOW_DISPATCH_TRACE=1``
(``aten/src/ATen/core/dispatch/Dispatcher.cpp``), one line for each kernel that runs:

    >>> with trace() as steps:
    ...     x.t()
    >>> print(*steps, sep="\\n")
    [call] op=[aten::t], key=[AutogradCPU]
     [redispatch] op=[aten::t], key=[ADInplaceOrView]
      [redispatch] op=[aten::t], key=[CPU]

Only the thread that traces is traced.  A call that nobody traces pays for one comparison.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.key import key_name
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.thread_state import ThreadLocal

__all__ = ["Step", "is_tracing", "trace", "traced"]


class Step(NamedTuple):
    """A kernel that ran: of which operator, at which key, and how deep in others it was called.

    ``kernel`` is where it was registered, as a dump names it; ``redispatched`` tells a kernel that
    another one of the same call went on to from one that a new call led to.
    """

    operator: str
    key: str
    kernel: str
    depth: int
    redispatched: bool

    def __str__(self) -> str:
        """The line that torch prints, without the depth of what encloses the trace itself."""
        label = "[redispatch]" if self.redispatched else "[call]"
        return f"{' ' * self.depth}{label} op=[{self.operator}], key=[{self.key}]"


class _State(ThreadLocal):
    """A thread's traces, the outermost first, and how many kernels it is in."""

    def __init__(self) -> None:
        self.traces: list[tuple[list[Step], int]] = []
        self.depth = 0


_state = _State()
_tracing = 0
"""How many traces there are in all threads: none, nearly always."""


def is_tracing() -> bool:
    """Whether anybody is."""
    return _tracing > 0


@contextmanager
def trace() -> Iterator[list[Step]]:
    """Record every kernel that this thread runs, in the order in which they start.

    Traces nest; an inner one counts depths from where it begins.
    """
    global _tracing
    steps: list[Step] = []
    _state.traces.append((steps, _state.depth))
    with _counting:
        _tracing += 1
    try:
        with OBSERVERS:
            yield steps
    finally:
        with _counting:
            _tracing -= 1
        _state.traces.pop()


_counting = threading.Lock()


def traced(name: str, target: Target, redispatched: bool, run: Callable[[], Any]) -> Any:
    """Run a kernel and have this thread's traces say so."""
    for steps, outside in _state.traces:
        steps.append(
            Step(
                name,
                key_name(target.key),
                target.kernel.debug,
                _state.depth - outside,
                redispatched,
            )
        )
    _state.depth += 1
    try:
        return run()
    finally:
        _state.depth -= 1
