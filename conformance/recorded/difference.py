"""Where a recording no longer holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.case import Case
from conformance.outcome import Outcome
from conformance.recorded.area import Answer
from conformance.report.marks import visible


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that ends otherwise than it was recorded to, or was not recorded."""

    case: Case
    recorded: Answer | None
    outcome: Outcome

    def __str__(self) -> str:
        known = self.recorded if isinstance(self.recorded, Outcome) else "nothing"
        lines = [self.case.id, self.case.text, f"recorded: {known}", f"live:     {self.outcome}"]
        return visible("\n".join(lines)) + "\n"

    def to_json(self) -> dict[str, Any]:
        known = self.recorded.to_json() if isinstance(self.recorded, Outcome) else None
        return {"case": self.case.to_json(), "recorded": known, "live": self.outcome.to_json()}
