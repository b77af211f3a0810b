"""Functions that are one of several, by what truth values they are called with.

Mirrors ``boolean_dispatch`` of ``torch/_jit_internal.py``: the one that is called is seen in what
Python says of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Flags = tuple[bool, ...]


def boolean_dispatch(
    name: str,
    arguments: Mapping[str, int],
    names: Mapping[Flags, str],
    make: Callable[[Flags], Callable[..., Any]],
    module: str,
) -> Callable[..., Any]:
    """A function of the name, in a module; ``arguments`` are those that choose, and where they
    stand.

    ``make`` answers what is called for truth values, which then has the name of ``names``.
    """
    functions = {flags: _named(make(flags), own) for flags, own in names.items()}

    def fn(*args: Any, **kwargs: Any) -> Any:  # torch's name for it, which Python shows
        flags = tuple(_flag(args, kwargs, each, place) for each, place in arguments.items())
        return functions[flags](*args, **kwargs)

    fn.__name__, fn.__module__ = name, module
    return fn


def _flag(args: Sequence[Any], kwargs: Mapping[str, Any], name: str, place: int) -> bool:
    if name in kwargs:
        return bool(kwargs[name])
    return bool(args[place]) if place < len(args) else False


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function
