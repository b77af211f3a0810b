"""What becomes of tensors that require grad in operators without a kernel at Autograd.

Mirrors ``AutogradFallbackMode`` in ``torch/csrc/autograd/autograd_not_implemented_fallback.cpp``.
"""

from __future__ import annotations

from mindtorch_v2.messages import internal_assert

mode = "warn"
"""``nothing``, or ``warn``: results have a history, whose backward warns; of the whole process."""


def get_mode() -> str:
    return mode


def set_mode(wanted: str) -> None:
    """RuntimeError for a mode that there is not, or that torch only plans."""
    global mode
    if wanted == "error":
        raise RuntimeError("NYI: mode='error'")
    if wanted not in ("nothing", "warn"):
        place = internal_assert("false", "_set_autograd_fallback_mode")
        raise RuntimeError(f"{place}Unsupported AutogradFallbackMode: {wanted}")
    mode = wanted
