"""What modules have in some releases alone: each is written once, as the newest has it."""

from __future__ import annotations

from typing import Any

from mindtorch_v2 import profile
from mindtorch_v2._library.release import without
from mindtorch_v2.nn.modules.module import Module, Self

__all__ = ["fit_to_release"]


def fit_to_release() -> None:
    """Give ``Module`` what this release has, and take what it lacks."""
    habits: dict[str, bool] = profile.active().training["habits"]
    if not habits["modules may be listed under each of their names"]:
        Module.modules = without(Module.modules, "remove_duplicate")  # type: ignore[method-assign]
    if habits["modules move to MTIA"]:
        Module.mtia = mtia  # type: ignore[attr-defined]


def mtia(self: Self, device: Any = None) -> Self:
    return self._apply(lambda each: each.mtia(device))


mtia.__qualname__ = "Module.mtia"
