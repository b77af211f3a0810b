"""A module whose functions do to their process what a broken C extension does, and worse.

Whatever it starts ends by itself after a while, so that a failing test leaves nothing behind
for long.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import NoReturn

BOUND_SECONDS = 60
BOUND_BYTES = 3 << 30
NOISE = "noise of a case"

pids: Path | None = None
"""Where processes are noted; tests set it."""

_state = threading.local()
_counter = 0


# Good ones --------------------------------------------------------------------------------------


def echo(value: object) -> object:
    return value


def take(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def huge(length: int) -> str:
    return "x" * length


def of_thread() -> object:
    """What this thread was told last."""
    return getattr(_state, "value", "nothing")


def tell_thread(value: object) -> None:
    _state.value = value


def count() -> int:
    """How often this process was asked."""
    global _counter
    _counter += 1
    return _counter


# Ends -------------------------------------------------------------------------------------------


def segfault() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def raise_signal(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(BOUND_SECONDS)


def leave(status: int) -> None:
    os._exit(status)


def kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)


def close_everything() -> str:
    os.closerange(0, 1024)
    return "closed"


# No end -----------------------------------------------------------------------------------------


def spin_in_c() -> None:
    """One call into C that keeps the interpreter's lock: no Python code can end it."""
    signal.alarm(BOUND_SECONDS)
    re.match(r"(a+)+$", "a" * 100 + "b")


def spin_in_python() -> None:
    end = time.monotonic() + BOUND_SECONDS
    while time.monotonic() < end:
        pass


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def close_everything_and_sleep() -> None:
    os.closerange(0, 1024)
    time.sleep(BOUND_SECONDS)


def eat_memory() -> int:
    eaten = bytearray()
    while len(eaten) < BOUND_BYTES:
        eaten += b"x" * (8 << 20)
    return len(eaten)


def linger() -> None:
    """Note the process, then sleep."""
    _note(os.getpid())
    time.sleep(BOUND_SECONDS)


# Traces -----------------------------------------------------------------------------------------


def print_noise() -> str:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None:
            print(NOISE, file=stream, flush=True)
    os.write(1, NOISE.encode() + b'\n{"kind":"returned","value":"42 : int"}\n')
    os.write(2, NOISE.encode() + b"\xff\x00")
    ctypes.CDLL(None).puts(NOISE.encode())
    ctypes.CDLL(None).fflush(None)
    return "printed"


def listen() -> str:
    return os.read(0, 100).decode()


def leave_children() -> str:
    """Start children that stay, with every descriptor that their parent has."""
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            try:
                time.sleep(BOUND_SECONDS)
            finally:
                os._exit(0)
        _note(pid)
    return "left"


def leave_children_and(ending: str) -> None:
    leave_children()
    globals()[ending]()


def leave_a_thread_that_exits(seconds: float) -> str:
    threading.Timer(seconds, os._exit, [7]).start()
    return "left"


def lead_a_session_and_linger() -> None:
    os.setsid()
    linger()


def warn(text: str) -> str:
    warnings.warn(text, stacklevel=2)
    return text


def interrupt() -> NoReturn:
    raise KeyboardInterrupt("by the case")


def quit_python() -> NoReturn:
    raise SystemExit(5)


def _note(pid: int) -> None:
    if pids is not None:
        with pids.open("a") as file:
            file.write(f"{pid}\n")
