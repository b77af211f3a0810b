"""What a thread's work takes along when it goes on in another thread.

Mirrors ``at::ThreadLocalState`` in ``aten/src/ATen/ThreadLocalState.h``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

State = TypeVar("State", bound=threading.local)
Answer = TypeVar("Answer")

_carried: Final[list[threading.local]] = []


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
