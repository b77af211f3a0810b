"""Device memory: a caching allocator that is safe with streams.

A block belongs to the stream on which it was allocated.  When its owner is gone it goes back to
that stream's free blocks at once, while work that uses it may still be queued: what is queued next
on the same stream runs after it.  A block that other streams use as well (:meth:`Memory.used_on`)
goes back when an event on each of them has passed.  Memory is given back to the device only after
all its work is done, as ``aclrtFree`` waits for nothing.

Kernels may read and write up to 32 bytes behind a block, so each has them to spare.
"""

from __future__ import annotations

import ctypes
import threading
from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mindtorch_v2.kernels.npu import libraries, runtime, status
from mindtorch_v2.kernels.npu.prototypes import HBM, HUGE_FIRST
from mindtorch_v2.kernels.npu.streams import Mark, Queue, current_queue

_ALIGNMENT: Final = 32
_GRANULARITY: Final = 512


def block_size(nbytes: int) -> int:
    """Bytes of the block for so many: the slack behind it included, rounded up."""
    padded = -(-nbytes // _ALIGNMENT) * _ALIGNMENT + _ALIGNMENT
    return -(-padded // _GRANULARITY) * _GRANULARITY


@dataclass(eq=False, slots=True)
class Block:
    """Memory that the device has given us."""

    address: int
    size: int
    queue: Queue
    #: Other streams whose queued work may use it, by number.
    others: dict[int, Queue] | None = None


@dataclass
class _Waiting:
    """A block that goes back when events have passed."""

    block: Block
    marks: list[Mark]


class _Device:
    """The memory of one device.

    Finalisers run at any time, inside of these methods too: they only append to ``returned``.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.returned: deque[Block] = deque()
        self.waiting: list[_Waiting] = []
        #: By stream, free blocks as (size, address), in that order.
        self.free: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.reserved = 0
        self.allocated = 0
        self.peak = 0

    def take(self, nbytes: int, queue: Queue) -> Block:
        size = block_size(nbytes)
        if self.returned or self.waiting:
            self._settle()
        address = self._cached(size, queue)
        if address is None:
            address = (self._new(size), size)
        self.allocated += address[1]
        self.peak = max(self.peak, self.allocated)
        return Block(address[0], address[1], queue)

    def _cached(self, size: int, queue: Queue) -> tuple[int, int] | None:
        """The smallest free block that is large enough, unless more than half is wasted."""
        free = self.free[queue.number]
        place = bisect_left(free, (size, 0))
        if place == len(free) or free[place][0] > 2 * size:
            return None
        found, address = free.pop(place)
        return address, found

    def _new(self, size: int) -> int:
        """RuntimeError (OutOfMemoryError) if the device has none, with the cache given back."""
        for is_last in (False, True):
            address = ctypes.c_void_p()
            runtime.use_device(self.index)
            code = libraries.function("aclrtMalloc")(ctypes.byref(address), size, HUGE_FIRST)
            if code == status.SUCCESS and address.value is not None:
                self.reserved += size
                return address.value
            detail = runtime.recent_message()
            if code not in status.OUT_OF_MEMORY:
                raise status.AclError("aclrtMalloc", code, detail)
            if not is_last:
                self.empty_cache()
        raise self._out_of_memory(size, detail)

    def _out_of_memory(self, size: int, detail: str) -> status.OutOfMemoryError:
        free, total = memory_info(self.index)
        return status.OutOfMemoryError(
            f"NPU out of memory. Tried to allocate {_shown(size)} (NPU {self.index}; "
            f"{_shown(total)} total capacity; {_shown(self.allocated)} already allocated; "
            f"{_shown(free)} free; {_shown(self.reserved)} reserved in total by mindtorch_v2)"
            + (f"\n{detail}" if detail else "")
        )

    def _settle(self) -> None:
        """Put blocks that have come back where they can be taken."""
        while self.returned:
            block = self.returned[0]
            if block.others is not None:
                self.waiting.append(_Waiting(block, self._marked(block.others.values())))
            self.returned.popleft()  # now that nothing has failed
            self.allocated -= block.size
            if block.others is None:
                self._put(block)
        for each in [*self.waiting]:
            if all(mark.is_done() for mark in each.marks):
                self.waiting.remove(each)
                self._put(each.block)

    def _marked(self, queues: Iterable[Queue]) -> list[Mark]:
        """Marks at what is queued now."""
        marks = []
        for queue in queues:
            marks.append(Mark(self.index, timing=False))
            marks[-1].record(queue)
        return marks

    def _put(self, block: Block) -> None:
        insort(self.free[block.queue.number], (block.size, block.address))

    def empty_cache(self) -> None:
        """Give free blocks back to the device, when its work is done."""
        self._settle()
        runtime.use_device(self.index)
        runtime.call("aclrtSynchronizeDevice")
        self._settle()
        blocks = [block for free in self.free.values() for block in free]
        self.free.clear()
        for size, address in blocks:
            self.reserved -= size
            runtime.call("aclrtFree", address)

    def usage(self) -> tuple[int, int, int]:
        """Bytes in blocks that are in use, of all blocks, and the most that were in use."""
        self._settle()
        return self.allocated, self.reserved, self.peak

    def reset_peak(self) -> None:
        self._settle()
        self.peak = self.allocated


_lock: Final = threading.RLock()
_devices: Final[dict[int, _Device]] = {}
_live: Final[dict[int, int]] = {}
"""Blocks that have an owner, by address, with their device."""


def _device(index: int) -> _Device:
    return _devices.get(index) or _devices.setdefault(index, _Device(index))


class Memory:
    """Bytes on a device; they go back when this object is gone.

    ``address`` is 0 for no bytes.
    """

    __slots__ = ("__weakref__", "_block", "address", "device", "nbytes")

    def __init__(self, nbytes: int, device: int) -> None:
        """RuntimeError for memory that the device has not."""
        self.nbytes, self.device, self.address = nbytes, device, 0
        self._block: Block | None = None
        if nbytes:
            with _lock:
                owner = _devices.get(device) or _device(device)
                block = self._block = owner.take(nbytes, current_queue(device))
                self.address = block.address
                _live[block.address] = device

    def __del__(self) -> None:
        block = getattr(self, "_block", None)
        if block is not None and _live.pop(block.address, None) is not None:
            _devices[self.device].returned.append(block)

    def used_on(self, queue: Queue) -> None:
        """Work of another stream uses it: it goes back only after that."""
        if self._block is not None and queue.number != self._block.queue.number:
            others = self._block.others = self._block.others or {}
            others[queue.number] = queue


def memory_info(device: int) -> tuple[int, int]:
    """Free bytes of a device, and all."""
    runtime.use_device(device)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    runtime.call("aclrtGetMemInfo", HBM, ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def usage(device: int) -> tuple[int, int, int]:
    """Bytes in use, reserved, and in use at most so far; see :class:`Memory`."""
    with _lock:
        return _device(device).usage()


def reset_peak(device: int) -> None:
    with _lock:
        _device(device).reset_peak()


def empty_cache() -> None:
    """Give what is not in use back to every device."""
    with _lock:
        for device in _devices.values():
            device.empty_cache()


@runtime.at_close
def _free_all() -> None:
    """What is cached, and what still has an owner: that will not be asked for it any more."""
    with _lock:
        for address, device in [*_live.items()]:
            del _live[address]
            runtime.use_device(device)
            libraries.function("aclrtFree")(address)
        for each in _devices.values():
            runtime.use_device(each.index)
            blocks = [address for free in each.free.values() for _, address in free]
            blocks += [block.address for block in each.returned]
            blocks += [one.block.address for one in each.waiting]
            for address in blocks:
                libraries.function("aclrtFree")(address)
        _devices.clear()


def _shown(nbytes: int) -> str:
    """As torch shows an amount of memory."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes} bytes"
