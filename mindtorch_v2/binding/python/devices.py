"""How a call of ``torch.device`` is read.

Mirrors ``THPDevice_pynew`` in ``torch/csrc/Device.cpp``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from mindtorch_v2.binding.python.manual import is_absent, value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.tensor import device
from mindtorch_v2.tensor.device import NO_INDEX, parse_device_string


@cache
def _parser() -> ArgParser:
    return ArgParser(["device(Device device)", "device(c10::string_view type, int64_t? index=-1)"])


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, int]:
    """A device; or a type, and an index.  RuntimeError for a negative one."""
    parsed = _parser().parse(None, args, kwargs)
    if parsed.chosen == 0:
        return value(parsed, "device"), NO_INDEX
    kind, index = value(parsed, "type"), value(parsed, "index")
    if is_absent(parsed, "index") or index is None:
        return kind, NO_INDEX
    if parse_device_string(kind)[1] == NO_INDEX and index < 0:
        raise RuntimeError("Device index must not be negative")
    return kind, index


def install() -> None:
    """Have devices be made as the binding reads their arguments."""
    device.ARGUMENTS[0] = _arguments
