"""Devices that no wheel has anything for, for the area core-ops.

What a call comes to first refuses: the device's Python module, the current device, or a missing
kernel.  CUDA is not among them, of which wheels differ, and machines do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DEVICES: Final = (
    *("xpu", "xpu:1", "mps", "mps:0", "hpu", "mtia", "xla", "xla:0", "ipu", "lazy", "vulkan"),
    *("maia", "ve", "hip", "fpga", "opengl", "privateuseone"),
)
_CALLS: Final = (
    "xp.ones(2, 3).to({0})",
    "xp.ones(2, 3, device='meta').to({0})",
    "xp.ones(2, 3).to(device={0}, dtype=xp.float64)",
    "xp.empty(2, device={0})",
    "xp.ones(2, device={0})",
    "xp.tensor([1.0], device={0})",
    "xp.tensor(xp.ones(2), device={0})",
    "xp.as_tensor([1, 2], device={0})",
    "xp.asarray(xp.ones(2), device={0})",
    "xp.zeros_like(xp.ones(2, 3), device={0})",
    "xp.empty_like(xp.ones(1, 2, 3, 4), device={0}, memory_format=xp.channels_last)",
    "xp.ones(2).new_empty(3, device={0})",
    "xp.ones(2).new_empty_strided((3,), (1,), device={0})",
    "xp.arange(3, device={0})",
    "xp.rand(2, device={0})",
    "xp.eye(2, device={0})",
    "xp.ops.aten.empty.memory_format([2], device=xp.device({0}))",
    "xp.ops.aten._to_copy(xp.ones(2), device=xp.device({0}))",
    "xp.nn.Linear(2, 2).to({0})",
    "xp.nn.Linear(2, 2, device={0})",
    "xp.UntypedStorage(3, device={0})",
    "xp.Generator({0})",
    "xp.Stream({0})",
)


def texts() -> Iterator[Text]:
    for call, device in product(_CALLS, _DEVICES):
        target = call.partition("(")[0].rpartition(".")[2]
        yield target, call.format(repr(device))
    for device in ("xpu", "ipu"):
        yield device, f"xp.ones(2).{device}()"
        yield device, f"xp.ones(2).{device}('cpu')"
