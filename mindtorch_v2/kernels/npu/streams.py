"""Streams, the queues of work of a device, and events, the marks in them.

As in torch a program gets its streams from a pool, round robin, and they live as long as the
runtime; events are used again when their owner is gone.  So nothing is destroyed while work that
is queued may still refer to it.
"""

from __future__ import annotations

import ctypes
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

from mindtorch_v2.kernels.npu import libraries, runtime
from mindtorch_v2.kernels.npu.prototypes import (
    EVENT_RECORDED,
    EVENT_SYNC,
    EVENT_TIME_LINE,
    STREAM_COMPLETE,
    STREAM_FAST_LAUNCH_AND_SYNC,
)
from mindtorch_v2.thread_state import ThreadLocal

POOL_SIZE: Final = 32
"""Streams of a device beside its default stream."""


class Queue:
    """A stream of ACL: its device, its handle (None for the default stream), and its number."""

    __slots__ = ("device", "handle", "number")

    def __init__(self, device: int, handle: int | None, number: int) -> None:
        self.device, self.handle, self.number = device, handle, number

    def synchronize(self, context: str = "") -> None:
        """Wait for the work that is queued; AclError for the first that failed, which says what
        it was if ``context`` knows."""
        runtime.use_device(self.device)
        runtime.call("aclrtSynchronizeStream", self.handle, context=context)

    def is_done(self) -> bool:
        runtime.use_device(self.device)
        status = ctypes.c_int()
        runtime.call("aclrtStreamQuery", self.handle, ctypes.byref(status))
        return status.value == STREAM_COMPLETE

    def wait_for(self, event: Mark) -> None:
        """Have work that is queued from now on wait for an event."""
        runtime.use_device(self.device)
        runtime.call("aclrtStreamWaitEvent", self.handle, event.handle)


class Mark:
    """An event of ACL, on one device."""

    __slots__ = ("device", "handle", "timing")

    def __init__(self, device: int, timing: bool) -> None:
        self.device, self.timing = device, timing
        self.handle = _take_event(device, timing)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            _free_events[self.device, self.timing].append(self.handle)

    def record(self, queue: Queue) -> None:
        runtime.use_device(queue.device)
        runtime.call("aclrtRecordEvent", self.handle, queue.handle)

    def is_done(self) -> bool:
        """Whether what was recorded has happened; true for an event never recorded."""
        runtime.use_device(self.device)
        status = ctypes.c_int()
        runtime.call("aclrtQueryEventStatus", self.handle, ctypes.byref(status))
        return status.value == EVENT_RECORDED

    def synchronize(self) -> None:
        runtime.use_device(self.device)
        runtime.call("aclrtSynchronizeEvent", self.handle)

    def milliseconds_until(self, end: Mark) -> float:
        """The time between two events, both of which have happened and take the time."""
        runtime.use_device(self.device)
        elapsed = ctypes.c_float()
        runtime.call("aclrtEventElapsedTime", ctypes.byref(elapsed), self.handle, end.handle)
        return elapsed.value


class _Thread(ThreadLocal):
    def __init__(self) -> None:
        self.current: dict[int, Queue] = {}


_thread: Final = _Thread()
_lock: Final = threading.RLock()
_defaults: Final[dict[int, Queue]] = {}
_pools: Final[dict[int, list[Queue]]] = defaultdict(list)
_turns: Final[dict[int, Iterator[int]]] = defaultdict(count)
_numbers: Final = count(1)
_events: Final[list[tuple[int, int]]] = []
"""Every event, with its device."""
_free_events: Final[dict[tuple[int, bool], list[int]]] = defaultdict(list)


def default_queue(device: int) -> Queue:
    """The stream that a context has from the start."""
    return _defaults.setdefault(device, Queue(device, None, 0))


def current_queue(device: int) -> Queue:
    """The stream to which this thread's work goes."""
    return _thread.current.get(device) or _defaults.get(device) or default_queue(device)


def set_current_queue(queue: Queue) -> None:
    _thread.current[queue.device] = queue


@contextmanager
def on_queue(queue: Queue) -> Iterator[None]:
    """A block whose work goes to a stream."""
    outer = current_queue(queue.device)
    set_current_queue(queue)
    try:
        yield
    finally:
        set_current_queue(outer)


def pooled_queue(device: int) -> Queue:
    """The next stream of the device's pool."""
    with _lock:
        pool, turn = _pools[device], next(_turns[device])
        if len(pool) < POOL_SIZE:
            pool.append(_new_queue(device))
        return pool[turn % POOL_SIZE]


def queue_numbered(device: int, number: int) -> Queue:
    """A stream by its number; the default one for 0."""
    found = (queue for queue in _pools[device] if queue.number == number)
    return next(found, default_queue(device))


def _new_queue(device: int) -> Queue:
    runtime.use_device(device)
    handle = ctypes.c_void_p()
    runtime.call(
        "aclrtCreateStreamWithConfig", ctypes.byref(handle), 0, STREAM_FAST_LAUNCH_AND_SYNC
    )
    return Queue(device, handle.value, next(_numbers))


def _take_event(device: int, timing: bool) -> int:
    with _lock:
        free = _free_events[device, timing]
        if free:
            return free.pop()
    runtime.use_device(device)
    handle = ctypes.c_void_p()
    flags = EVENT_SYNC | (EVENT_TIME_LINE if timing else 0)
    newest = libraries.find_function("aclrtCreateEventExWithFlag") is not None
    function = "aclrtCreateEventExWithFlag" if newest else "aclrtCreateEventWithFlag"
    runtime.call(function, ctypes.byref(handle), flags)
    assert handle.value is not None
    _events.append((device, handle.value))
    return handle.value


@runtime.at_close
def _destroy_all() -> None:
    for device, event in _events:
        runtime.use_device(device)
        libraries.function("aclrtDestroyEvent")(event)
    for device, pool in _pools.items():
        runtime.use_device(device)
        for queue in pool:
            libraries.function("aclrtDestroyStream")(queue.handle)
    _events.clear()
    _pools.clear()
    _free_events.clear()
