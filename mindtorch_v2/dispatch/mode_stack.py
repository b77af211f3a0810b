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
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, difference

INFRA_NAMES: Final = ("FakeTensorMode", "ProxyTorchDispatchMode")
"""What messages call the infra modes, by ``TorchDispatchModeKey``; a further one has no name."""


class _Modes(threading.local):
    def __init__(self) -> None:
        self.users: list[Any] = []
        self.infra: dict[int, Any] = {}


_modes: Final = _Modes()


def infra_name(mode_key: int) -> str:
    return INFRA_NAMES[mode_key] if mode_key < len(INFRA_NAMES) else "UNKNOWN_MODE"


def any_modes_set() -> bool:
    return bool(_modes.users or _modes.infra)


def is_enabled() -> bool:
    """``dispatch_mode_enabled``: there is a mode, and nobody has excluded the key Python."""
    return any_modes_set() and not tls.is_dispatch_key_excluded(DispatchKey.Python)


def stack_len() -> int:
    return len(_modes.infra) + len(_modes.users)


def get_stack_at(index: int) -> Any:
    """The mode at a place counted from the bottom, where the infra modes are."""
    if index >= stack_len():
        raise RuntimeError("Tried to get stack at idx that's too big")
    return [*_infra_from_bottom(), *_modes.users][index]


def _infra_from_bottom() -> list[Any]:
    return [_modes.infra[key] for key in sorted(_modes.infra)]


def push(mode: Any) -> None:
    """On top of the users' modes."""
    _modes.users.append(mode)
    _include_keys()


def pop() -> Any:
    """The topmost user's mode, or else infra mode; RuntimeError if there is none."""
    if _modes.users:
        mode = _modes.users.pop()
    elif _modes.infra:
        mode = _modes.infra.pop(max(_modes.infra))
    else:
        raise RuntimeError("trying to pop from empty mode stack")
    _include_keys()
    return mode


def get_mode(mode_key: int) -> Any:
    """The infra mode of a kind, or None."""
    return _modes.infra.get(mode_key)


def set_mode(mode: Any, mode_key: int) -> None:
    """RuntimeError if there is an infra mode of the kind already."""
    if mode_key in _modes.infra:
        raise RuntimeError(
            f"trying to set the current {infra_name(mode_key)}, but one already exists"
        )
    _modes.infra[mode_key] = mode
    _include_keys()


def unset_mode(mode_key: int) -> Any:
    """Take away the infra mode of a kind, which is the answer; None if there is none."""
    mode = _modes.infra.pop(mode_key, None)
    if mode is not None:
        _include_keys()
    return mode


def _include_keys() -> None:
    raw = tls.local_dispatch_key_set()
    found = raw.included
    raw.included = found | PYTHON_KEYS if any_modes_set() else difference(found, PYTHON_KEYS)


@contextmanager
def stashed_mode() -> Iterator[Any]:
    """Without the topmost mode, which is the value: what it calls goes to those below."""
    mode_key = None if _modes.users else max(_modes.infra, default=None)
    mode = pop()
    try:
        yield mode
    finally:
        if mode_key is None:
            push(mode)
        else:
            set_mode(mode, mode_key)


@contextmanager
def stashed_stack() -> Iterator[None]:
    """Without any mode."""
    users, infra = _modes.users, _modes.infra
    _modes.users, _modes.infra = [], {}
    _include_keys()
    try:
        yield
    finally:
        _modes.users, _modes.infra = users, infra
        _include_keys()
