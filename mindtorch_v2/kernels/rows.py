"""Rows: a kernel, the operator it is of, and the key it stands at.

A row is a function whose parameters are the operator's arguments, in the order of its schema, and
whose answer is what the operator returns.  Numbers for tensor arguments are numbers (torch wraps
them), dtypes, layouts and memory formats the numbers that C++ keeps.

    @kernel("aten::relu", key="CPU")
    def relu(self: Tensor) -> Tensor: ...

Which operators torch has at which keys is for the profile to say: a row that it does not name is
never asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final, TypeVar

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native

Function = TypeVar("Function", bound=Callable[..., Any])

ROWS: Final[dict[tuple[str, int], Native]] = {}
"""By the operator's full name and the key."""

FIRST: Final[list[Callable[[str, int], Native]]] = []
"""Who has a kernel that stands before the rows."""

DERIVED: Final[list[Callable[[str, int], Native]]] = []
"""Who makes a row for an operator that has none of its own, asked in this order."""


def kernel(
    *names: str, key: str = "CPU", keys: Sequence[str] = (), with_keyset: bool = False
) -> Callable[[Function], Function]:
    """Make a function the kernel of operators at a key, or at each of ``keys``.

    ValueError if one of them has a kernel there.
    """

    def register(function: Function) -> Function:
        for name, at in product(names, keys or (key,)):
            add(name, at, function, with_keyset=with_keyset)
        return function

    return register


def add(name: str, key: str, function: Callable[..., Any], *, with_keyset: bool = False) -> None:
    """The same as a call."""
    at = (name, int(DispatchKey[key]))
    if at in ROWS:
        raise ValueError(f"{name} has a kernel at {key} already")
    ROWS[at] = Native(function, with_keyset)


def find(name: str, key: int) -> Native:
    """The kernel of an operator for a key: its own, or one that is derived."""
    for ask in (*FIRST, _row, *DERIVED):
        native = ask(name, key)
        if native.function is not None:
            return native
    return NONE


def _row(name: str, key: int) -> Native:
    return ROWS.get((name, key), NONE)
