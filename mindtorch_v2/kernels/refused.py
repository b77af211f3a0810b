"""What a kernel has written when it comes to something that it refuses.

Torch's loops look at an index when they come to it, so what was written before stays written.  A
functional kernel has written to a tensor of its own then, which nobody gets.  Such a kernel says
what it has made, for who called it in another's place (:mod:`mindtorch_v2.kernels.write_back`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.thread_state import ThreadLocal

Error = TypeVar("Error", bound=Exception)


class Refused(NamedTuple):
    """What a kernel writes to, and NumPy's index of the elements that it has come to."""

    output: Tensor
    places: Any


class _Listener(ThreadLocal):
    heard: list[Refused] | None = None


_listener = _Listener()


def refused(error: Error, output: Tensor, places: Any = ...) -> Error:
    """The error that a kernel raises now, after so much was written; all, where it began with a
    copy of what it changes."""
    if _listener.heard is not None:
        _listener.heard.append(Refused(output, places))
    return error


@contextmanager
def listening() -> Iterator[list[Refused]]:
    """A block that hears of what was refused in it, the latest last."""
    outer, _listener.heard = _listener.heard, []
    try:
        yield _listener.heard
    finally:
        _listener.heard = outer
