"""Warnings that torch's C++ gives once in a process, unless told to give them always.

Mirrors ``TORCH_WARN_ONCE`` in ``c10/util/Exception.h`` and ``torch.set_warn_always``.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.by_position import by_position
from mindtorch_v2.call_site import hands_warnings_on, level_of_python
from mindtorch_v2.thread_state import ThreadLocal

_LOCATIONS: Final[dict[str, str]] = profile.active().messages["warnings"]
_given: set[str] = set()
_always = [False]


@by_position
def set_warn_always(b: bool, /) -> None:
    """Whether warnings of which one is enough are given each time."""
    _always[0] = b


def is_warn_always_enabled() -> bool:
    return _always[0]


def is_warned_of(function: str) -> bool:
    """Whether this release's ``function`` has a warning to give."""
    return function in _LOCATIONS


def warn(
    function: str, message: str, *, line: int = 0, category: type[Warning] = UserWarning
) -> None:
    """A warning from a C++ ``function``, each time (``TORCH_WARN``), if Python learns of it.

    ``line`` counts from the one that the release is known to warn at.  Of a function that a release
    has taken from Python nobody knows the place: only its operator is left, whose warnings C++
    prints.
    """
    place = _LOCATIONS.get(function)
    if place is None:
        check_rehearsal()
        handlers.given += 1
        return
    if line:
        file, _, known = place.rpartition(":")
        place = f"{file}:{int(known) + line}"
    warn_at(place, message, category)


def warn_at(place: str, message: str, category: type[Warning]) -> None:
    """The same from a ``place`` in C++, which is its file and line."""
    check_rehearsal()
    handlers.given += 1
    handed_on = handlers.handed_on
    if not (hands_warnings_on() if handed_on is None else handed_on):
        return
    text = f"{message} (Triggered internally at {place}.)"
    if handlers.buffer is None:
        warnings.warn(text, category, stacklevel=level_of_python())
    else:
        handlers.buffer.append((category, text))


def warn_once(function: str, message: str, *, in_python: bool = True) -> None:
    """A UserWarning from a C++ ``function``, whose file and line it names.

    ``in_python`` is false where C++ prints it itself: then it only counts as given.
    """
    check_rehearsal()
    handlers.given += 1
    told = handlers.told
    if function in _given and (not _always[0] or function in (told or ())):
        return
    _given.add(function)
    if told is not None:
        told.add(function)
    if in_python:
        warn(function, message)


class _Handlers(ThreadLocal):
    buffer: list[tuple[type[Warning], str]] | None = None
    is_rehearsal = False
    handed_on: bool | None = None
    told: set[str] | None = None
    #: Grows with every warning, with one too that nobody is told because once is enough.
    given = 0


class WouldWarnError(Exception):
    """What only tries a call out had a warning to give."""


@contextmanager
def rehearsal() -> Iterator[None]:
    """A block that tries a call out: in the place of its first warning, WouldWarnError."""
    outer, handlers.is_rehearsal = handlers.is_rehearsal, True
    try:
        yield
    finally:
        handlers.is_rehearsal = outer


@contextmanager
def once() -> Iterator[None]:
    """A block in which one warning is enough, even if they are given always: who asks what a kernel
    begins with, and runs it then, makes one call of C++'s."""
    outer, handlers.told = handlers.told, set()
    try:
        yield
    finally:
        handlers.told = outer


def check_rehearsal() -> None:
    """For who is about to warn: WouldWarnError if a call is only tried out."""
    if handlers.is_rehearsal:
        raise WouldWarnError


handlers: Final = _Handlers()


@contextmanager
def warning_handler() -> Iterator[None]:
    """``PyWarningHandler``: what C++ warns of reaches Python when the call into C++ is over."""
    outer, handlers.buffer = handlers.buffer, []
    raised = True
    try:
        yield
        raised = False
    finally:
        buffer, handlers.buffer = handlers.buffer, outer
        for category, text in buffer or ():
            _hand_on(category, text, raised)


def _hand_on(category: type[Warning], text: str, raised: bool) -> None:
    """Warn; where something else was raised, a warning that is an error is printed only."""
    try:
        warnings.warn(text, category, stacklevel=level_of_python())
    except category:
        if not raised:
            raise
        traceback.print_exc()


class as_called:  # noqa: N801 (used as a function)
    """A block that runs what was called earlier, and handed warnings on to Python or did not."""

    __slots__ = ("_handed_on", "_outer")

    def __init__(self, handed_on: bool) -> None:
        self._handed_on = handed_on

    def __enter__(self) -> None:
        self._outer = handlers.handed_on, handlers.buffer
        handlers.handed_on, handlers.buffer = self._handed_on, []

    def __exit__(self, *raised: object) -> None:
        found = handlers.buffer
        handlers.handed_on, handlers.buffer = self._outer
        for category, text in found or ():
            warnings.warn(text, category, stacklevel=6)


def call_in_python(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The answer of Python code that C++ calls: its own calls into C++ have handlers of their
    own."""
    outer = handlers.buffer
    if outer is None:
        return function(*args)
    handlers.buffer = None
    try:
        return function(*args)
    finally:
        handlers.buffer = outer
