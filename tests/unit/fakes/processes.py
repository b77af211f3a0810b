"""Looking at processes, from their neighbour's point of view."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0
"""Seconds in which all that is to happen has happened, on however busy a machine."""


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether ``condition`` comes to hold while we are patient."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@contextmanager
def ended(program: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A program that leads its group: if a test fails, no later one finds it running."""
    with program:
        try:
            yield program
        finally:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; the one that nobody has asked about yet is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def are_gone(pids: list[int]) -> bool:
    """Whether there are such processes, and all of them end while we are patient."""
    return bool(pids) and all(eventually(lambda pid=pid: is_gone(pid)) for pid in pids)


def children() -> set[str]:
    """The processes that this one has started and not waited for."""
    threads = Path("/proc/self/task").iterdir()
    return {pid for thread in threads for pid in (thread / "children").read_text().split()}


def descriptors() -> dict[str, str]:
    """What this process holds open."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the listing's own
    return found
