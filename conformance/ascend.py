"""The runtime that cases of the area ``npu`` run on: Ascend's where there is a device, else the
simulated one of ``tests/npu/sim``.

The simulated one is built by the system's C compiler before the first worker is forked, once: the
build is kept beside pytest's own cache, and shared with ``tests/npu``.  It is opened in the
workers only, for a fork has none of the threads that it computes with.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

__all__ = ["CHOICES", "can_run", "choosing", "is_on_hardware", "provide", "take_open", "violations"]

HOME: Final = "ASCEND_HOME_PATH"
_ROOT: Final = Path(__file__).resolve().parents[1]
_SIMULATOR: Final = _ROOT / "tests" / "npu" / "sim"
_CACHE: Final = _ROOT / ".pytest_cache" / "d" / "npu-sim"
"""The folder that pytest's ``cache.mkdir("npu-sim")`` gives to ``tests/npu``."""
CHOICES: Final = (1, 2)
"""What the simulated device may make of values that documents leave open; 0 is what it does."""


@cache
def is_on_hardware() -> bool:
    """Whether there is a device: its tool is on the path, and CANN's ``set_env.sh`` was sourced."""
    return shutil.which("npu-smi") is not None and HOME in os.environ


def can_run() -> bool:
    """Whether there is a device, or a compiler and the sources of a simulated one."""
    has_compiler = shutil.which(os.environ.get("CC", "cc")) is not None
    return is_on_hardware() or (has_compiler and _SIMULATOR.exists())


@cache
def provide() -> None:
    """Have ``ASCEND_HOME_PATH`` name a runtime; the simulated one is built if it must be.

    RuntimeError without a device and without a compiler.  Nothing is opened.
    """
    if is_on_hardware():
        return
    if not can_run():
        raise RuntimeError("no Ascend device is found, and no C compiler to build a simulated one")
    os.environ[HOME] = str(_builder().build(_CACHE))


def _builder() -> ModuleType:
    """``tests/npu/sim/build.py``, which is no part of a package that is installed."""
    spec = importlib.util.spec_from_file_location("npu_simulator_build", _SIMULATOR / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def violations() -> list[str]:
    """The rules of the simulator that were broken since the last time this was asked, in its words;
    a device tells none."""
    if is_on_hardware():
        return []
    library = _simulator()
    found = json.loads(library.sim_violations())
    if found:
        library.sim_clear_violations()
    return [f"{each['rule']}: {each['message']}" for each in found]


def take_open() -> list[str]:
    """What happened on the simulator, since the last time this was asked, that documents leave to a
    device: some of the words of ``tests/npu/sim/runtime/open.c``.  A device tells none."""
    if is_on_hardware():
        return []
    found: bytes = _simulator().sim_take_open()
    return found.decode().split()


@contextmanager
def choosing(choice: int) -> Iterator[None]:
    """In the block, the simulator makes something else of such values: one of `CHOICES`."""
    simulator = _simulator()
    simulator.sim_config(b"choice", ctypes.c_int64(choice))
    try:
        yield
    finally:
        simulator.sim_config(b"choice", ctypes.c_int64(0))


@cache
def _simulator() -> Any:
    """The library that has the violations, which the process has opened already."""
    library = ctypes.CDLL(str(Path(os.environ[HOME]) / "lib64" / "libascendcl.so"))
    library.sim_violations.restype = ctypes.c_char_p
    library.sim_take_open.restype = ctypes.c_char_p
    return library
