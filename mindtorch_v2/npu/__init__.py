"""``torch.npu``, as torch_npu has it: devices, streams, events and memory of Ascend NPUs.

    x = mindtorch_v2.ones(3, device="npu")    # or .npu(), or .to("npu:0")
    print(x + 1)                               # runs on the NPU, and is copied to be printed

Nothing is loaded before a program first asks for an NPU.  Where there is none, questions are
answered (``is_available()`` is false) and anything else raises RuntimeError that says why.

Operators without a kernel run on the CPU, which is said once for each: see :func:`set_fallback`.
``ASCEND_LAUNCH_BLOCKING=1`` waits for each operator, so that an error names the one it is of.
"""

from __future__ import annotations

from mindtorch_v2.kernels.npu.fallback import (
    is_fallback_enabled,
    record_fallbacks,
    set_fallback,
)
from mindtorch_v2.kernels.npu.status import AclError, OutOfMemoryError
from mindtorch_v2.npu.devices import (
    current_device,
    device,
    device_count,
    get_device_name,
    is_available,
    is_initialized,
    set_device,
    synchronize,
)
from mindtorch_v2.npu.memory import (
    empty_cache,
    max_memory_allocated,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from mindtorch_v2.npu.streams import (
    Event,
    Stream,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "AclError",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "is_available",
    "is_fallback_enabled",
    "is_initialized",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "record_fallbacks",
    "reset_peak_memory_stats",
    "set_device",
    "set_fallback",
    "set_stream",
    "stream",
    "synchronize",
]
