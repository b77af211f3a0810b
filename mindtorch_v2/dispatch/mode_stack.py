"""The calling thread's dispatch modes: those of users, a stack, and one of each infra kind.

Mirrors ``c10/core/impl/TorchDispatchModeTLS.cpp`` and the guards of
``torch/csrc/utils/torch_dispatch_mode.h``.  While there is any mode, the keys Python and
PythonTLSSnapshot are included, so that calls without tensors get to it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS
from mindtorch_v2.dispatch.tls import thread_local

INFRA_NAMES: Final = ("FakeTensorMode", "ProxyTorchDispatchMode")
"""What messages call the infra modes, by ``TorchDispatchModeKey``; a further one has no name."""


def infra_name(mode_key: int) -> str:
    return INFRA_NAMES[mode_key] if mode_key < len(INFRA_NAMES) else "UNKNOWN_MODE"


def any_modes_set() -> bool:
    modes = thread_local.raw.modes
    return bool(modes.users or modes.infra)


def is_enabled() -> bool:
    """``dispatch_mode_enabled``: there is a mode, and nobody has excluded the key Python."""
    return any_modes_set() and not thread_local.raw.sets.excludes_python


def stack_len() -> int:
    modes = thread_local.raw.modes
    return len(modes.infra) + len(modes.users)


def get_stack_at(index: int) -> Any:
    """The mode at a place counted from the bottom, where the infra modes are."""
    if index >= stack_len():
        raise RuntimeError("Tried to get stack at idx that's too big")
    modes = thread_local.raw.modes
    return [*(modes.infra[key] for key in sorted(modes.infra)), *modes.users][index]


def push(mode: Any) -> None:
    """On top of the users' modes."""
    raw = thread_local.raw
    raw.modes.users.append(mode)
    sets = raw.sets
    if not raw.is_watched:
        raw.watch()
    raw.sets = (sets.including.get(PYTHON_KEYS) or sets.include(PYTHON_KEYS)).within


def pop() -> Any:
    """The topmost user's mode, or else infra mode; RuntimeError if there is none."""
    raw = thread_local.raw
    modes = raw.modes
    if len(modes.users) != 1 or modes.infra:
        return take()[0]
    if not raw.is_watched:
        raw.watch()
    raw.sets = raw.sets.modeless or raw.sets.without_modes()
    return modes.users.pop()


Taken = tuple[Any, int | None]
"""A mode and, of an infra mode, its kind."""


def take() -> Taken:
    """As :func:`pop`, for who puts it back: what the mode calls goes to those below."""
    raw, kind = thread_local.raw, None
    modes = raw.modes
    if modes.users:
        mode = modes.users.pop()
    elif modes.infra:
        kind = max(modes.infra)
        mode = modes.infra.pop(kind)
    else:
        raise RuntimeError("trying to pop from empty mode stack")
    _include_keys(raw)
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
    return thread_local.raw.modes.infra.get(mode_key)


def set_mode(mode: Any, mode_key: int) -> None:
    """RuntimeError if there is an infra mode of the kind already."""
    raw = thread_local.raw
    if mode_key in raw.modes.infra:
        raise RuntimeError(
            f"trying to set the current {infra_name(mode_key)}, but one already exists"
        )
    raw.modes.infra[mode_key] = mode
    _include_keys(raw)


def unset_mode(mode_key: int) -> Any:
    """Take away the infra mode of a kind, which is the answer; None if there is none."""
    raw = thread_local.raw
    mode = raw.modes.infra.pop(mode_key, None)
    if mode is not None:
        _include_keys(raw)
    return mode


def _include_keys(raw: tls.RawLocalDispatchKeySet) -> None:
    if not raw.is_watched:
        raw.watch()
    if raw.modes.users or raw.modes.infra:
        raw.sets = raw.sets.include(PYTHON_KEYS).within
    else:
        raw.sets = raw.sets.without_modes()


@contextmanager
def stashed_stack() -> Iterator[None]:
    """Without any mode."""
    raw = thread_local.raw
    modes, raw.modes = raw.modes, tls.Modes()
    _include_keys(raw)
    try:
        yield
    finally:
        raw.modes = modes
        _include_keys(raw)
