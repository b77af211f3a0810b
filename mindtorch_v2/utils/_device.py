"""``torch.utils._device``: the device on which factories make tensors unless a call says where.

Mirrors ``torch/utils/_device.py`` and what ``torch/__init__.py`` says about the default device.
A device is a context manager by a mode of this kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import TracebackType
from typing import Any, Final

import mindtorch_v2 as torch
from mindtorch_v2 import profile, torch_function
from mindtorch_v2.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
    _push_mode,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.thread_state import ThreadLocal
from mindtorch_v2.utils._contextlib import context_decorator

CURRENT_DEVICE: Device | None = None

_LIE_BELOW: Final[bool] = profile.active().modes["devices_lie_below"]

_CONSTRUCTORS: Final = """
    empty empty_permuted empty_strided empty_quantized ones arange bartlett_window blackman_window
    eye fft.fftfreq fft.rfftfreq full fill hamming_window hann_window kaiser_window linspace
    logspace nested.nested_tensor rand randn randint randperm range sparse_coo_tensor
    sparse_compressed_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor
    sparse_bsc_tensor tril_indices triu_indices vander zeros asarray tensor as_tensor scalar_tensor
"""


@cache
def _device_constructors() -> frozenset[Any]:
    """The functions that are told the device: torch has this list, and no rule, either."""
    return frozenset(attrgetter(name)(torch) for name in _CONSTRUCTORS.split())


class DeviceContext(TorchFunctionMode):
    """Tells constructors of a device.  It lies below all other modes, in older releases above."""

    def __init__(self, device: Any) -> None:
        self.device = Device(device)

    def __enter__(self) -> None:
        global CURRENT_DEVICE
        self.old_device = CURRENT_DEVICE
        CURRENT_DEVICE = self.device
        above = [_pop_mode() for _ in range(torch_function.mode_count() if _LIE_BELOW else 0)]
        _push_mode(self)
        for mode in reversed(above):
            _push_mode(mode)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        global CURRENT_DEVICE
        CURRENT_DEVICE = self.old_device
        if not _LIE_BELOW:
            _pop_mode()
            return
        above = []
        for _ in range(torch_function.mode_count() - 1):
            mode = _pop_mode()
            assert not isinstance(mode, DeviceContext)
            above.append(mode)
        if torch_function.mode_count():
            assert isinstance(_pop_mode(), DeviceContext)
        for mode in reversed(above):
            _push_mode(mode)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, each call of it on a device."""
    return context_decorator(lambda: device, func)


def _enter(self: Device) -> Device:
    """A device in a ``with`` statement; C++ puts its mode on top, and not below the others."""
    _push_mode(DeviceContext(self))
    return self


def _exit(self: Device, *exception: object) -> None:
    """Whichever mode is on top now is gone."""
    _pop_mode()


def bind() -> None:
    """Make devices context managers."""
    Device.__enter__ = _enter  # type: ignore[attr-defined]
    Device.__exit__ = _exit  # type: ignore[attr-defined]


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that makes a function run on a device."""
    return lambda func: device_decorator(Device(device), func)


# --- the default of a thread ------------------------------------------------------------------

_GLOBAL_DEVICE_CONTEXT: Final = ThreadLocal()


def get_default_device() -> Device:
    """Where factories make tensors in this thread."""
    if HABITS["a block's device is the default"]:
        for mode in reversed(_get_current_function_mode_stack()):
            if isinstance(mode, DeviceContext):
                return _with_index(mode.device)
    context = getattr(_GLOBAL_DEVICE_CONTEXT, "device_context", None)
    if context is not None:
        return _with_index(context.device)
    if hasattr(_GLOBAL_DEVICE_CONTEXT, "device_context") and HABITS["no default device is none"]:
        raise AttributeError("'NoneType' object has no attribute 'device'")
    return Device("cpu")


def _with_index(device: Device) -> Device:
    """The device itself, or the one of its type that is current."""
    if device.index is not None:
        return device
    made: Any = torch
    current: Device = made.tensor([]).device
    return current


def set_default_device(device: Any) -> None:
    """Make factories of this thread use a device, or none in particular again."""
    before = getattr(_GLOBAL_DEVICE_CONTEXT, "device_context", None)
    if before is not None:
        before.__exit__(None, None, None)
    context = None if device is None else DeviceContext(device)
    if context is not None:
        context.__enter__()
    _GLOBAL_DEVICE_CONTEXT.device_context = context
