"""The kernels that operators have at autocast keys: ``torch.library.register_autocast``.

Mirrors the kernels of ``torch/library.py`` and ``torch/_library/custom_ops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does, fact, message
from mindtorch_v2._ops import OpOverload
from mindtorch_v2.tensor.tensor import Tensor


def autocast_key(device_type: str) -> str:
    """The name of a type of device's key."""
    return f"Autocast{_C._dispatch_key_for_device(device_type)}"


def check_autocast_available(device_type: str) -> None:
    """ValueError for a type of device that there is no autocast for."""
    if does("register_autocast asks for the device's key"):
        _C._dispatch_key_for_device(device_type)  # refuses what is no type of device
    if device_type not in fact("autocast_op_devices"):
        raise ValueError(*message("autocast of another device", device=device_type))


def autocast_kernel(
    op: Callable[..., Any],
    device_type: str,
    dtype: Any,
    *,
    refusal: str = "autocast with keywords",
) -> Callable[..., Any]:
    """A kernel that casts and calls ``op`` below autocast; its first argument is the keyset.

    Like every kernel in Python it is kept for ever, and ``op`` with it.  ``refusal`` names the
    message about keyword arguments.
    """
    key = getattr(_C.DispatchKey, autocast_key(device_type))

    def kernel(_: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise AssertionError(*message(refusal, names=list(kwargs)))
        with _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(key)):  # type: ignore[call-arg]
            return op(*(_cast(value, device_type, dtype) for value in args))

    return kernel


def set_py_kernels(op: OpOverload, device_type: str, kernel: Callable[..., Any]) -> None:
    """Give an overload the Python kernels that the release gives it beside the dispatcher's."""
    names = fact("autocast_py_kernels")
    for name in [autocast_key(device_type)] if names == [autocast_key("cpu")] else names:
        key = getattr(_C.DispatchKey, name)
        op.py_kernels.pop(key, None)
        op.py_impl(key)(lambda *args: kernel(None, *args))


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
