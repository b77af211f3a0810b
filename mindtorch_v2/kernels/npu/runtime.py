"""The life of the process with ACL: start, devices, the context of each thread, and the end.

Note [Threads]
    ACL keeps the current context per thread, and a thread that never set one is refused.  So
    everything that needs a context calls :func:`use_device` first, finalisers included.  The first
    use of a device in the process sets it, which makes its context and counts; other threads
    take that context, which does not count, so that one reset at the end is enough.

Note [Exit]
    At the end of the process the order is: wait for the devices; events and streams; memory;
    devices; ACL itself, if this process started it.  Descriptors are destroyed right after their
    call and do not live that long.  Objects that outlive it (tensors in modules) find the runtime
    closed and do nothing.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from typing import Final

from mindtorch_v2.kernels.npu import libraries, status
from mindtorch_v2.thread_state import ThreadLocal

BLOCKING: Final = "ASCEND_LAUNCH_BLOCKING"


class _State:
    """What the process knows."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_started = False
        self.is_closed = False
        self.is_child = False
        #: Whether ``aclInit`` of this process was the first: only then it finalizes.
        self.owns_acl = False
        self.contexts: dict[int, int | None] = {}
        self.closers: list[Callable[[], None]] = []
        self.device_count = 0
        self.soc = ""


class _Thread(ThreadLocal):
    device: int | None = None
    """The device whose context is current; None before the first use."""
    chosen: int = 0
    """The device that the program has chosen for the thread."""


_state: Final = _State()
_thread: Final = _Thread()


def recent_message() -> str:
    """What the library has to say of the last failure on this thread; reading it takes it away."""
    text: bytes | None = libraries.function("aclGetRecentErrMsg")()
    return "" if text is None else text.decode(errors="replace").strip()


def call(name: str, *arguments: object, context: str = "") -> None:
    """Call a function that answers a status; AclError if that is none of success."""
    code: int = libraries.function(name)(*arguments)
    if code != status.SUCCESS:
        status.check(code, name, recent_message, lambda: context)


# --- start ----------------------------------------------------------------------------------------


def start() -> None:
    """Load the libraries and initialise ACL, once; RuntimeError if there is no usable device."""
    if is_started():
        return
    with _state.lock:
        _check_may_start()
        if not _state.is_started:
            _start()


def _check_may_start() -> None:
    if _state.is_child:
        raise RuntimeError(
            "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you "
            "must use the 'spawn' start method"
        )
    if _state.is_closed:
        raise RuntimeError("the NPU runtime has been closed: the interpreter is shutting down")


def _start() -> None:
    code: int = libraries.function("aclInit")(None)
    if code != status.ALREADY_INITIALIZED:
        status.check(code, "aclInit", recent_message, lambda: "")
        _state.owns_acl = True
    else:
        recent_message()
    count = ctypes.c_uint32()
    call("aclrtGetDeviceCount", ctypes.byref(count))
    _state.device_count = count.value
    if not count.value:
        raise RuntimeError("CANN is installed, but no NPU is visible to this process")
    _state.is_started = True
    atexit.register(close)


def is_started() -> bool:
    """Whether there is a runtime that this process may call."""
    return _state.is_started and not _state.is_closed and not _state.is_child


def device_count() -> int:
    """How many devices there are; 0 where none can be used, for whatever reason."""
    try:
        start()
    except (RuntimeError, OSError):
        return 0
    return _state.device_count


def soc_name() -> str:
    """The chip, ``Ascend910B3`` for one; empty if ACL does not say."""
    if not _state.soc:
        use_device()
        name: bytes | None = libraries.function("aclrtGetSocName")()
        _state.soc = "" if name is None else name.decode()
    return _state.soc


def is_blocking() -> bool:
    """Whether each operator is waited for, so that an error names the one it is of."""
    return BLOCKING in os.environ and os.environ[BLOCKING] not in ("", "0")


# --- devices and threads --------------------------------------------------------------------------


def current_device() -> int:
    """The device that this thread has chosen, 0 at first."""
    return _thread.chosen


def choose_device(index: int) -> None:
    """RuntimeError for a device that there is not."""
    use_device(index)
    _thread.chosen = index


def use_device(index: int | None = None) -> None:
    """Have this thread's context be that of a device, by default of the chosen one.

    See Note [Threads].  RuntimeError for a device that there is not.
    """
    wanted = _thread.chosen if index is None else index
    if _thread.device == wanted:
        return
    start()
    if not 0 <= wanted < _state.device_count:
        raise RuntimeError(
            f"Invalid device ID: there are {_state.device_count} NPUs, so npu:{wanted} is none"
        )
    with _state.lock:
        if wanted in _state.contexts:
            call("aclrtSetCurrentContext", _state.contexts[wanted])
        else:
            call("aclrtSetDevice", wanted)
            context = ctypes.c_void_p()
            call("aclrtGetCurrentContext", ctypes.byref(context))
            _state.contexts[wanted] = context.value
    _thread.device = wanted


def used_devices() -> list[int]:
    """The devices that the process has set."""
    return list(_state.contexts)


# --- end ------------------------------------------------------------------------------------------


def at_close(closer: Callable[[], None]) -> Callable[[], None]:
    """Have a function called when the runtime closes, before the devices are reset; those that
    came first are called last."""
    _state.closers.append(closer)
    return closer


def close() -> None:
    """Give everything back; see Note [Exit].  Errors are not raised: nobody could act on them."""
    if not is_started():
        return
    with _state.lock:
        for index in used_devices():
            use_device(index)
            libraries.function("aclrtSynchronizeDevice")()
        for closer in reversed(_state.closers):
            closer()
        _state.is_closed = True
        if _state.owns_acl:
            for index in used_devices():
                libraries.function("aclrtResetDevice")(index)
            libraries.function("aclFinalize")()


def _in_child() -> None:
    """After a fork the libraries' threads are gone; nothing of theirs may be touched."""
    if _state.is_started:
        _state.is_child = True


os.register_at_fork(after_in_child=_in_child)
