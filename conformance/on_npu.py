"""The helper ``here`` of cases: the device that a case of the area ``npu`` puts its tensors on.

``xp.ones(2, device=here())`` makes a tensor on the NPU in the subject and on the CPU in torch: what
torch's CPU answers is what the NPU must answer, its names apart (`normalise.DEVICE_NAME`).

A case that asks for the device is watched until its outcome is known: whether the simulator saw a
rule broken, which is a mismatch; whether it made a value that documents leave open, which is
compared with nothing (:mod:`conformance.left_open`); and which operators ran on the CPU because the
NPU has no kernel for them.  All of that is seen where it happens, so what a case names does not
matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

from conformance import ascend, left_open
from conformance.describe import qualified_name
from conformance.outcome import DEVICE_FAULT, LEFT_OPEN, NO_KERNEL, VIOLATIONS, Outcome

__all__ = ["Here", "is_on_npu", "settled"]

_CALL: Final = re.compile(r"\bhere\(")
_STAND_INS: Final = ("CPU", "PrivateUse3")
"""Backends whose keys are in torch what those of the NPU are in the subject."""
_FAULT_STATUS: Final = 507015
"""What ACL answers when a kernel met a value that it cannot work with, an index for one."""


_OPEN: Final = {
    "integer": "what an integer becomes of a number that it cannot be",
    "nan": "what becomes of NaN",
    "complex": "what becomes of a complex number of which a part is not finite",
    "twice": "which of two values stays that are written to one place",
    "tie": "which of two alike comes first",
}


def is_on_npu(text: str) -> bool:
    """Whether a case asks for the device; one that does not never starts a runtime."""
    return _CALL.search(text) is not None


class Here:
    """The device of one case, and what is seen of it while the case runs."""

    def __init__(self, xp: ModuleType) -> None:
        self._npu: Any = getattr(xp, "npu", None)
        self._has_npu = hasattr(self._npu, "record_fallbacks")
        self._watching = ExitStack()
        self._is_used = False
        self._fallbacks: list[str] = []
        self.left_open: list[str] = []
        """Of a case that was judged: what happened that documents leave to a device."""

    def __call__(self, key: str = "") -> str:
        """``npu`` in the subject, ``cpu`` in torch; of a key's name, which in torch is a backend's
        that stands in for the NPU, the NPU's."""
        if not self._has_npu:
            return key or "cpu"
        if not self._is_used:
            self._is_used = True
            ascend.provide()
            self._fallbacks = self._watching.enter_context(self._npu.record_fallbacks())
        for backend in _STAND_INS:
            key = key.replace(backend, "NPU")
        return key or "npu"

    def judged(self, outcome: Outcome) -> Outcome:
        """The outcome of the case, with what was seen: the last that is done with it."""
        if not self._is_used:
            return outcome
        fault = _fault(outcome)
        try:
            self._npu.synchronize()
        except self._npu.AclError as error:
            fault = error.code == _FAULT_STATUS
            outcome = Outcome("raised", type=qualified_name(type(error)), message=str(error))
        finally:
            self._watching.close()
        broken = ascend.violations()
        noticed = ascend.take_open()
        if broken:
            return Outcome("raised", type=VIOLATIONS, message="\n".join(broken))
        if fault or "fault" in noticed:
            return replace(outcome, uncovered=DEVICE_FAULT)
        self.left_open = noticed
        if outcome.kind == "raised" and outcome.message.startswith("Could not run '"):
            return replace(outcome, uncovered=NO_KERNEL)
        return replace(outcome, uncovered=", ".join(dict.fromkeys(self._fallbacks)))


def settled(first: Outcome, why: Sequence[str], again: Callable[[], Outcome]) -> Outcome:
    """The outcome of a case that made values which documents leave open, marked where it shows one.

    ``why`` has the simulator's words for them; ``again`` runs the case once more.  One that does
    not do the same twice is left as it is.
    """
    if again() != first:
        return first
    others = []
    for choice in ascend.CHOICES:
        with ascend.choosing(choice):
            others.append(again())
    found = left_open.settled(first, others)
    reason = LEFT_OPEN + ", ".join(_OPEN.get(word, word) for word in why)
    return first if found == first else replace(found, uncovered=reason)


def _fault(outcome: Outcome) -> bool:
    """Whether a call that waited for the device was told of such a value, if only to show it."""
    return f"error code is {_FAULT_STATUS} " in str(outcome)
