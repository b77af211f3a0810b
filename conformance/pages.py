"""Huge pages for what a worker forks from.

A fork copies the table of its parent's pages: with torch loaded that are 60,000 entries, for a
case that runs some milliseconds as much work as the case.  With pages of 2 MiB it is a third.
Where the kernel knows no such pages, or not how to collect small ones into them (Linux 6.1),
nothing changes but the time.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Final

HUGE_PAGE_BYTES: Final = 1 << 21
_MADV_COLLAPSE: Final = 25


def collapse() -> int:
    """Collect this process's own memory into huge pages; how many it took."""
    if sys.platform != "linux":
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    # One at a time: where one is not to be had, the others are.
    return sum(madvise(page, HUGE_PAGE_BYTES, _MADV_COLLAPSE) == 0 for page in _candidates())


def _candidates() -> list[int]:
    """The addresses of the huge pages that would fit into what this process may write."""
    found: list[int] = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, permissions, _, _, inode, *_ = line.split()
        if permissions.startswith("rw") and inode == "0":  # of no file
            start, end = (int(address, 16) for address in span.split("-"))
            first = -(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
            found += range(first, end - HUGE_PAGE_BYTES + 1, HUGE_PAGE_BYTES)
    return found
