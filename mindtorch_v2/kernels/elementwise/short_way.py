"""The short way of a kernel: plain calls, made without checks that have been made before.

A kernel that has one has it as its attribute ``short_way``.  It calls no operator and looks at no
set of the thread, so a kernel above may take plain calls in its own place, and need not mask keys:
it puts the short way in front of itself.  What is not plain the short way hands on, and has done
nothing then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from mindtorch_v2.binding.unboxed import Run
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit

_DENSE: Final = functionality_bit(DispatchKey.Dense)


class Make(Protocol):
    """Makes a function that takes plain calls of so many values, and hands others on.

    ``record`` is called with an answer and the values where one of these may require grad, and
    answers it with its history, or UNUSUAL.  Without it such calls are no plain ones.
    """

    def __call__(self, otherwise: Run, count: int, record: Run | None) -> Run: ...


class ShortWay(NamedTuple):
    """What a kernel does with plain calls, and what is done above, at ADInplaceOrView."""

    make: Make | None = None
    #: With changes counted, or aliases made views.
    above: Make | None = None


def short_way_of(kernel: Callable[..., object], keyset: int) -> ShortWay | None:
    """That of the kernel that runs calls with a keyset.  There is none where dense backends are
    masked: what the kernel calls on its tensor does not reach them either."""
    return getattr(kernel, "short_way", None) if keyset & _DENSE else None
