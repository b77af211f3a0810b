"""Memory that stays where it is for devices to read: nothing has it yet.

Mirrors ``aten/src/ATen/native/Memory.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.options import compute_dispatch_key
from mindtorch_v2.tensor.support import exception_of
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.warn import is_warned_of, warn

_IS_PINNED: Final = OperatorHandle("aten::is_pinned")
_PIN_MEMORY: Final = OperatorHandle("aten::_pin_memory")
_REFUSED: Final[dict[str, list[str]]] = profile.active().devices["pinned"]
_KEYS: Final = ("BackendSelect", "CompositeExplicitAutograd")
"""The first until an accelerator is asked whichever it is."""


def check_pin_memory(pin_memory: bool | None) -> None:
    """That of ``torch/_prims_common/__init__.py``."""
    if pin_memory:
        raise NotImplementedError("PrimTorch does not support pinned memory")


def _warn_of_device(name: str, device: Device | None) -> None:
    if device is not None and is_warned_of(name):
        warn(
            name,
            f"The argument 'device' of Tensor.{name}() is deprecated. Please do not pass this "
            "argument.",
            category=DeprecationWarning,
        )


@kernel("aten::is_pinned", keys=_KEYS)
def is_pinned(self: Tensor, device: Device | None) -> bool:
    _warn_of_device("is_pinned", device)
    return False


@kernel("aten::pin_memory", key="CompositeImplicitAutograd")
def pin_memory(self: Tensor, device: Device | None) -> Any:
    _warn_of_device("pin_memory", device)
    return self if _IS_PINNED(self, device=device) else _PIN_MEMORY(self, device=device)


@kernel("aten::_pin_memory", keys=_KEYS)
def pinned_copy(self: Tensor, device: Device | None) -> Tensor:
    if self._device.type != "cpu":
        raise RuntimeError(f"cannot pin '{type_string(self)}' only dense CPU tensors can be pinned")
    name = "" if device is None else device._type
    if name in _REFUSED:
        raise exception_of(*_REFUSED[name])
    if not _REFUSED:  # an operator of the device is asked, in such releases
        key = compute_dispatch_key(None, self._layout, name or "cuda")
        return _PIN_MEMORY.redispatch(mask_of(key), self, device)  # type: ignore[no-any-return]
    raise NotImplementedError("mindtorch_v2 has no allocator of pinned memory yet")
