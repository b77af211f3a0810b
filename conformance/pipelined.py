"""The helper ``pipeline`` of cases: a block in which the subject's calls may wait.

Torch has no such mode, and what is compared is that nobody can tell: in torch the block does
nothing, and its ``flush()`` neither.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["pipeline"]


class _Eager:
    """A pipeline in which nothing waits."""

    def __enter__(self) -> _Eager:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def flush(self) -> None:
        pass


def pipeline(xp: ModuleType, **options: Any) -> Any:
    """``xp.pipeline(**options)``, or the like of it where there is none."""
    make = getattr(xp, "pipeline", None)
    return _Eager() if make is None else make(**options)
