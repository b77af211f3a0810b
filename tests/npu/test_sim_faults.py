"""Fault injection: out of memory, calls that fail, tasks that fail."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p

import numpy as np
import pytest

from .sim.harness import AclError, Runtime, S

pytestmark = pytest.mark.npu


def negate(runtime: Runtime) -> np.ndarray:
    x = runtime.tensor(np.ones(4, np.float32))
    out = runtime.empty((4,))
    runtime.op("Neg", x, out)
    return out.read()


def test_the_nth_allocation_fails_once(lazy: Runtime) -> None:
    lazy.config("fail_allocation", 2)
    lazy.malloc(8)
    assert lazy.status("aclrtMalloc", byref(c_void_p()), c_size_t(8), 0) == 207001
    assert "injected" in lazy.message()
    lazy.malloc(8)


def test_every_call_of_an_operator_can_fail_and_the_next_try_works(lazy: Runtime) -> None:
    """Nothing leaks by the injection itself: what releases did its work before it failed."""
    before = lazy.count("calls")
    negate(lazy)
    calls = lazy.count("calls") - before
    assert calls >= 10
    for n in range(1, calls + 1):
        lazy.start(fail_call_status=507899)
        lazy.config("fail_call", n)
        with pytest.raises((AclError, AssertionError)):
            negate(lazy)
        assert lazy.count("fail_call") == 0
        np.testing.assert_array_equal(negate(lazy), np.full(4, -1, np.float32))
        assert lazy.violations() == []


def test_a_failing_phase_2_uses_its_executor_up(lazy: Runtime) -> None:
    x, out = lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,))
    with lazy.arguments([x, out]) as given:
        _, executor = lazy.plan("Neg", *given)
    handles = lazy.count("handles")
    lazy.config("fail_call", 1)
    assert lazy.status("aclnnNeg", None, c_size_t(0), c_void_p(executor), None) == 507000
    assert lazy.count("handles") == handles - 1


def test_a_failing_task_is_told_once_by_the_next_synchronise(lazy: Runtime) -> None:
    lazy.config("fail_task", 2)
    x, first, second = (lazy.tensor(np.ones(4, np.float32)) for _ in range(3))
    third = lazy.empty((4,))
    for target in (first, second, third):
        lazy.op("Neg", x, target)
    assert lazy.status("aclrtSynchronizeStream", None) == 507015
    assert lazy.status("aclrtSynchronizeStream", None) == 0
    np.testing.assert_array_equal(second.read(), np.ones(4, np.float32))  # it did not run
    np.testing.assert_array_equal(third.read(), np.full(4, -1, np.float32))  # the next did


def test_an_event_tells_the_failure_too(lazy: Runtime) -> None:
    lazy.config("fail_task", 1)
    lazy.config("fail_task_status", 507014)
    event = lazy.made("aclrtCreateEvent")
    lazy.op("Neg", lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,)))
    lazy.call("aclrtRecordEvent", c_void_p(event), None)
    assert lazy.status("aclrtSynchronizeEvent", c_void_p(event)) == 507014
    assert lazy.status("aclrtSynchronizeStream", None) == 0


def test_a_stream_that_stops_on_failure_stops_its_context(lazy: Runtime) -> None:
    stream = lazy.made("aclrtCreateStream")
    lazy.call("aclrtSetStreamFailureMode", c_void_p(stream), c_size_t(1))
    lazy.config("fail_task", 1)
    x, out = lazy.tensor(np.ones(4, np.float32)), lazy.tensor(np.zeros(4, np.float32))
    for _ in range(2):
        with lazy.arguments([x, out]) as given:
            lazy.run("Neg", *lazy.plan("Neg", *given), stream)
    assert lazy.status("aclrtSynchronizeStream", c_void_p(stream)) == 507015
    assert lazy.status("aclrtSynchronizeStream", c_void_p(stream)) == 507015
    with pytest.raises(AclError, match="507015"):
        lazy.op("Neg", x, out)


@pytest.mark.parametrize("eager", [0, 1])
def test_an_index_out_of_range_faults_when_it_runs(lazy: Runtime, eager: int) -> None:
    lazy.config("eager", eager)
    weight, out = lazy.tensor(np.ones((3, 2), np.float32)), lazy.empty((2, 2))
    tokens = lazy.tensor(np.array([0, 3]))
    lazy.op("Embedding", weight, tokens, out)
    assert lazy.status("aclrtSynchronizeStream", None) == 507015
    lazy.op("Embedding", weight, lazy.tensor(np.array([0, 2])), out)
    lazy.synchronize()


def test_a_fault_leaves_the_output_poisoned(lazy: Runtime) -> None:
    x, out = lazy.tensor(np.ones(3, np.float32)), lazy.tensor(np.zeros(2, np.float32))
    lazy.op("IndexSelect", x, 0, lazy.tensor(np.array([1, -1])), out)
    assert lazy.status("aclrtSynchronizeStream", None) == 507015
    assert np.isnan(out.read()[1])


def test_faults_are_told_by_their_counters(lazy: Runtime) -> None:
    lazy.config("fail_task", 3)
    negate(lazy)
    assert lazy.count("fail_task") == 2
    assert lazy.count("tasks") == 1
    assert lazy.count("nothing of that name") == -1
    assert lazy.acl.sim_config(b"nothing of that name", 1) == -1


def test_a_scalar_that_cannot_be_made(lazy: Runtime) -> None:
    lazy.config("fail_call", 1)
    with pytest.raises(TypeError):
        lazy.scalar(1.5)
    assert lazy.message()
    x = lazy.tensor(np.zeros(2, np.float32))
    lazy.op("InplaceFillScalar", x, S(1.5))
    lazy.synchronize()
