"""Note [Watched storages]: what makes a thread unusual has its storage watched, whatever it is."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mindtorch_v2 as xp
from mindtorch_v2 import _C
from mindtorch_v2.dispatch import DispatchKey, DispatchKeySet, tls
from mindtorch_v2.pipeline.block import Pipeline
from mindtorch_v2.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

C: Final[Any] = _C
K: Final = DispatchKey


class Nothing(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        assert_watched()
        return func(*args, **(kwargs or {}))


AUTOGRAD: Final = DispatchKeySet(K.AutogradCPU).mask
AUTOCAST: Final = DispatchKeySet(K.AutocastCPU).mask


@pytest.fixture(autouse=True)
def sets_are_put_back() -> Iterator[None]:
    """A block may leave the bit of a backend, as torch's do."""
    raw = tls.local_dispatch_key_set()
    found = raw.sets
    yield
    raw.watch()
    raw.sets = found
    assert tls.is_usual_thread()


@contextmanager
def guarded(guard: Callable[[], tls.Guard]) -> Iterator[None]:
    made = guard()
    try:
        yield
    finally:
        made.close()


@contextmanager
def switched(
    key: int, is_set: Callable[[int], bool], switch: Callable[[int, bool], None]
) -> Iterator[None]:
    found = is_set(key)
    switch(key, not found)
    try:
        yield
    finally:
        switch(key, found)


INCLUDED: Final = tls.is_dispatch_key_included, tls.set_dispatch_key_included
EXCLUDED: Final = tls.is_dispatch_key_excluded, tls.set_dispatch_key_excluded


@contextmanager
def on_meta() -> Iterator[None]:
    with guarded(tls.ForceDispatchKeyGuard):  # which puts the functionality back, too
        tls.set_meta_in_tls_included(True)
        yield


def state_of_another_time() -> AbstractContextManager[None]:
    with guarded(lambda: tls.ForceDispatchKeyGuard(0, AUTOGRAD)):
        state = tls.local_dispatch_key_set().copy()
    return tls.with_state(state)


DEFAULTS: Final = tls.DEFAULT_INCLUDED, tls.DEFAULT_EXCLUDED

BLOCKS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "exclude autograd": lambda: C._ExcludeDispatchKeyGuard(
        C.DispatchKeySet(C.DispatchKey.AutogradCPU)
    ),
    "exclude autocast": lambda: C._ExcludeDispatchKeyGuard(
        C.DispatchKeySet(C.DispatchKey.AutocastCPU)
    ),
    "exclude it here": lambda: guarded(lambda: tls.ExcludeDispatchKeyGuard(AUTOCAST)),
    "include autocast": lambda: C._IncludeDispatchKeyGuard(C.DispatchKey.AutocastCPU),
    "guard of this package": lambda: guarded(lambda: tls.IncludeDispatchKeyGuard(AUTOCAST)),
    "force defaults": lambda: guarded(lambda: tls.ForceDispatchKeyGuard(*DEFAULTS)),
    "force nothing included": lambda: guarded(lambda: tls.ForceDispatchKeyGuard(0, 0)),
    "put in": lambda: switched(K.Tracer, *INCLUDED),
    "take out": lambda: switched(K.BackendSelect, *INCLUDED),
    "mask": lambda: switched(K.AutocastCPU, *EXCLUDED),
    "meta": on_meta,
    "inference mode": lambda: guarded(lambda: tls.InferenceModeGuard(True)),
    "no inference mode": lambda: guarded(lambda: tls.InferenceModeGuard(False)),
    "python dispatcher": lambda: guarded(lambda: tls.PythonDispatcherGuard(True)),
    "mode": Nothing,
    "no modes": _disable_current_modes,
    "pipeline": Pipeline,
    "outside of pipelines": lambda: tls.outside_pipeline("a test"),
    "state of another time": state_of_another_time,
}


def assert_watched() -> None:
    raw = tls.local_dispatch_key_set()
    assert raw.is_usual or (raw.is_watched and id(raw) in tls.watched)


@given(st.lists(st.tuples(st.sampled_from(sorted(BLOCKS)), st.booleans()), max_size=5))
def test_in_every_block_and_after_it_an_unusual_thread_is_watched(
    program: list[tuple[str, bool]],
) -> None:
    x = xp.ones(1)
    with ExitStack() as blocks:
        for name, looks in program:
            blocks.enter_context(BLOCKS[name]())
            assert_watched()
            if looks:
                assert tls.is_usual_thread() == tls.local_dispatch_key_set().is_usual
                assert_watched()
            blocks.callback(assert_watched)
            if looks:
                blocks.callback(tls.is_usual_thread)
        assert_watched()
        if not {"put in", "take out", "meta", "force nothing included"} & {n for n, _ in program}:
            assert xp.add(x, x).tolist() == [2.0]
            assert_watched()


@pytest.mark.parametrize("outer", sorted(BLOCKS))
def test_who_looks_in_a_block_within_a_block_leaves_what_comes_after_it_watched(
    outer: str,
) -> None:
    """Some are usual within an unusual one."""
    for inner in sorted(BLOCKS):
        with BLOCKS[outer]():
            with BLOCKS[inner]():
                tls.is_usual_thread()
            assert_watched()
            tls.is_usual_thread()
        assert_watched()


def test_after_a_call_that_excludes_keys_a_thread_is_watched() -> None:
    with BLOCKS["mask"]():
        assert tls.call_excluding(AUTOCAST, tls.is_usual_thread)
        assert_watched()
    assert tls.is_usual_thread()
    tls.call_excluding(AUTOGRAD, assert_watched)


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_no_block_leaves_a_thread_watched_for_good(name: str) -> None:
    with BLOCKS[name]():
        pass
    assert tls.is_usual_thread()
    assert id(tls.local_dispatch_key_set()) not in tls.watched


def test_who_looks_in_an_unusual_thread_leaves_it_watched() -> None:
    with BLOCKS["exclude autograd"]():
        assert not tls.is_usual_thread()
        assert id(tls.local_dispatch_key_set()) in tls.watched


def test_a_thread_that_ends_is_watched_no_more() -> None:
    tls.is_usual_thread()
    before = set(tls.watched)

    def work() -> None:
        tls.set_dispatch_key_excluded(K.AutocastCPU, False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    del thread
    gc.collect()
    assert tls.watched == before


def test_another_thread_that_is_unusual_changes_no_call() -> None:
    ready, done = threading.Event(), threading.Event()

    def work() -> None:
        with BLOCKS["exclude autograd"]():
            ready.set()
            done.wait(10)

    g = xp.ones(1, requires_grad=True)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(10)
        assert tls.watched
        for _ in range(12):
            assert xp.add(g, g).requires_grad
    finally:
        done.set()
        thread.join()
