"""The helper ``traced`` of cases: which operators a call reaches, at which of some keys.

A release wheel of torch prints no dispatch trace, but a kernel in Python can take down that it was
called and call on below its key.  So ``traced(call, operators, keys)`` gives these operators of
aten such kernels at these keys, runs ``call``, and answers one line for each that ran, as deep as
it was called, and what the call returned.  What stood at those keys does not run: the order of keys
is what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["traced"]


def traced(
    xp: ModuleType, call: Callable[[], Any], operators: Sequence[str], keys: Sequence[str]
) -> tuple[list[str], Any]:
    """The lines and the answer.  ``operators`` are names such as ``add.Tensor``; RuntimeError for
    one that does not exist, and whatever the call raises."""
    lines: list[str] = []
    depth = [0]
    with xp.library._scoped_library("aten", "IMPL") as library:
        for operator in operators:
            for key in keys:
                kernel = _recorder(xp, operator, key, lines, depth)
                library.impl(operator, kernel, key, with_keyset=True)
        return lines, call()


def _recorder(
    xp: ModuleType, name: str, key: str, lines: list[str], depth: list[int]
) -> Callable[..., Any]:
    packet, _, overload_name = name.partition(".")
    operator = getattr(getattr(xp.ops.aten, packet), overload_name or "default")
    below = xp._C._dispatch_keyset_full_after(getattr(xp._C.DispatchKey, key))

    def record(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        lines.append(f"{' ' * depth[0]}{name} at {key} with {keyset}")
        depth[0] += 1
        try:
            return operator.redispatch(keyset & below, *args, **kwargs)
        finally:
            depth[0] -= 1

    return record
