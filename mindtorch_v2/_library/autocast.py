"""The kernels that operators have at autocast keys: ``torch.library.register_autocast``.

Mirrors the kernels of ``torch/library.py`` and ``torch/_library/custom_ops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_v2 import _C
from mindtorch_v2._library.release import fact
from mindtorch_v2._ops import OpOverload
from mindtorch_v2.tensor.tensor import Tensor


def autocast_key(device_type: str) -> str:
    """The name of a type of device's key."""
    return f"Autocast{_C._dispatch_key_for_device(device_type)}"


def check_autocast_available(device_type: str) -> None:
    """ValueError for a type of device that there is no autocast for."""
    _C._dispatch_key_for_device(device_type)  # refuses what is no type of device
    if device_type not in fact("autocast_devices"):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")


def autocast_kernel(op: OpOverload, device_type: str, dtype: Any) -> Callable[..., Any]:
    """A kernel that casts and calls ``op`` below autocast; its first argument is the keyset."""
    key = getattr(_C.DispatchKey, autocast_key(device_type))

    def kernel(_: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise AssertionError(f"Custom ops do not support kwargs yet, got {list(kwargs)}")
        with _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(key)):  # type: ignore[call-arg]
            return op(*(_cast(value, device_type, dtype) for value in args))

    return kernel


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Floating-point tensors of the device, but not of float64, in another dtype."""
    if isinstance(value, Tensor):
        is_eligible = (
            value.is_floating_point()
            and value.device.type == device_type
            and str(value.dtype).rpartition(".")[2] != "float64"
        )
        converted: Any = value
        return converted.to(dtype) if is_eligible else value
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    items = (_cast(item, device_type, dtype) for item in value)
    return type(value)(items) if isinstance(value, (list, tuple)) else items
