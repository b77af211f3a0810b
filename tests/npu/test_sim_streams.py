"""The simulator's streams and events."""

from __future__ import annotations

import ctypes
import itertools
import threading
import time
from ctypes import byref, c_float, c_int, c_int32, c_void_p

import numpy as np
import pytest

from .sim.harness import Runtime, S, Tensor

pytestmark = pytest.mark.npu
SYNC, TIME_LINE = 1, 8


def double(runtime: Runtime, source: Tensor, target: Tensor, stream: int | None = None) -> None:
    """Queues target = source + source."""
    with runtime.arguments([source, source, S(1), target]) as given:
        runtime.run("Add", *runtime.plan("Add", *given), stream)


def query(runtime: Runtime, name: str, handle: int | None) -> int:
    status = c_int(-1)
    runtime.call(name, c_void_p(handle), byref(status))
    return status.value


@pytest.fixture
def ones(runtime: Runtime) -> Tensor:
    return runtime.tensor(np.ones(4, np.float32))


def end(runtime: Runtime, *handles: tuple[str, int]) -> None:
    for kind, handle in handles:
        runtime.call(f"aclrtDestroy{kind}", c_void_p(handle))


def test_nothing_runs_before_a_synchronise_in_lazy_mode(lazy: Runtime) -> None:
    ran = threading.Event()
    callback = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: ran.set())
    lazy.call("aclrtLaunchCallback", callback, None, 1, None)
    assert not ran.wait(0.05)
    lazy.call("aclrtSynchronizeStream", None)
    assert ran.is_set()


def test_eager_mode_does_not_wait(lazy: Runtime) -> None:
    lazy.config("eager", 1)
    ran = threading.Event()
    callback = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: ran.set())
    lazy.call("aclrtLaunchCallback", callback, None, 1, None)
    assert ran.wait(5)
    lazy.call("aclrtSynchronizeStream", None)


def test_a_stream_runs_in_order(runtime: Runtime, ones: Tensor) -> None:
    chain = [ones, *(runtime.empty((4,)) for _ in range(6))]
    for source, target in itertools.pairwise(chain):
        double(runtime, source, target)
    np.testing.assert_array_equal(chain[-1].read(), np.full(4, 64, np.float32))


def test_an_event_orders_two_streams(runtime: Runtime, ones: Tensor) -> None:
    first, second = runtime.made("aclrtCreateStream"), runtime.made("aclrtCreateStream")
    event = runtime.made("aclrtCreateEventExWithFlag", SYNC)
    middle, last = runtime.empty((4,)), runtime.empty((4,))
    double(runtime, ones, middle, first)
    runtime.call("aclrtRecordEvent", c_void_p(event), c_void_p(first))
    runtime.call("aclrtStreamWaitEvent", c_void_p(second), c_void_p(event))
    double(runtime, middle, last, second)
    runtime.call("aclrtSynchronizeStream", c_void_p(second))
    np.testing.assert_array_equal(last.read(), np.full(4, 4, np.float32))
    end(runtime, ("Event", event), ("Stream", first), ("Stream", second))


def test_two_streams_without_an_event_race(lazy: Runtime) -> None:
    first, second = lazy.made("aclrtCreateStream"), lazy.made("aclrtCreateStream")
    ones, middle, last = lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)), lazy.empty((4,))
    double(lazy, ones, middle, first)
    double(lazy, ones, last, second)  # both only read the ones
    double(lazy, middle, last, second)
    lazy.synchronize()
    assert lazy.rules() == ["stream-race"]


def test_a_wait_is_for_the_record_that_was_latest_when_it_was_made(lazy: Runtime) -> None:
    first, second = lazy.made("aclrtCreateStream"), lazy.made("aclrtCreateStream")
    event = lazy.made("aclrtCreateEventExWithFlag", SYNC)
    ones, middle, last = lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)), lazy.empty((4,))
    lazy.call("aclrtRecordEvent", c_void_p(event), c_void_p(first))
    lazy.call("aclrtStreamWaitEvent", c_void_p(second), c_void_p(event))
    double(lazy, ones, middle, first)
    lazy.call("aclrtRecordEvent", c_void_p(event), c_void_p(first))
    double(lazy, middle, last, second)  # the wait before does not cover it
    lazy.synchronize()
    assert lazy.rules() == ["stream-race"]


def test_the_statuses_have_their_opposite_conventions(lazy: Runtime) -> None:
    event = lazy.made("aclrtCreateEvent")
    ones, out = lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,))
    for _ in range(4):  # more than the polls below: each lets one task run
        double(lazy, ones, out)
    lazy.call("aclrtRecordEvent", c_void_p(event), None)
    lazy.call("aclrtStreamWaitEvent", None, c_void_p(event))
    assert query(lazy, "aclrtStreamQuery", None) == 1
    assert query(lazy, "aclrtQueryEventStatus", event) == 0
    assert query(lazy, "aclrtQueryEventWaitStatus", event) == 1
    lazy.synchronize()
    assert query(lazy, "aclrtStreamQuery", None) == 0
    assert query(lazy, "aclrtQueryEventStatus", event) == 1
    assert query(lazy, "aclrtQueryEventWaitStatus", event) == 0


