"""NumPy that warns of nothing: C++ computes an overflow or a division by nought without a word.

``np.errstate`` costs several times what NumPy needs for a few elements.  What it sets is kept in
NumPy's context variable, so a context that has it set once serves any number of calls.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any, Final, TypeVar

import numpy as np

Answer = TypeVar("Answer")

_IS_IN_CONTEXT: Final = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
"""Before, NumPy kept it with the thread."""

_idle: Final[list[Callable[..., Any]]] = []
"""What calls in a context, which can be entered once at a time, by whichever thread: who enters one
takes it from here, so that a signal's handler, say, that computes meanwhile takes another."""


def quietly(function: Callable[..., Answer], *args: Any) -> Answer:
    """The answer of a function that computes with NumPy."""
    if not _IS_IN_CONTEXT:
        with np.errstate(all="ignore"):
            return function(*args)
    try:
        run = _idle.pop()
    except IndexError:
        run = Context().run
        run(np.seterr, all="ignore")
    try:
        return run(function, *args)  # type: ignore[no-any-return]
    finally:
        _idle.append(run)


def _run_of_context() -> Callable[..., Any]:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context.run


run_quietly: Final = _run_of_context() if _IS_IN_CONTEXT else quietly
"""The same for who cannot afford a call: RuntimeError, and nothing has been computed, while another
thread, or what this one has interrupted, computes in this way."""
