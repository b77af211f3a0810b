"""``torch.utils.dlpack``: tensors as DLPack capsules, which other libraries take.

Mirrors ``Tensor.__dlpack__`` and ``Tensor.__dlpack_device__`` of ``torch/_tensor.py``; NumPy makes
the capsules, which share the tensor's memory.  Tensors made of others' capsules are left out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.numpy_bridge import to_numpy
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["DLDeviceType", "to_dlpack"]


class DLDeviceType(IntEnum):
    """Numbers of ``dlpack.h`` for the devices that there are here."""

    kDLCPU = 1  # noqa: N815 (the header's names)
    kDLExtDev = 12  # noqa: N815


_Refusal: Final[type[Exception]] = (
    BufferError if HABITS["what DLPack cannot tell is a BufferError"] else RuntimeError
)
_UNSET: Final = -1
"""A stream to which nothing has to be synchronised."""


def to_dlpack(tensor: Any) -> Any:
    """The capsule; RuntimeError for a device whose memory the host cannot read."""
    if tensor.device.type != "cpu":
        raise RuntimeError(f"Cannot pack tensors on {tensor.device}")
    return to_numpy(tensor.detach()).__dlpack__()


def dlpack(self: Any, stream: Any = _UNSET, **options: Any) -> Any:
    """``Tensor.__dlpack__``.  RuntimeError or BufferError, by the release, for what a capsule
    cannot tell; TypeError for a stream that is no number."""
    if has_torch_function((self,)):
        tensor: Any = Tensor
        return handle_torch_function(tensor.__dlpack__, (self,), self, stream=stream, **options)
    if self.requires_grad:
        raise _Refusal("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise _Refusal("Can't export tensors with the conjugate bit set")
    if self.layout is not strided:
        raise _Refusal("Can't export tensors with layout other than torch.strided")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    wanted = {name: value for name, value in options.items() if value is not None}
    return to_numpy(self).__dlpack__(**wanted) if wanted else to_dlpack(self)


def dlpack_device(self: Any) -> tuple[DLDeviceType, int]:
    """``Tensor.__dlpack_device__``; ValueError for a device that DLPack has no number for."""
    if has_torch_function((self,)):
        tensor: Any = Tensor
        found: tuple[DLDeviceType, int] = handle_torch_function(
            tensor.__dlpack_device__, (self,), self
        )
        return found
    kinds = {"cpu": DLDeviceType.kDLCPU, "privateuseone": DLDeviceType.kDLExtDev}
    if self.device.type not in kinds:
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return kinds[self.device.type], self.device.index or 0


def bind() -> None:
    """Give tensors these methods."""
    for name, function in (("__dlpack__", dlpack), ("__dlpack_device__", dlpack_device)):
        function.__name__, function.__qualname__ = name, f"Tensor.{name}"
        setattr(Tensor, name, function)
