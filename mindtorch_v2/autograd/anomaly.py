"""Whether backward looks for the operation that went wrong, and what it says of that.

Mirrors ``torch/csrc/autograd/anomaly_mode.h`` and ``python_anomaly_mode.cpp``.  A node keeps where
in a program it was made, in its ``metadata``, and the node whose backward made it.
"""

from __future__ import annotations

import sys
import traceback
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.warn import warn

if TYPE_CHECKING:
    from mindtorch_v2.autograd.node import Node

_TRACEBACK: Final = "traceback_"
_PARENT: Final = "parent_"
_PACKAGE: Final = f"{__name__.partition('.')[0]}."


class Mode:
    """Of all threads."""

    enabled = False
    check_nan = True


def is_anomaly_enabled() -> bool:
    """Whether nodes keep where they are made."""
    return Mode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether the first nan stops backward."""
    return Mode.check_nan


def set_enabled(enabled: bool, check_nan: bool = True) -> None:
    pipeline = tls.thread_local.raw.pipeline
    if enabled and pipeline is not None:
        pipeline.flush("nodes of calls from here on keep where they are made")
    Mode.enabled, Mode.check_nan = enabled, check_nan


def store_stack(metadata: dict[str, Any], parent: Node | None) -> None:
    """Keep where a program is now, without what this package does for it: in torch, C++."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    metadata[_TRACEBACK] = [] if frame is None else traceback.format_stack(frame)
    if parent is not None:
        metadata[_PARENT] = parent


def print_stack(node: Node) -> None:
    """Warn of a node that raised, and then of each whose backward made the one before."""
    _warn(node, "caused the error", "", "print_stack")
    parent = node.metadata.get(_PARENT)
    while parent is not None:
        _warn(parent, "induced the previous calculation", "\n\nPrevious ", "print_stack(parent)")
        parent = parent.metadata.get(_PARENT)


def _warn(node: Node, what: str, start: str, where: str) -> None:
    stack = node.metadata.get(_TRACEBACK)
    if stack is None:
        _said(
            "print_stack(no stack)",
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information.",
        )
        return
    found = f"{start}calculation was induced by" if start else "Error detected in"
    text = "".join(stack)
    _said(where, f"{found} {node.name()}. Traceback of forward call that {what}:\n{text}")


def _said(where: str, message: str) -> None:
    """A warning; one that is an error is only printed: something else is raised already."""
    try:
        warn(where, message)
    except UserWarning:
        traceback.print_exc()
