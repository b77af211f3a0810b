"""A case: one or a few lines of Python over a namespace ``xp``, as a value.

With ``xp = torch`` a case runs in PyTorch, with ``xp = mindtorch_v2`` in ours.  A case is
nothing but its text and where it belongs; its id follows from them, so a case that is
generated again, on another machine or from a hypothesis seed, is the same case.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final, Literal

Isolation = Literal["shared", "thread", "fork"]
"""What a case needs around it.

``shared``: it leaves no trace, and runs in a worker after other cases.
``thread``: it changes thread-local state, and runs in a thread of its own.
``fork``: it changes the process (registrations, renamed backends), and runs in a fork of its own,
where the other side runs too as long as the fork comes back.
"""

ID_DIGITS: Final = 12
GENERATED: Final = "generated"
"""The origin of the cases that every run has: their generator makes them again."""
OWN_SUBJECT: Final = "mindtorch_v2"
"""The module that the suite is for; it judges others too."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case.  ``target`` is what it is about, for example ``DispatchKeySet.__or__``."""

    area: str
    target: str
    text: str
    origin: str = GENERATED
    isolation: Isolation = "shared"
    warnings: bool = True
    """Whether the warnings it draws are part of its outcome."""
    close: bool = False
    """Whether float elements agree that are close (:mod:`conformance.closeness`)."""

    @property
    def id(self) -> str:
        """``area/target/<short hash of the text>``: stable, and enough to find the case again."""
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.area}/{self.target}/{digest[:ID_DIGITS]}"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "area": self.area,
            "target": self.target,
            "text": self.text,
            "origin": self.origin,
            "isolation": self.isolation,
            "warnings": self.warnings,
            "close": self.close,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Case:
        return cls(
            data["area"],
            data["target"],
            data["text"],
            data["origin"],
            data["isolation"],
            data["warnings"],
            data["close"],
        )
