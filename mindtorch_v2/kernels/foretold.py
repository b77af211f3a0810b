"""What a kernel will answer, said before it looks at an element.

A pipeline asks the meta kernel what a call will answer.  Some of torch's meta kernels are another
function than the backend's, and answer other strides or dtypes.  A kernel of this package of which
that is known foretells its answer, for whoever only tries it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_v2.thread_state import ThreadLocal

Answers = dict[str, tuple[Any, ...]]
"""By the name of the operator."""


class _Listener(ThreadLocal):
    answers: Answers | None = None


_listener = _Listener()


def foretell(operator: str, *answer: Any) -> None:
    """Say what the kernel of ``operator`` is about to answer; nothing if nobody listens."""
    if _listener.answers is not None:
        _listener.answers[operator] = answer


@contextmanager
def listening() -> Iterator[Answers]:
    """A block that hears what kernels foretell."""
    outer, _listener.answers = _listener.answers, {}
    try:
        yield _listener.answers
    finally:
        _listener.answers = outer
