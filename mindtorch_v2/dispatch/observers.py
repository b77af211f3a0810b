"""Whether anybody observes calls: a trace, a mode that overrides functions, who stops calls.

A call that nobody observes may take the short way (:mod:`mindtorch_v2.binding.unboxed`).  As long
as there is one observer in any thread, no call of any thread does: who begins to observe adds
itself, and the short way needs to look at one number only.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final


class Observers:
    """How many there are.  As a context manager, one more in a block."""

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.count += 1

    def remove(self) -> None:
        with self._lock:
            self.count -= 1

    def __enter__(self) -> None:
        self.add()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


OBSERVERS: Final = Observers()
