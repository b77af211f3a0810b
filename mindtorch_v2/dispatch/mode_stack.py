"""The calling thread's dispatch modes: those of users, a stack, and one of each infra kind.

Mirrors ``c10/core/impl/TorchDispatchModeTLS.cpp`` and the guards of
``torch/csrc/utils/torch_dispatch_mode.h``.  While there is any mode, the keys Python and
PythonTLSSnapshot are included, so that calls without tensors get to it as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, functionality_bit
from mindtorch_v2.thread_state import carried

INFRA_NAMES: Final = ("FakeTensorMode", "ProxyTorchDispatchMode")
"""What messages call the infra modes, by ``TorchDispatchModeKey``; a further one has no name."""


_PYTHON: Final = functionality_bit(DispatchKey.Python)


class Modes:
    """One thread's: those of users, the topmost last, and one of each infra kind."""

    __slots__ = ("infra", "users")

    def __init__(self) -> None:
        self.users: list[Any] = []
        self.infra: dict[int, Any] = {}


class _ThreadLocal(threading.local):
    def __init__(self) -> None:
        self.modes = Modes()


_thread_local: Final = carried(_ThreadLocal())


def infra_name(mode_key: int) -> str:
    return INFRA_NAMES[mode_key] if mode_key < len(INFRA_NAMES) else "UNKNOWN_MODE"


def of_thread() -> Modes:
    """The calling thread's, for who reads them more than once."""
    return _thread_local.modes


def any_modes_set() -> bool:
    modes = _thread_local.modes
    return bool(modes.users or modes.infra)


def is_enabled() -> bool:
    """``dispatch_mode_enabled``: there is a mode, and nobody has excluded the key Python."""
    return any_modes_set() and not tls.thread_local.raw.sets.excluded & _PYTHON


def stack_len() -> int:
    modes = _thread_local.modes
    return len(modes.infra) + len(modes.users)


def get_stack_at(index: int) -> Any:
    """The mode at a place counted from the bottom, where the infra modes are."""
    if index >= stack_len():
        raise RuntimeError("Tried to get stack at idx that's too big")
    modes = _thread_local.modes
    return [*(modes.infra[key] for key in sorted(modes.infra)), *modes.users][index]


def push(mode: Any) -> None:
    """On top of the users' modes."""
    modes = _thread_local.modes
    modes.users.append(mode)
    _include_keys(modes)


def pop() -> Any:
    """The topmost user's mode, or else infra mode; RuntimeError if there is none."""
    return take()[0]


Taken = tuple[Any, int | None]
"""A mode and, of an infra mode, its kind."""


def take() -> Taken:
    """As :func:`pop`, for who puts it back: what the mode calls goes to those below."""
    modes, kind = _thread_local.modes, None
    if modes.users:
        mode = modes.users.pop()
    elif modes.infra:
        kind = max(modes.infra)
        mode = modes.infra.pop(kind)
    else:
        raise RuntimeError("trying to pop from empty mode stack")
    _include_keys(modes)
    return mode, kind


def put_back(taken: Taken) -> None:
    """Where :func:`take` has found it."""
    mode, kind = taken
    if kind is None:
        push(mode)
    else:
        set_mode(mode, kind)


def get_mode(mode_key: int) -> Any:
    """The infra mode of a kind, or None."""
    return _thread_local.modes.infra.get(mode_key)


def set_mode(mode: Any, mode_key: int) -> None:
    """RuntimeError if there is an infra mode of the kind already."""
    modes = _thread_local.modes
    if mode_key in modes.infra:
        raise RuntimeError(
            f"trying to set the current {infra_name(mode_key)}, but one already exists"
        )
    modes.infra[mode_key] = mode
    _include_keys(modes)


def unset_mode(mode_key: int) -> Any:
    """Take away the infra mode of a kind, which is the answer; None if there is none."""
    modes = _thread_local.modes
    mode = modes.infra.pop(mode_key, None)
    if mode is not None:
        _include_keys(modes)
    return mode


def _include_keys(modes: Modes) -> None:
    raw = tls.thread_local.raw
    if modes.users or modes.infra:
        raw.sets = raw.sets.include(PYTHON_KEYS).within
    else:
        raw.sets = raw.sets.without_python()


@contextmanager
def stashed_stack() -> Iterator[None]:
    """Without any mode."""
    modes = _thread_local.modes
    _thread_local.modes = none = Modes()
    _include_keys(none)
    try:
        yield
    finally:
        _thread_local.modes = modes
        _include_keys(modes)
