"""Whether functionalization keeps views, or replaces them by copies: a state of each thread.

Mirrors ``_functionalizationReapplyViews`` in ``aten/src/ATen/FunctionalTensorWrapper.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch_v2.thread_state import ThreadLocal


class _State(ThreadLocal):
    reapply_views = False


_state = _State()


def get_reapply_views() -> bool:
    return _state.reapply_views


def set_reapply_views(desired: bool) -> bool:
    """Change it; answers what it was."""
    before, _state.reapply_views = _state.reapply_views, desired
    return before


@contextmanager
def reapply_views(desired: bool) -> Iterator[None]:
    """``FunctionalizationReapplyViewsGuard``."""
    before = set_reapply_views(desired)
    try:
        yield
    finally:
        set_reapply_views(before)
