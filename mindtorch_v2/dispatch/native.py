"""Where the dispatcher finds this package's kernels for the operators of the profile.

The profile says at which keys torch has registered a kernel of an operator;
:mod:`mindtorch_v2.kernels` has functions for some of them.  It stands above the dispatcher, so it
hands in its look-up here; and it is large, so it is imported when a kernel is first looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from mindtorch_v2.dispatch.key import DispatchKey


class Native(NamedTuple):
    """A function in place of a C++ kernel; with the entry and the keyset before the values."""

    function: Callable[..., Any] | None
    with_keyset: bool = False


NONE: Final = Native(None)

Provider = Callable[[str, int], Native]
"""From an operator's full name and a key, an alias key too."""

_loaders: Final[list[Callable[[], Provider]]] = []


def provide(load: Callable[[], Provider]) -> None:
    """Ask what ``load`` answers, which is called when a kernel is first looked for; entries that
    exist keep what they have."""
    _loaders[:] = [load]
    _provider.cache_clear()


@cache
def _provider() -> Provider:
    return _loaders[0]() if _loaders else lambda name, key: NONE


def find(name: str, key: int) -> Native:
    """The kernel of an operator for a key."""
    return _provider()(name, key)


_BACKENDS: Final = (
    DispatchKey.CPU,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeImplicitAutograd,
)


@cache
def has_kernel(name: str) -> bool:
    """Whether there is one that computes, at the CPU or composed of other operators."""
    return any(find(name, key).function is not None for key in _BACKENDS)
