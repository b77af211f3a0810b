"""Copies between the host and a device.

Both ways are queued on the current stream, so they run after the work before them.  A read waits;
a write may return before it was made, from a pinned copy of its own that is kept until then.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindtorch_v2.kernels.npu import libraries, runtime
from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.prototypes import DEVICE_TO_HOST, HOST_TO_DEVICE
from mindtorch_v2.kernels.npu.streams import Mark, current_queue

Bytes: TypeAlias = npt.NDArray[np.uint8]


def read(memory: Memory, start: int, stop: int) -> Bytes:
    """A copy of some of the bytes, on the host, when all work before it is done."""
    count = stop - start
    host = np.empty(count, np.uint8)
    if count:
        memory.used_on(current_queue(memory.device))
        _copy(host.ctypes.data, count, memory.address + start, count, DEVICE_TO_HOST, memory.device)
        current_queue(memory.device).synchronize()
    return host


def write(memory: Memory, start: int, data: Bytes, *, wait: bool = True) -> None:
    """Put bytes into memory; without ``wait`` the caller may go on before they are there."""
    if not data.size:
        return
    memory.used_on(current_queue(memory.device))
    room, to = memory.nbytes - start, memory.address + start
    if wait:
        flat = np.ascontiguousarray(data)
        _copy(to, room, flat.ctypes.data, flat.size, HOST_TO_DEVICE, memory.device)
        current_queue(memory.device).synchronize()
        return
    with _pinned(memory.device, data.size) as staged:
        ctypes.memmove(staged, np.ascontiguousarray(data).ctypes.data, data.size)
        _copy(to, room, staged, data.size, HOST_TO_DEVICE, memory.device)


def _copy(to: int, room: int, source: int, count: int, kind: int, device: int) -> None:
    runtime.use_device(device)
    queue = current_queue(device)
    runtime.call("aclrtMemcpyAsync", to, room, source, count, kind, queue.handle)


# --- pinned memory --------------------------------------------------------------------------------

_lock: Final = threading.RLock()
_in_use: Final[list[tuple[Mark, int, int]]] = []
"""An event after the copy, the buffer, and its size."""
_free: Final[dict[int, list[int]]] = {}
"""By size, buffers of which no copy is queued."""


@contextmanager
def _pinned(device: int, nbytes: int) -> Iterator[int]:
    """A buffer for a copy that the block queues; it is used again when the copy is done."""
    size = 1 << max(nbytes - 1, 4095).bit_length()
    with _lock:
        _reclaim()
        free = _free.setdefault(size, [])
        buffer = free.pop() if free else _new_buffer(device, size)
        try:
            yield buffer
        except BaseException:
            free.append(buffer)
            raise
        mark = Mark(device, timing=False)
        mark.record(current_queue(device))
        _in_use.append((mark, buffer, size))


def _reclaim() -> None:
    done = [each for each in _in_use if each[0].is_done()]
    for each in done:
        _in_use.remove(each)
        _free.setdefault(each[2], []).append(each[1])


def _new_buffer(device: int, size: int) -> int:
    runtime.use_device(device)
    buffer = ctypes.c_void_p()
    runtime.call("aclrtMallocHost", ctypes.byref(buffer), size)
    assert buffer.value is not None
    return buffer.value


@runtime.at_close
def _free_all() -> None:
    for buffers in (*_free.values(), [buffer for _, buffer, _ in _in_use]):
        for buffer in buffers:
            libraries.function("aclrtFreeHost")(buffer)
    _free.clear()
    _in_use.clear()
