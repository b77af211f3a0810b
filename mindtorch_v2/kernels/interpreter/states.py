"""Operators that ask or set what a thread is in, or the process: modes, generators, the processor.

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp`` and ``register_special_ops.cpp``.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from mindtorch_v2 import random
from mindtorch_v2.amp import autocast_mode
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.interpreter.values import Operation, int64
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.generator import Generator

# --- flags ----------------------------------------------------------------------------------------


def _is_autocast_enabled() -> bool:
    return autocast_mode.is_autocast_enabled("cuda")


def _is_autocast_cpu_enabled() -> bool:
    return autocast_mode.is_autocast_enabled("cpu")


def _autocast_dtype(device_type: str) -> int:
    return int(enum_value(autocast_mode.get_autocast_dtype(Device(device_type).type)))


# --- generators -----------------------------------------------------------------------------------


def _generator(device: Device | None, seed: int | None) -> Generator:
    if device is not None and device.type != "cpu":
        raise RuntimeError(f"Unsupported device for at::make_generator_for_device found: {device}")
    made = Generator()
    if seed is not None:
        made.manual_seed(seed)
    return made


def _manual_seed(seed: int) -> None:
    random.manual_seed(seed)


def _manual_seed_of(self: Generator, seed: int) -> Generator:
    return self.manual_seed(seed)


def _seed(self: Generator) -> int:
    return int64(self.seed())


def _initial_seed(self: Generator) -> int:
    return int64(self.initial_seed())


# --- the machine ------------------------------------------------------------------------------


def _time_point() -> int:
    return time.time_ns()


def _cpu_capability() -> str:
    """By what NumPy knows of the processor."""
    features = _cpu_features()
    if all(features.get(each) for each in ("AVX512F", "AVX512VL", "AVX512BW", "AVX512DQ", "FMA3")):
        return "AVX512"
    return "AVX2" if features.get("AVX2") and features.get("FMA3") else "DEFAULT"


def _cpu_features() -> dict[str, bool]:
    core = getattr(np, "_core", None) or np.core
    return dict(core._multiarray_umath.__cpu_features__)


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::Generator": _generator,
    "aten::_get_cpu_capability": _cpu_capability,
    "aten::get_autocast_dtype": _autocast_dtype,
    "aten::initial_seed": _initial_seed,
    "aten::is_autocast_cpu_enabled": _is_autocast_cpu_enabled,
    "aten::is_autocast_enabled": _is_autocast_enabled,
    "aten::is_grad_enabled": tls.is_grad_enabled,
    "aten::manual_seed": _manual_seed,
    "aten::manual_seed.generator": _manual_seed_of,
    "aten::seed": _seed,
    "aten::set_grad_enabled": tls.set_grad_enabled,
    "prim::TimePoint": _time_point,
}
