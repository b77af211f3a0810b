"""A new thread's state, in a new thread and without one."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import thread_state
from mindtorch_v2.autograd.node import next_sequence_nr
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.thread_state import ThreadLocal, as_in_a_new_thread


class Counted(ThreadLocal):
    def __init__(self) -> None:
        self.seen: list[int] = []


COUNTED = Counted()


def in_a_thread(call: Callable[[], Any]) -> Any:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    thread.join()
    return answers.pop()


def asked() -> list[Any]:
    """What a program can see of its thread's state."""
    return [
        torch.is_grad_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.get_default_device(),
        str(torch._C._dispatch_tls_local_include_set()),
        str(torch._C._dispatch_tls_local_exclude_set()),
        torch._C._len_torch_function_stack(),
        next_sequence_nr(),
    ]


def change_all() -> None:
    """Set what a program can set, and put nothing back."""
    torch.set_grad_enabled(False)
    torch.autocast("cpu", torch.float16).__enter__()
    torch.set_default_device("meta")
    torch._C._dispatch_tls_set_dispatch_key_included("AutocastXPU", True)
    torch._C._dispatch_tls_set_dispatch_key_excluded("Tracer", True)
    next_sequence_nr()


@pytest.mark.parametrize("in_new", [in_a_thread, as_in_a_new_thread])
def test_what_a_call_sets_is_gone_after_it(in_new: Callable[[Callable[[], Any]], Any]) -> None:
    def change() -> None:
        before = asked()
        change_all()
        assert all(old != new for old, new in zip(before, asked(), strict=True))

    before, observers = asked(), OBSERVERS.count
    in_new(change)
    assert OBSERVERS.count == observers
    *state, number = asked()
    assert (state, number) == (before[:-1], before[-1] + 1)


def test_a_call_finds_the_state_that_a_new_thread_has() -> None:
    def nested() -> Any:
        change_all()
        return as_in_a_new_thread(asked)

    assert as_in_a_new_thread(asked) == in_a_thread(asked) == as_in_a_new_thread(nested)


def test_the_state_is_put_back_after_an_error() -> None:
    def fail() -> None:
        COUNTED.seen.append(2)
        raise KeyboardInterrupt

    COUNTED.seen.append(1)
    with pytest.raises(KeyboardInterrupt):
        as_in_a_new_thread(fail)
    assert COUNTED.seen == [1]
    COUNTED.seen.clear()


def test_other_threads_keep_their_state() -> None:
    COUNTED.seen.append(1)
    assert as_in_a_new_thread(lambda: in_a_thread(lambda: list(COUNTED.seen))) == []
    assert as_in_a_new_thread(lambda: list(COUNTED.seen)) == []
    assert COUNTED.seen.pop() == 1


def test_what_is_left_in_the_state_ends_when_all_is_as_before() -> None:
    class AtItsEnd:
        def __del__(self) -> None:
            with suppress(AttributeError):  # of state that is not there
                ended.append(torch.is_grad_enabled())

    def leave() -> None:
        torch.set_grad_enabled(False)
        first = thread_state._states[0]
        vars(first)["left"] = AtItsEnd()

    ended: list[bool] = []
    as_in_a_new_thread(leave)
    assert ended == [True]


def test_state_that_a_call_is_the_first_to_have_is_as_new_afterwards() -> None:
    def first() -> Counted:
        late = Counted()
        late.seen.append(2)
        return late

    assert as_in_a_new_thread(first).seen == []
    thread_state._states.pop()


def test_all_state_of_threads_is_known() -> None:
    """What a plain ``threading.local`` holds, ``as_in_a_new_thread`` would not put back."""
    for module in pkgutil.walk_packages(torch.__path__, "mindtorch_v2."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, threading.local):
                    assert value in thread_state._states, f"{module.name}.{name} is no ThreadLocal"
