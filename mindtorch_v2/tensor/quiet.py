"""NumPy that warns of nothing: C++ computes an overflow or a division by nought without a word.

``np.errstate`` costs several times what NumPy needs for a few elements.  What it sets is kept in
NumPy's context variable, so a context that has it set once serves any number of calls.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import cache
from typing import Any, Final, TypeVar

from mindtorch_v2.numpy_later import np

Answer = TypeVar("Answer")

_idle: Final[list[Callable[..., Any]]] = []
"""What calls in a context, which can be entered once at a time, by whichever thread: who enters one
takes it from here, so that a signal's handler, say, that computes meanwhile takes another."""


def quietly(function: Callable[..., Answer], *args: Any) -> Answer:
    """The answer of a function that computes with NumPy."""
    try:
        run = _idle.pop()
    except IndexError:
        run = quiet_run()
    try:
        return run(function, *args)  # type: ignore[no-any-return]
    finally:
        _idle.append(run)


def quiet_run() -> Callable[..., Any]:
    """Calls a function with arguments in a context of its own, where NumPy warns of nothing;
    RuntimeError, and nothing has been computed, for who calls it while it does."""
    if not _is_in_context():
        return _with_errstate
    context = Context()
    context.run(np.seterr, all="ignore")
    return context.run


@cache
def _is_in_context() -> bool:
    """Older releases of NumPy keep it with the thread."""
    return bool(np.lib.NumpyVersion(np.__version__) >= "2.0.0")


def _with_errstate(function: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)
