"""``torch.autocast``, and the functions beneath it that say what a thread casts.

Only the CPU has kernels that cast.  Mirrors ``torch/amp/autocast_mode.py`` and the functions of
``torch/csrc/autograd/init.cpp``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Final, Literal

from mindtorch_v2 import profile
from mindtorch_v2.binding.python.manual import value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.kernels.wrapping.autocast import STATE, clear_cache
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.dtype import DTYPES

_FACTS: Final = profile.active().autocast
_HABITS: Final[dict[str, bool]] = _FACTS["habits"]
_LOWER: Final = (DTYPES["bfloat16"], DTYPES["float16"])


# --- what a thread casts --------------------------------------------------------------------------


class _Arguments:
    """The arguments of a call by their names, as ``PythonArgParser`` reads them."""

    def __init__(self, *signatures: str) -> None:
        self._signatures = signatures

    @cached_property
    def _parser(self) -> ArgParser:
        return ArgParser(self._signatures)

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        parsed = self._parser.parse(None, args, kwargs)
        names = [parameter.name for parameter in parsed.signature.parameters]
        return {name: value(parsed, name) for name in names}


_SET_ENABLED: Final = _Arguments(
    "set_autocast_enabled(c10::string_view device_type, bool enabled)",
    "set_autocast_enabled(bool enabled)",
)
_IS_ENABLED: Final = _Arguments(
    "is_autocast_enabled(c10::string_view device_type)", "is_autocast_enabled()"
)
_GET_DTYPE: Final = _Arguments("get_autocast_dtype(c10::string_view device_type)")
_SET_DTYPE: Final = _Arguments("set_autocast_dtype(c10::string_view device_type, ScalarType dtype)")
_IS_AVAILABLE: Final = _Arguments("_is_autocast_available(c10::string_view device_type)")


def _device_type(given: dict[str, Any]) -> str:
    """CUDA where nobody says; ours is torch's ``privateuseone``."""
    kind = Device._made(given.get("device_type", "cuda")).type
    return "privateuseone" if kind == EXTENSION_DEVICE else kind


def _key(device_type: str) -> int:
    """The key of a type of device; RuntimeError for one that has none."""
    keys = profile.active().keys
    if device_type not in _FACTS["dtypes"]:
        raise RuntimeError(
            "unknown device type for autocast in get_autocast_dispatch_key_from_device_type"
        )
    backend = keys.device_keys[device_type].key
    return int(DispatchKey[keys.autocast_key_of_backend[str(backend)]])


def set_autocast_enabled(*args: Any, **kwargs: Any) -> None:
    given = _SET_ENABLED.of(args, kwargs)
    tls.set_dispatch_key_excluded(_key(_device_type(given)), not given["enabled"])


def is_autocast_enabled(*args: Any, **kwargs: Any) -> bool:
    return not tls.is_dispatch_key_excluded(_key(_device_type(_IS_ENABLED.of(args, kwargs))))


def get_autocast_dtype(*args: Any, **kwargs: Any) -> Any:
    found = STATE.dtypes.get(_device_type(_GET_DTYPE.of(args, kwargs)))
    if found is None:
        raise RuntimeError("unsupported scalarType")
    return found


def set_autocast_dtype(*args: Any, **kwargs: Any) -> None:
    given = _SET_DTYPE.of(args, kwargs)
    STATE.dtypes[_device_type(given)] = dtype_of_value(given["dtype"])


def is_autocast_available(*args: Any, **kwargs: Any) -> bool:
    """Whether there is autocast for a type of device, at hand or not."""
    return _device_type(_IS_AVAILABLE.of(args, kwargs)) in _FACTS["dtypes"]


def is_autocast_cache_enabled() -> bool:
    return STATE.is_cache_enabled


def set_autocast_cache_enabled(enabled: bool, /) -> None:
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    STATE.is_cache_enabled = enabled


def autocast_increment_nesting() -> int:
    STATE.nesting += 1
    return STATE.nesting


def autocast_decrement_nesting() -> int:
    STATE.nesting -= 1
    return STATE.nesting


def clear_autocast_cache() -> None:
    clear_cache()


# --- the context ----------------------------------------------------------------------------------


class autocast:  # noqa: N801 (torch's name)
    """Cast the arguments of operators within a ``with`` block, or within a function."""

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        cached = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._cache_enabled = cached
        why = self._why_not() if enabled else None
        if why is not None:
            warnings.warn(why, stacklevel=2)
        self._enabled = enabled and why is None

    def _why_not(self) -> str | None:
        """What torch says of a device that is not there, or of a dtype that it does not cast to."""
        if self.device == "cuda":
            return str(_FACTS["warnings"]["cuda"])
        if self.device == "cpu" and self.fast_dtype not in _LOWER:
            return str(_FACTS["warnings"]["dtype"])
        return None

    def __enter__(self) -> Any:
        self.prev_cache_enabled = is_autocast_cache_enabled()
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self if _HABITS["entering answers the context"] else None

    def __exit__(self, *raised: object) -> Literal[False]:
        # Casts of weights are kept for one forward pass.
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if _HABITS["only a callable is decorated"] and not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. "
                "Did you mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )

        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Any) -> Callable[..., Any]:
    """``func`` within a context, each time it is called."""

    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return update_wrapper(decorate_autocast, func)
