"""How calls of ``torch.device``, ``torch.Generator``, ``torch.finfo`` and ``torch.iinfo`` are read.

Mirrors ``THPDevice_pynew`` in ``torch/csrc/Device.cpp``, ``THPGenerator_pynew`` in
``torch/csrc/Generator.cpp`` and the constructors of ``torch/csrc/TypeInfo.cpp``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from mindtorch_v2.binding.python.constructors import BY_NUMBER
from mindtorch_v2.binding.python.manual import is_absent, value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.tensor import device, generator, type_info
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType


@cache
def _device() -> ArgParser:
    return ArgParser(["device(Device device)", "device(c10::string_view type, int64_t? index=-1)"])


@cache
def _generator() -> ArgParser:
    return ArgParser(["Generator(Device device=None)"])


@cache
def _limits(name: str) -> ArgParser:
    of_default = ["finfo()"] if name == "finfo" else []
    return ArgParser([f"{name}(ScalarType type)", *of_default])


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, int | None]:
    """A device; or a type, and an index if there is one."""
    parsed = _device().parse(None, args, kwargs)
    if parsed.chosen == 0:
        return value(parsed, "device"), None
    return value(parsed, "type"), None if is_absent(parsed, "index") else value(parsed, "index")


def _where(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Device:
    found = value(_generator().parse(None, args, kwargs), "device")
    return Device("cpu") if found is None else found


def _limited(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DType | None:
    """The dtype whose limits are asked; None for the default one."""
    parsed = _limits(name).parse(None, args, kwargs)
    return BY_NUMBER[value(parsed, "type")] if parsed.chosen == 0 else None


def install() -> None:
    """Have such objects be made as the binding reads their arguments."""
    device.ARGUMENTS[0] = _arguments
    device.PARSE[0] = lambda args, kwargs: _device().parse(None, args, kwargs)
    generator.ARGUMENTS[0] = _where
    type_info.ARGUMENTS[0] = _limited
