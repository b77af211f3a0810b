"""What every thread has of its own, and what its work takes along into another thread.

Mirrors ``thread_local`` variables of torch's C++, and ``at::ThreadLocalState`` in
``aten/src/ATen/ThreadLocalState.h``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

Answer = TypeVar("Answer")

_states: Final[list[ThreadLocal]] = []
"""All that there are."""
_carried: Final[list[ThreadLocal]] = []
"""What work takes along."""


class ThreadLocal(threading.local):
    """State of a module, of which every thread has its own.  ``__init__`` takes no arguments."""

    def __new__(cls) -> Any:
        state = super().__new__(cls)
        _states.append(state)
        return state


State = TypeVar("State", bound=ThreadLocal)


def carried(state: State) -> State:
    """Have work take this state along."""
    _carried.append(state)
    return state


def in_another_thread(call: Callable[[], Answer]) -> Answer:
    """What ``call`` answers or raises in a new thread, with the state of this one, which waits."""
    states = [(state, dict(vars(state))) for state in _carried]
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        for state, values in states:
            vars(state).update(values)
        try:
            answers.append(call())
        except BaseException as error:  # whatever it is, the thread that waits has to know
            errors.append(error)

    thread = threading.Thread(target=run, name="mindtorch_v2: backward", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()
    return answers.pop()


def as_in_a_new_thread(call: Callable[[], Answer]) -> Answer:
    """What ``call`` answers or raises with all state as a new thread has it; then it is as before.

    In this thread, since to begin one and wait for it takes far longer.
    """
    before = [(state, vars(state).copy()) for state in _states]
    _begin(_states)
    try:
        return call()
    finally:
        left = [vars(state).copy() for state in _states]  # it ends when all is as before
        _begin(_states[len(before) :])  # of modules that ``call`` was the first to import
        for state, values in before:
            vars(state).clear()
            vars(state).update(values)
        del left


def _begin(states: Sequence[ThreadLocal]) -> None:
    """What ``threading.local`` does for a thread that has not seen them yet."""
    for state in states:
        vars(state).clear()
        state.__init__()  # type: ignore[misc]
