"""Functions for autocast on a single device, which those that take the device have replaced.

Mirrors ``set_autocast_cpu_enabled`` and its like of ``torch/csrc/autograd/init.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.amp import autocast_mode
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.scalars import type_name
from mindtorch_v2.warn import warn_at

_PLACES: Final[dict[str, str]] = profile.active().autocast["deprecated"]
_CHECKED: Final = {"enabled": (bool, "a bool"), "dtype": (DType, "a torch.dtype")}


def _made(name: str) -> Callable[..., Any]:
    """``set_autocast_cpu_enabled``, by its name."""
    verb, _, device, what = name.split("_")
    device_type = "cuda" if device == "gpu" else device
    instead = getattr(autocast_mode, f"{verb}_autocast_{what}")

    def warn_of(given: str, wanted: str) -> None:
        text = (
            f"torch.{name}({given}) is deprecated. "
            f"Please use torch.{instead.__name__}('{device_type}'{wanted}) instead."
        )
        warn_at(_PLACES[name], text, DeprecationWarning)

    def ask() -> Any:
        warn_of("", "")
        return instead(device_type)

    def change(value: Any, /) -> None:
        kind, shown = _CHECKED[what]
        if not isinstance(value, kind):
            raise TypeError(f"{what} must be {shown} (got {type_name(value)})")
        warn_of(what, f", {what}")
        instead(device_type, value)

    return change if verb == "set" else ask


FUNCTIONS: Final = {name: _made(name) for name in _PLACES}
"""Those that the release has."""


def takes(name: str) -> int:
    """How many arguments CPython lets through."""
    return int(name.startswith("set"))
