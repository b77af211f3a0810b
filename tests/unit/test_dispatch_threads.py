"""Eight threads register, take back and call at once: nothing is lost, nothing half-built is seen.

Each test runs for two seconds; MINDTORCH_STRESS_SECONDS=20 has them run for twenty.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.key import DispatchKey

pytestmark = pytest.mark.slow

C = torch._C
THREADS = 8
SECONDS = float(os.environ.get("MINDTORCH_STRESS_SECONDS", "2"))
PATIENCE = 120.0
"""Seconds more that a loaded machine may take until every thread has had its turn."""
BACKENDS = ("CPU", "CUDA", "XLA", "HPU", "XPU", "MPS", "Lazy", "IPU")
FUNCTIONALITIES = (
    *("Conjugate", "Negative", "ZeroTensor", "Functionalize"),
    *("FuncTorchBatched", "FuncTorchVmapMode", "FuncTorchGradWrapper", "PreDispatch"),
)
X = torch.ones(2)

Body = Callable[[int], None]
"""What a thread does again and again; the number is the thread's."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """What a failed test has registered is gone too, though its frames are kept."""
    before = registry.snapshot()
    yield
    registry.restore(before)


@pytest.fixture(params=[None, 1e-6], ids=["usual switching", "a switch every microsecond"])
def switching(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    if request.param is not None:
        sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)


def run_in_threads(*bodies: Body, enough: Callable[[], bool] = lambda: True) -> list[int]:
    """Repeat the bodies for SECONDS in THREADS threads; answers how often each ran.

    All go on for longer while one of them has not ended a round, or what there is to see is not
    ``enough`` yet.  The first exception of a thread ends all, and is raised here.
    """
    stop = time.monotonic() + SECONDS
    rounds = [0] * THREADS
    errors: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def is_over() -> bool:
        now = time.monotonic()
        return now > stop + PATIENCE or (now > stop and all(rounds) and enough())

    def work(number: int) -> None:
        start.wait()
        try:
            while not errors and not is_over():
                bodies[number % len(bodies)](number)
                rounds[number] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    assert all(rounds)
    return rounds


def library(kind: str) -> Any:
    return C._dispatch_library(kind, "stress", "")


@pytest.mark.usefixtures("switching")
def test_each_thread_finds_what_it_registered_and_nothing_once_it_took_it_back():
    ran: list[list[int]] = [[] for _ in range(THREADS)]
    calls = [0] * THREADS

    def body(number: int) -> None:
        name = f"stress::own{number}"
        block, kernels = library("FRAGMENT"), library("IMPL")
        kernels.impl(f"own{number}", "CPU", lambda x: ran[number].append(1) or x)
        block.def_(f"own{number}(Tensor x) -> Tensor")
        call = C._jit_get_operation(name)[0]
        assert call(X) is X
        calls[number] += 1
        C._dispatch_check_invariants(name)
        kernels.reset()
        with pytest.raises(NotImplementedError, match=f"Could not run '{name}'"):
            call(X)
        block.reset()
        assert not C._dispatch_has_kernel(name)
        assert C._jit_get_operation(name) == (None, None)

    run_in_threads(body)
    assert list(map(len, ran)) == calls
    assert C._dispatch_find_dangling_impls() == []


@pytest.mark.usefixtures("switching")
def test_kernels_of_one_operator_that_come_and_go_never_touch_one_another():
    block = library("FRAGMENT")
    block.def_("shared(Tensor x) -> Tensor")
    before = C._dispatch_dump("stress::shared"), C._dispatch_dump_table("stress::shared")
    handle = C._dispatch_find_schema_or_throw("stress::shared", "")
    ran: list[list[int]] = [[] for _ in range(THREADS)]
    calls = [0] * THREADS

    def body(number: int) -> None:
        key = getattr(C.DispatchKey, BACKENDS[number])
        kernels = library("IMPL")
        kernels.impl("shared", key, lambda x: ran[number].append(1) or x)
        for _ in range(3):
            handle.redispatch_boxed(C.DispatchKeySet(key), X)
            calls[number] += 1
        assert f"\n{BACKENDS[number]}: " in C._dispatch_dump("stress::shared")
        C._dispatch_check_invariants("stress::shared")
        kernels.reset()
        assert not C._dispatch_has_kernel_for_dispatch_key("stress::shared", key)
        with pytest.raises(NotImplementedError, match="Could not run 'stress::shared'"):
            handle.redispatch_boxed(C.DispatchKeySet(key), X)

    run_in_threads(body)
    assert list(map(len, ran)) == calls
    after = C._dispatch_dump("stress::shared"), C._dispatch_dump_table("stress::shared")
    assert after == before


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
@pytest.mark.usefixtures("switching")
def test_a_table_is_seen_before_a_registration_or_after_it_and_never_between():
    """A kernel of an alias key is in the table for all keys that the alias stands for, or none."""
    block = library("FRAGMENT")
    block.def_("whole(Tensor x) -> Tensor")
    backends = [int(DispatchKey[name]) for name in BACKENDS]
    entry = DISPATCHER.find("stress::whole")
    assert entry is not None
    seen = set()

    def register(number: int) -> None:
        kernels = library("IMPL")
        kernels.impl("whole", "CompositeExplicitAutograd", lambda x: x)
        kernels.reset()

    def fall_through(number: int) -> None:
        everywhere = C._dispatch_library("IMPL", "_", "")
        everywhere.fallback_fallthrough("FPGA")
        everywhere.reset()

    def read(number: int) -> None:
        assert entry is not None
        table = entry.table
        present = {key in table for key in backends}
        assert len(present) == 1
        seen.update(present)
        dump = C._dispatch_dump_table("stress::whole")
        shown = {f"{name}: " in dump for name in ("\nCUDA", "\nXLA", "\nHPU", "\nLazy")}
        assert len(shown) == 1
        C._dispatch_check_invariants("stress::whole")

    # one thread of the eight takes care of fallbacks: a key takes one
    def other(number: int) -> None:
        (fall_through if number == THREADS - 1 else read)(number)

    run_in_threads(register, other, enough=lambda: len(seen) == 2)
    assert seen == {True, False}
    C._dispatch_check_all_invariants()


@pytest.mark.usefixtures("switching")
def test_what_a_thread_includes_and_excludes_is_seen_by_it_alone():
    block, kernels = library("FRAGMENT"), library("IMPL")
    block.def_("masked(Tensor x) -> Tensor")
    kernels.impl("masked", "CPU", lambda keyset, x: seen(keyset, x), True)
    own = threading.local()

    def seen(keyset: Any, x: Any) -> Any:
        own.keyset = keyset
        return x

    included, excluded = C._dispatch_tls_local_include_set, C._dispatch_tls_local_exclude_set
    defaults = str(included()), str(excluded())
    call = C._jit_get_operation("stress::masked")[0]

    def body(number: int) -> None:
        assert (str(included()), str(excluded())) == defaults
        key = getattr(C.DispatchKey, FUNCTIONALITIES[number])
        with C._IncludeDispatchKeyGuard(key), C._ExcludeDispatchKeyGuard(C.DispatchKeySet(key)):
            call(X)
            assert included().has(key)
            assert excluded().has(key)
            assert not own.keyset.has(key)
            others = [name for name in FUNCTIONALITIES if name != FUNCTIONALITIES[number]]
            assert not any(included().has(getattr(C.DispatchKey, name)) for name in others)
        assert (str(included()), str(excluded())) == defaults

    run_in_threads(body)
    assert (str(included()), str(excluded())) == defaults
