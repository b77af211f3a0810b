"""Warnings that torch's C++ gives once in a process, unless told to give them always.

Mirrors ``TORCH_WARN_ONCE`` in ``c10/util/Exception.h`` and ``torch.set_warn_always``.
"""

from __future__ import annotations

import warnings
from typing import Final

from mindtorch_v2 import profile

_LOCATIONS: Final[dict[str, str]] = profile.active().messages["warnings"]
_given: set[str] = set()
_always = [False]


def set_warn_always(b: bool, /) -> None:
    """Whether warnings of which one is enough are given each time."""
    _always[0] = b


def is_warn_always_enabled() -> bool:
    return _always[0]


def is_warned_of(function: str) -> bool:
    """Whether this release's ``function`` has a warning to give."""
    return function in _LOCATIONS


def warn(function: str, message: str) -> None:
    """A UserWarning from a C++ ``function``, each time (``TORCH_WARN``)."""
    location = _LOCATIONS[function]
    warnings.warn(f"{message} (Triggered internally at {location}.)", UserWarning, stacklevel=5)


def warn_once(function: str, message: str, *, in_python: bool = True) -> None:
    """A UserWarning from a C++ ``function``, whose file and line it names.

    ``in_python`` is false where C++ prints it itself: then it only counts as given.
    """
    if function in _given and not _always[0]:
        return
    _given.add(function)
    if in_python:
        warn(function, message)