def test_polling_comes_to_an_end(runtime: Runtime, ones: Tensor) -> None:
    double(runtime, ones, runtime.empty((4,)))
    until = time.monotonic() + 60  # on however busy a machine
    while query(runtime, "aclrtStreamQuery", None) == 1:
        assert time.monotonic() < until


def test_the_rules_of_event_flags(lazy: Runtime) -> None:
    plain, ex = (
        lazy.made("aclrtCreateEventWithFlag", TIME_LINE),
        lazy.made("aclrtCreateEventExWithFlag", SYNC),
    )
    lazy.call("aclrtRecordEvent", c_void_p(plain), None)
    assert lazy.status("aclrtStreamWaitEvent", None, c_void_p(plain)) == 107000
    assert lazy.status("aclrtResetEvent", c_void_p(ex), None) == 107000
    assert lazy.status("aclrtQueryEventWaitStatus", c_void_p(ex), byref(c_int())) == 107000
    elapsed = byref(c_float())
    assert lazy.status("aclrtEventElapsedTime", elapsed, c_void_p(plain), c_void_p(ex)) == 107000
    assert lazy.status("aclrtRecordEvent", c_void_p(plain), None) == 107000
    assert lazy.status("aclrtStreamWaitEvent", None, c_void_p(ex)) == 0
    assert lazy.status("aclrtRecordEvent", None, None) == 100000
    assert lazy.rules() == [
        "event-flags", "event-ex", "event-ex", "event-flags", "event-record", "event-unrecorded",
        "null-argument",
    ]  # fmt: skip
    assert query(lazy, "aclrtQueryEventStatus", ex) == 1  # never recorded counts as complete
    lazy.call("aclrtResetEvent", c_void_p(plain), None)
    lazy.call("aclrtRecordEvent", c_void_p(plain), None)
    lazy.synchronize()


def test_elapsed_time(lazy: Runtime) -> None:
    lazy.config("run_us", 2000)
    start, stop = (lazy.made("aclrtCreateEventExWithFlag", TIME_LINE) for _ in range(2))
    elapsed, pair = c_float(), (c_void_p(start), c_void_p(stop))
    assert lazy.status("aclrtEventElapsedTime", byref(elapsed), *pair) == 507000
    lazy.call("aclrtRecordEvent", c_void_p(start), None)
    double(lazy, lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)))
    lazy.call("aclrtRecordEvent", c_void_p(stop), None)
    assert lazy.status("aclrtEventElapsedTime", byref(elapsed), *pair) == 107006
    lazy.call("aclrtSynchronizeEvent", c_void_p(stop))
    lazy.call("aclrtEventElapsedTime", byref(elapsed), *pair)
    assert elapsed.value >= 2
    assert lazy.rules() == ["event-unrecorded", "event-unfinished"]


def test_a_synchronise_with_a_limit(lazy: Runtime) -> None:
    lazy.config("run_us", 20000)
    limited = "aclrtSynchronizeStreamWithTimeout"
    event = lazy.made("aclrtCreateEvent")
    double(lazy, lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)))
    lazy.call("aclrtRecordEvent", c_void_p(event), None)
    assert lazy.status(limited, None, c_int32(-2)) == 107000
    assert lazy.status("aclrtSynchronizeEventWithTimeout", c_void_p(event), c_int32(1)) == 507047
    assert lazy.status(limited, None, c_int32(0)) == 507046
    assert lazy.status(limited, None, c_int32(-1)) == 0
    assert lazy.status(limited, None, c_int32(1000)) == 0
    assert lazy.rules() == ["invalid-argument"]


def test_a_stream_with_work_left_may_not_be_destroyed(lazy: Runtime) -> None:
    stream, out = lazy.made("aclrtCreateStream"), lazy.empty((4,))
    double(lazy, lazy.tensor(np.ones(4, np.float32)), out, stream)
    assert lazy.status("aclrtDestroyStream", c_void_p(stream)) != 0
    assert lazy.status("aclrtSynchronizeStream", c_void_p(stream)) == 100000
    assert lazy.status("aclrtDestroyStream", None) == 100000
    assert lazy.rules() == ["stream-busy", "handle-destroyed", "null-argument"]
    np.testing.assert_array_equal(out.read(), np.full(4, 2, np.float32))  # it was waited for


def test_a_forced_end_drops_the_work(lazy: Runtime) -> None:
    stream, out = lazy.made("aclrtCreateStream"), lazy.tensor(np.zeros(4, np.float32))
    double(lazy, lazy.tensor(np.ones(4, np.float32)), out, stream)
    lazy.call("aclrtDestroyStreamForce", c_void_p(stream))
    np.testing.assert_array_equal(out.read(), np.zeros(4, np.float32))


def test_a_handle_of_another_kind_and_one_that_never_was(lazy: Runtime) -> None:
    stream = lazy.made("aclrtCreateStream")
    assert lazy.status("aclrtDestroyEvent", c_void_p(stream)) != 0
    assert lazy.status("aclrtDestroyEvent", c_void_p(4096)) != 0
    assert lazy.rules() == ["handle-kind", "handle-unknown"]


def test_planning_and_running_take_the_time_that_is_asked_for(lazy: Runtime) -> None:
    lazy.config("plan_us", 3000)
    lazy.config("run_us", 3000)
    started = time.monotonic()
    double(lazy, lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)))
    planned = time.monotonic()
    lazy.synchronize()
    assert planned - started >= 0.003
    assert time.monotonic() - planned >= 0.003
