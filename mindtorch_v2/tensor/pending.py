"""State that is not where it belongs, and how it comes back when somebody asks for it.

Note [Pending state]
    While an operator waits in a pipeline's queue, what it will read, change and make must be seen
    by nobody.  So the pipeline takes attributes away: of each tensor its storage, its autograd
    metadata and its version counter, of each storage the bytes, of each counter the count, of a
    random generator its engine.  Each of these is kept in a slot whose name begins with ``_raw_``,
    and who asks for it asks a property, which finds AWAY in the slot.  Then the pipeline is
    flushed, whoever asks and for whatever reason, and the answer is the attribute as it is then.

    So there is no list of boundaries that could miss one, and a tensor that no pipeline has to do
    with pays one comparison.  Shape, strides, dtype, device and keys stay: those are known at the
    call.  Who sets such an attribute without having read it has the object `settled` first.

    The classes have no ``__getattr__``, which would do the same without properties: CPython then
    looks all attributes up in five times the time, those that are there as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from mindtorch_v2.tensor.version import VersionCounter

AWAY: Final[Any] = type("Away", (), {"__slots__": (), "__repr__": lambda _: "AWAY"})()
"""In a slot whose value somebody else has, or nobody has asked for yet."""


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
Value = TypeVar("Value")


def settled(holder: Holder) -> Holder:
    """An object whose state somebody is about to set: what waits has come before it."""
    pending: Pending | None = holder._pending  # type: ignore[attr-defined]
    if pending is not None:
        pending.settle()
    return holder


class Settling(property, Generic[Value]):
    """No property of torch's, whose classes would show it, or have it read-only."""

    if TYPE_CHECKING:

        def __get__(  # type: ignore[override]
            self, holder: Any, owner: type | None = None
        ) -> Value: ...
        def __set__(self, holder: Any, value: Value) -> None: ...


_SOURCE: Final = """def get(self):
    value = self.{slot}
    return value if value is not AWAY else come_back(self, "{slot}")
def set(self, value):
    self.{slot} = value
    {then}
"""


def come_back(holder: Any, slot: str) -> Any:
    """AttributeError for what nobody has."""
    value = getattr(settled(holder), slot)
    if value is AWAY:
        raise AttributeError(f"{type(holder).__name__!r} object has no {slot!r} yet")
    return value


def settling(
    slot: str, come_back: Callable[[Any, str], Any] = come_back, then: str = "pass"
) -> Any:
    """A property over a slot: where that is AWAY, ``come_back`` answers the value, and when it has
    been set, a statement comes ``then``."""
    scope: dict[str, Any] = {"AWAY": AWAY, "come_back": come_back, "__name__": __name__}
    exec(_SOURCE.format(slot=slot, then=then), scope)
    return Settling(scope["get"], scope["set"])
