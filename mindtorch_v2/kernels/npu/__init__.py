"""Kernels for Ascend NPUs: operators of ACLNN, called through ctypes.

Nothing here is imported before the first use of an NPU but what :mod:`mindtorch_v2.npu` needs to
say whether there is one.  From the bottom up:

- :mod:`~mindtorch_v2.kernels.npu.libraries` finds and opens CANN's libraries;
  :mod:`~mindtorch_v2.kernels.npu.prototypes` has the C functions, in one table;
  :mod:`~mindtorch_v2.kernels.npu.status` turns error codes into exceptions
- :mod:`~mindtorch_v2.kernels.npu.runtime`: the life of the process: start, devices, threads, exit
- :mod:`~mindtorch_v2.kernels.npu.handles`: what ACL makes and somebody must destroy;
  :mod:`~mindtorch_v2.kernels.npu.streams`: queues of work, and events in them
- :mod:`~mindtorch_v2.kernels.npu.allocator`: device memory;
  :mod:`~mindtorch_v2.kernels.npu.copies`: to, from and on a device
- :mod:`~mindtorch_v2.kernels.npu.marshal`: Python values as ACLNN's arguments;
  :mod:`~mindtorch_v2.kernels.npu.executor`: the two phases of a call
- :mod:`~mindtorch_v2.kernels.npu.plans`: one operator's calls, planned and then run
- ``rows`` and the modules ``ops_…``: which operator is which call;
  :mod:`~mindtorch_v2.kernels.npu.fallback`: the operators that have no row
- :mod:`~mindtorch_v2.kernels.npu.install` gives all of it to the dispatcher
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindtorch_v2.tensor.device_memory import Accelerator


def load() -> Accelerator:
    """The NPUs of this machine; none of them is asked yet."""
    from mindtorch_v2.kernels.npu.accelerator import ACCELERATOR

    return ACCELERATOR
