"""How torch is asked what it does: what a call raises, warns of and reaches."""

import os
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def error_of(ask: Callable[[], object]) -> tuple[str, str]:
    try:
        ask()
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError("torch took what it used to refuse")


def holds(ask: Callable[[], bool]) -> bool:
    """The answer; no if torch has nothing that could be asked, or refuses it."""
    try:
        return ask()
    except (AttributeError, RuntimeError):
        return False


def meta(sizes: tuple[int, ...]) -> torch.Tensor:
    return torch.zeros(sizes, device="meta")


def in_a_fork(ask: Callable[[], bool]) -> bool:
    """The answer of a process of its own; no if that does not live to give it."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ask() else 1)
    return os.waitpid(child, 0)[1] == 0


def warns(ask: Callable[[], object]) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return bool(caught)


def options_of(operator: object, ask: Callable[[], object]) -> list[Any]:
    """The values of the options that an operator is called with, where ``ask`` reaches it."""
    found: list[Any] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            if func is operator:
                found.extend((kwargs or {}).values())
            return func(*args, **(kwargs or {}))

    with Watch():
        ask()
    return found


def is_reached(operator: object, ask: Callable[[], object]) -> bool:
    """Whether an operator is called where ``ask`` reaches it."""
    found: list[object] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            found.append(func)
            return func(*args, **(kwargs or {}))

    with Watch():
        ask()
    return operator in found
