"""Version counters: how often the values of a tensor have been changed in place.

Mirrors ``c10::VariableVersion`` of ``c10/core/TensorImpl.h``.
"""

from __future__ import annotations


class VersionCounter:
    """A count that a tensor, its views and its detached twins share."""

    __slots__ = ("value",)

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def bump(self) -> None:
        self.value += 1
