"""An outcome: what a case did, as a value that can be compared, stored and shown.

A case ends in one of six ways.  ``returned`` and ``raised`` are what Python itself knows;
``crashed``, ``hung`` and ``exhausted`` are what the parent saw of a worker that did not
answer (see :mod:`conformance.worker`); ``absent`` says that the subject lacks the name that
the case needs (only third-party subjects may be absent; mindtorch_v2 may not).  ``refused`` is
no end of a case but of its text, which is outside the grammar: nothing is compared with it, the
run is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from conformance.describe import Description, show

Kind = Literal["returned", "raised", "crashed", "hung", "exhausted", "absent", "refused"]

Warned = tuple[str, str]
"""A warning: its category's qualified name and its message."""

VIOLATIONS: Final = "conformance.Violations"
"""The type of what is raised in place of an outcome when the simulated NPU saw rules broken."""
DEVICE_FAULT: Final = "the device says what is wrong with a value when it is waited for"
"""Why an outcome is not covered that a device tells later, and in other words, than a CPU."""
LEFT_OPEN: Final = "documents leave open "
"""How the reason begins of an outcome with places that are compared with nothing
(:mod:`conformance.left_open`)."""
MORE_DTYPES: Final = "the CPU has no kernel for the dtype"
NO_KERNEL: Final = "neither device has a kernel, and the error lists those there are"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case did.

    ``value`` is the description of what was returned (``returned``), ``type`` the exception's
    qualified type (``raised``), and ``message`` its full text; for a worker that did not
    answer, ``message`` says what the parent saw (a signal's name, the deadline, the limit).
    """

    kind: Kind
    value: Description | None = None
    type: str = ""
    message: str = ""
    warnings: tuple[Warned, ...] = ()
    uncovered: str = field(default="", compare=False)
    """On a device: why the outcome says nothing of the subject's kernels for it, as the operators
    that it has none for (:mod:`conformance.on_npu`)."""

    def __str__(self) -> str:
        """The outcome as people read it: the first line says how it ended."""
        lines = [f"warned {category}: {text}" for category, text in self.warnings]
        if self.kind == "returned":
            lines.append(f"returned {show(self.value)}")
        elif self.kind == "raised":
            lines.append(f"raised {self.type}: {self.message}")
        else:
            lines.append(f"{self.kind}: {self.message}")
        return "\n".join(lines)

    @property
    def survived(self) -> bool:
        """Whether the case came back at all."""
        return self.kind in ("returned", "raised", "absent", "refused")

    def to_json(self) -> dict[str, Any]:
        """Only what is set, so that a hundred thousand outcomes stay small."""
        data: dict[str, Any] = {"kind": self.kind}
        if self.kind == "returned":
            data["value"] = self.value
        if self.type:
            data["type"] = self.type
        if self.message or self.kind == "raised":
            data["message"] = self.message
        if self.warnings:
            data["warnings"] = [list(warned) for warned in self.warnings]
        if self.uncovered:
            data["uncovered"] = self.uncovered
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        return cls(
            data["kind"],
            data.get("value"),
            data.get("type", ""),
            data.get("message", ""),
            tuple((category, text) for category, text in data.get("warnings", ())),
            data.get("uncovered", ""),
        )
