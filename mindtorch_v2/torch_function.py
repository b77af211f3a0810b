"""Objects and modes that override torch's functions: ``__torch_function__`` and its switches.

Mirrors ``torch/csrc/utils/disable_torch_function.cpp`` and
``aten/src/ATen/PythonTorchFunctionTLS.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType
from typing import Any, Final

from mindtorch_v2 import overloaded
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.overloaded import ABSENT, attribute
from mindtorch_v2.overloaded import Overloaded as Overloaded
from mindtorch_v2.overloaded import append_overloaded as append_overloaded
from mindtorch_v2.thread_state import ThreadLocal, carried


class State(IntEnum):
    """``TorchFunctionDisabledState``: who overrides functions."""

    ENABLED = 0
    SUBCLASSES_DISABLED = 1
    ALL_DISABLED = 2


class _Modes(list[Any]):
    """Those of a thread, the innermost last.  Each observes until it is taken away, or with its
    thread's end."""

    def __del__(self) -> None:
        for _ in self:
            self._remove()

    _remove = staticmethod(OBSERVERS.remove)  # which is there to the interpreter's end


class _ThreadLocal(ThreadLocal):
    def __init__(self) -> None:
        self.state = State.ENABLED
        self.modes = _Modes()


_thread_local: Final = carried(_ThreadLocal())

NEVER_ASKED: Final = frozenset(
    (
        *(bool, int, float, complex, list, tuple, dict, set, frozenset, str, bytes, slice),
        *(type(None), type(...), type(NotImplemented), ModuleType),
    )
)
"""Types that are not looked at further."""


# --- the switches -----------------------------------------------------------------------------


def get_state() -> State:
    return _thread_local.state


def set_state(state: int) -> None:
    _thread_local.state = State(state)


class StateGuard:
    """Sets the state; on close sets it back."""

    __slots__ = ("_before",)

    def __init__(self, state: State) -> None:
        self._before = get_state()
        set_state(state)

    def close(self) -> None:
        set_state(self._before)


@contextmanager
def without_torch_function() -> Iterator[None]:
    """``DisableTorchFunctionSubclass``: no object overrides a function in this thread."""
    guard = StateGuard(max(get_state(), State.SUBCLASSES_DISABLED))
    try:
        yield
    finally:
        guard.close()


def is_torch_function_enabled() -> bool:
    return get_state() is State.ENABLED


# --- modes ------------------------------------------------------------------------------------


def is_mode_enabled() -> bool:
    """Whether a mode is there to be asked."""
    return bool(_thread_local.modes) and _thread_local.state is not State.ALL_DISABLED


def push_mode(mode: Any) -> None:
    OBSERVERS.add()
    _thread_local.modes.append(mode)


def pop_mode() -> Any:
    """RuntimeError if there is no mode."""
    if not _thread_local.modes:
        raise RuntimeError("trying to pop from empty mode stack")
    OBSERVERS.remove()
    return _thread_local.modes.pop()


def mode_at(index: int) -> Any:
    """The mode at a place counted from the bottom."""
    if index >= mode_count():
        raise RuntimeError("Tried to get stack at idx that's too big")
    return _thread_local.modes[index]


def mode_count() -> int:
    return len(_thread_local.modes)


# --- objects ----------------------------------------------------------------------------------


disabled: Final = overloaded.DisabledImpl("_disabled_torch_function_impl", without_torch_function)
"""A class that has it overrides nothing."""


def overrides(value: Any, never: type) -> bool:
    """Whether ``value`` has a ``__torch_function__``; a class may, and it counts as a value.

    ``never`` is the class whose own instances are not asked.
    """
    cls = type(value)
    if cls is never or cls in NEVER_ASKED or _thread_local.state is not State.ENABLED:
        return False
    found = attribute(value, "__torch_function__")
    return found is not ABSENT and found is not disabled


_PROTOCOL: Final = overloaded.Protocol(
    "__torch_function__",
    is_mode_enabled,
    lambda: (pop_mode(), None),
    lambda taken: push_mode(taken[0]),
    lambda method: method is disabled,
    warns_of_plain_methods=True,
)


def handle_torch_function(
    function: Callable[..., Any],
    shown_name: str,
    overloaded_args: Overloaded,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    warns_python: bool = True,
) -> Any:
    """What the topmost mode answers, or the first ``__torch_function__`` that does not decline.

    ``function`` is what the user called, ``shown_name`` its full name in messages; without
    ``kwargs`` none are handed on.  ``warns_python`` says whether Python hears warnings of the call.
    TypeError if every one declines.
    """
    return overloaded.handle(
        _PROTOCOL, function, overloaded_args, args, kwargs, shown_name, warns_python=warns_python
    )
