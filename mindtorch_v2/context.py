"""Switches of the whole process: determinism, and how many threads compute.

Mirrors ``aten/src/ATen/Context.cpp`` and ``ParallelOpenMP.cpp``.  Kernels of NumPy are the same
with and without determinism, and take the threads that its BLAS takes: what is left is what is
refused, what is filled, and what the functions answer.
"""

from __future__ import annotations

import os
from typing import Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.warn import warn

_REPORT: Final = "file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize"
_SUPPORT: Final = "adding deterministic support for this operation."


class _Switches:
    deterministic: bool = False
    warn_only: bool = False
    fill_uninitialized: bool = True
    threads: int | None = None
    interop_threads: int | None = None


_switches: Final = _Switches()


# --- determinism --------------------------------------------------------------------------------


def deterministic_algorithms() -> bool:
    return _switches.deterministic


def deterministic_algorithms_warn_only() -> bool:
    return _switches.warn_only


def set_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    with tls.outside_pipeline("_set_deterministic_algorithms"):  # what waits was called before
        _switches.deterministic, _switches.warn_only = mode, warn_only


def deterministic_fill_uninitialized_memory() -> bool:
    return _switches.fill_uninitialized


def set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    with tls.outside_pipeline("_set_deterministic_fill_uninitialized_memory"):
        _switches.fill_uninitialized = mode


def fills_uninitialized_memory() -> bool:
    """Whether new memory has known contents now."""
    return _switches.deterministic and _switches.fill_uninitialized


def alert_not_deterministic(caller: str) -> None:
    """For an operator that may answer otherwise the next time: refuse it, or warn of it."""
    if not _switches.deterministic:
        return
    what = f"{caller} does not have a deterministic implementation, but you set"
    if _switches.warn_only:
        warn(
            "alertNotDeterministic",
            f"{what} 'torch.use_deterministic_algorithms(True, warn_only=True)'. You can "
            f"{_REPORT} {_SUPPORT}",
        )
        return
    raise RuntimeError(
        f"{what} 'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for "
        "this operation, or you can use the 'warn_only=True' option, if that's acceptable for your "
        f"application. You can also {_REPORT} {_SUPPORT}"
    )


# --- threads ------------------------------------------------------------------------------------


def get_num_threads() -> int:
    """As many as have been asked for, or as OpenMP is told, or as there are processors."""
    if _switches.threads is not None:
        return _switches.threads
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdigit() and int(told) else len(os.sched_getaffinity(0))


def set_num_threads(count: int) -> None:
    _switches.threads = count


def get_num_interop_threads() -> int:
    return _switches.interop_threads or os.cpu_count() or 1


def set_num_interop_threads(count: int) -> None:
    """Once in a process; RuntimeError after that."""
    if _switches.interop_threads is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _switches.interop_threads = count
