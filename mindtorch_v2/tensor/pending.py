"""State that a pipeline has taken away, and how it comes back when somebody asks for it.

Note [Pending state]
    While an operator waits in a pipeline's queue, what it will read, change and make must be seen
    by nobody.  So the pipeline takes attributes away: of each tensor its storage, its autograd
    metadata and its version counter, of each storage the bytes, of each counter the count, of a
    random generator its engine.  These are slots, and CPython asks ``__getattr__`` for a slot
    without a value.  There the pipeline is flushed, whoever asks and for whatever reason, and the
    answer is the attribute as it is then.

    So there is no list of boundaries that could miss one, and a tensor that no pipeline has to do
    with pays nothing.  Shape, strides, dtype, device and keys stay: those are known at the call.
    Who sets such an attribute without having read it has the object `settled` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from mindtorch_v2.tensor.version import VersionCounter


class Pending(Protocol):
    """What has the state of an object."""

    def settle(self) -> None:
        """Give the state back, or raise for state that will never be."""

    def count(self, counter: VersionCounter) -> None:
        """What waits has been counted as a change by who does not wait: a functional wrapper."""


class Unknown:
    """State that will never be, and that nobody may have: asking for it raises ``error``."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def settle(self) -> None:
        raise self._error

    def count(self, counter: VersionCounter) -> None:
        """There is nothing to be taken back."""


Holder = TypeVar("Holder")


def settled(holder: Holder) -> Holder:
    """An object whose state somebody is about to set: what waits has come before it."""
    pending: Pending | None = holder._pending  # type: ignore[attr-defined]
    if pending is not None:
        pending.settle()
    return holder


def settling(*names: str) -> Callable[[Any, str], Any]:
    """The ``__getattr__`` of a class with these attributes, and a slot ``_pending``."""

    def settle_and_get(self: Any, name: str) -> Any:
        if name == "_pending":
            return None
        if name in names and self._pending is not None:
            self._pending.settle()
        return object.__getattribute__(self, name)  # raises what the look-up has raised

    return settle_and_get
