"""Calls that end where their kernel would begin, for whoever wants to see how a call is bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.thread_state import ThreadLocal


class Stopped(BaseException):
    """``call`` has its operator and arguments.  No Exception, so that nothing on the way
    catches it."""

    def __init__(self, call: Any) -> None:
        self.call = call


class _State(ThreadLocal):
    active = False
    at_python = False


_state = _State()


@contextmanager
def stopping() -> Iterator[None]:
    """Have the first call of an operator in this thread raise Stopped instead of running."""
    before, _state.active = _state.active, True
    try:
        with OBSERVERS:
            yield
    finally:
        _state.active = before


def is_stopping() -> bool:
    return _state.active


@contextmanager
def stopping_at_python() -> Iterator[None]:
    """Have a kernel written in Python raise Stopped instead of running."""
    before, _state.at_python = _state.at_python, True
    try:
        with OBSERVERS:
            yield
    finally:
        _state.at_python = before


def is_stopping_at_python() -> bool:
    return _state.at_python
