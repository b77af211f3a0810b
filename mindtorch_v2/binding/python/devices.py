"""How calls of ``torch.device`` and ``torch.Generator`` are read.

Mirrors ``THPDevice_pynew`` in ``torch/csrc/Device.cpp`` and ``THPGenerator_pynew`` in
``torch/csrc/Generator.cpp``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from mindtorch_v2.binding.python.manual import is_absent, value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.tensor import device, generator
from mindtorch_v2.tensor.device import NO_INDEX, Device, parse_device_string


@cache
def _device() -> ArgParser:
    return ArgParser(["device(Device device)", "device(c10::string_view type, int64_t? index=-1)"])


@cache
def _generator() -> ArgParser:
    return ArgParser(["Generator(Device device=None)"])


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, int]:
    """A device; or a type, and an index.  RuntimeError for a negative one."""
    parsed = _device().parse(None, args, kwargs)
    if parsed.chosen == 0:
        return value(parsed, "device"), NO_INDEX
    kind, index = value(parsed, "type"), value(parsed, "index")
    if is_absent(parsed, "index") or index is None:
        return kind, NO_INDEX
    if parse_device_string(kind)[1] == NO_INDEX and index < 0:
        raise RuntimeError("Device index must not be negative")
    return kind, index


def _where(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Device:
    found = value(_generator().parse(None, args, kwargs), "device")
    return Device("cpu") if found is None else found


def install() -> None:
    """Have devices and generators be made as the binding reads their arguments."""
    device.ARGUMENTS[0] = _arguments
    generator.ARGUMENTS[0] = _where
