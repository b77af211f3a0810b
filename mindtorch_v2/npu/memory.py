"""Device memory: what tensors use, and what is kept for those to come."""

from __future__ import annotations

from mindtorch_v2.kernels.npu import allocator, runtime
from mindtorch_v2.npu.devices import AnyDevice, index_of


def memory_allocated(device: AnyDevice = None) -> int:
    """Bytes of the blocks that tensors use; 0 before the first."""
    return allocator.usage(index_of(device))[0] if runtime.is_started() else 0


def memory_reserved(device: AnyDevice = None) -> int:
    """Bytes that the device has given to this process, in use or kept."""
    return allocator.usage(index_of(device))[1] if runtime.is_started() else 0


def max_memory_allocated(device: AnyDevice = None) -> int:
    """The most that :func:`memory_allocated` has been, since the start or the last reset."""
    return allocator.usage(index_of(device))[2] if runtime.is_started() else 0


def reset_peak_memory_stats(device: AnyDevice = None) -> None:
    if runtime.is_started():
        allocator.reset_peak(index_of(device))


def mem_get_info(device: AnyDevice = None) -> tuple[int, int]:
    """Free bytes of a device, and all."""
    return allocator.memory_info(index_of(device))


def empty_cache() -> None:
    """Give what no tensor uses back to the devices, when their work is done."""
    if runtime.is_started():
        allocator.empty_cache()
