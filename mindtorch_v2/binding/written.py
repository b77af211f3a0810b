"""Functions for a fixed number of values, written when a number first comes.

A function that takes ``*stack`` and passes it on makes a tuple and takes it apart; one that names
its values does neither.  A factory is compiled once for all operators that have so many values, so
that even one that is called once may have its function of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Factory = Callable[..., Callable[..., Any]]
"""From what a function needs to the function."""


def names(count: int) -> str:
    """What so many values are called: ``_0, _1``."""
    return ", ".join(f"_{place}" for place in range(count))


def factory(needs: str, values: str, body: str, module: str) -> Factory:
    """Makes functions of ``values`` that do what ``body`` says, an expression, with ``needs``.

    ``module`` is whose frames theirs pass for.
    """
    scope: dict[str, Any] = {"__name__": module}
    exec(f"def make({needs}):\n def run({values}): return {body}\n return run", scope)
    made: Factory = scope["make"]
    return made
