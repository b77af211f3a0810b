"""What tensors have for NPUs beside torch's own methods: ``tensor.npu()`` and ``tensor.is_npu``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2.npu.devices import AnyDevice


def npu(self: Any, device: AnyDevice = None, non_blocking: bool = False) -> Tensor:
    """The tensor on an NPU, the current one if none is named: itself if it is there."""
    from mindtorch_v2.npu.devices import index_of  # late: few programs use an NPU

    where = Device._made(EXTENSION_DEVICE, index_of(device))
    moved: Tensor = self.to(where, non_blocking=non_blocking)
    return moved


def is_npu(self: Tensor) -> bool:
    """Whether it is on an NPU."""
    return self._device.type == EXTENSION_DEVICE


def bind() -> None:
    """Give tensors both."""
    methods: Any = Tensor
    methods.npu = npu
    methods.is_npu = property(is_npu)
