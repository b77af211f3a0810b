"""The simulator's memory: blocks, copies, and what may not be done with either."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p, memset, string_at

import numpy as np
import pytest

from .sim.harness import D2D, D2H, H2D, Runtime, S

pytestmark = pytest.mark.npu


def copy(runtime: Runtime, to: int, source: int, count: int, kind: int, most: int = -1) -> int:
    room = c_size_t(count if most < 0 else most)
    return runtime.status(
        "aclrtMemcpy", c_void_p(to), room, c_void_p(source), c_size_t(count), kind
    )


def copy_async(runtime: Runtime, to: int, source: int, count: int, kind: int) -> int:
    size = c_size_t(count)
    return runtime.status(
        "aclrtMemcpyAsync", c_void_p(to), size, c_void_p(source), size, kind, None
    )


@pytest.fixture
def host() -> np.ndarray:
    return np.arange(64, dtype=np.uint8)


def pending_add(runtime: Runtime) -> tuple[int, int]:
    """The blocks that a queued sum reads and writes."""
    a, out = runtime.tensor(np.ones(4, np.float32)), runtime.empty((4,))
    runtime.op("Add", a, a, S(1), out)
    assert a.block is not None
    assert out.block is not None
    return a.block, out.block


def test_blocks_are_aligned_to_64_bytes_and_not_to_more(lazy: Runtime) -> None:
    assert {lazy.malloc(1 + 40 * i) % 128 for i in range(8)} == {64}


def test_nothing_and_null_cannot_be_allocated(lazy: Runtime) -> None:
    assert lazy.status("aclrtMalloc", byref(c_void_p()), c_size_t(0), 0) == 100000
    assert lazy.status("aclrtMalloc", None, c_size_t(8), 0) == 100000
    assert lazy.rules() == ["invalid-argument"] * 2


def test_a_full_device_answers_207001_and_that_is_no_violation(lazy: Runtime) -> None:
    lazy.config("memory", 1000)
    lazy.malloc(500)
    assert lazy.status("aclrtMalloc", byref(c_void_p()), c_size_t(600), 0) == 207001
    free, total = c_size_t(), c_size_t()
    lazy.call("aclrtGetMemInfo", 1, byref(free), byref(total))
    assert (free.value, total.value) == (1000 - 544, 1000)


def test_new_memory_and_its_slack_are_poisoned(lazy: Runtime, host: np.ndarray) -> None:
    assert copy(lazy, host.ctypes.data, lazy.malloc(64), 64, D2H) == 0
    assert set(host) == {0xFF}


def test_freeing_twice_inside_or_nothing(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    assert lazy.status("aclrtFree", c_void_p(block + 32)) != 0
    assert lazy.status("aclrtFree", c_void_p(block)) == 0
    assert lazy.status("aclrtFree", c_void_p(block)) != 0
    assert lazy.status("aclrtFree", c_void_p(12345)) != 0
    assert lazy.status("aclrtFree", None) == 100000
    assert lazy.rules() == ["free-interior", "double-free", "free-unknown", "null-argument"]


def test_a_violation_tells_the_calls_that_led_to_it(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    lazy.call("aclrtFree", c_void_p(block))
    lazy.status("aclrtFree", c_void_p(block))
    violation, = lazy.violations()  # fmt: skip
    functions = [entry.split()[2] for entry in violation["before"]]
    assert functions == ["aclrtMalloc", "aclrtFree"]
    assert "aclrtFree" in violation["call"]


def test_host_and_device_memory_are_freed_by_their_own_functions(lazy: Runtime) -> None:
    pinned, block = lazy.made("aclrtMallocHost", c_size_t(8)), lazy.malloc(8)
    assert lazy.status("aclrtFree", c_void_p(pinned)) != 0
    assert lazy.status("aclrtFreeHost", c_void_p(block)) != 0
    assert lazy.rules() == ["free-wrong-kind"] * 2


def test_memory_in_use_by_queued_work_may_not_be_freed(lazy: Runtime) -> None:
    source, target = pending_add(lazy)
    assert lazy.status("aclrtFree", c_void_p(source)) != 0
    assert lazy.status("aclrtFree", c_void_p(target)) != 0
    lazy.synchronize()
    assert lazy.rules() == ["free-in-use"] * 2


def test_the_checks_of_a_copy(lazy: Runtime, host: np.ndarray) -> None:
    block, data = lazy.malloc(32), host.ctypes.data
    assert copy(lazy, block, data, 8, H2D, most=4) == 107000
    assert copy(lazy, block, 0, 8, H2D) == 100000
    assert copy(lazy, block, data, 8, 17) == 100000
    assert copy(lazy, block, data, 40, H2D) != 0
    assert copy(lazy, block, data, 8, D2H) != 0
    assert copy(lazy, block, data, 8, D2D) != 0
    assert lazy.rules() == [
        "copy-range", "null-argument", "copy-kind", "copy-range", "copy-kind", "copy-kind",
    ]  # fmt: skip
    assert copy(lazy, block, data, 0, H2D) == 0


def test_a_copy_from_freed_memory(lazy: Runtime, host: np.ndarray) -> None:
    block = lazy.malloc(32)
    lazy.free(block)
    assert copy(lazy, host.ctypes.data, block, 8, D2H) != 0
    assert lazy.rules() == ["use-after-free"]


def test_a_copy_between_devices_needs_peer_access(lazy: Runtime) -> None:
    here = lazy.malloc(32)
    lazy.call("aclrtSetDevice", 1)
    there = lazy.malloc(32)
    assert copy(lazy, there, here, 32, D2D) != 0
    assert lazy.rules() == ["device-mismatch"]
    lazy.call("aclrtDeviceEnablePeerAccess", 0, 0)
    assert copy(lazy, there, here, 32, D2D) == 0


def test_a_synchronous_copy_does_not_wait(lazy: Runtime, host: np.ndarray) -> None:
    source, target = pending_add(lazy)
    assert copy(lazy, host.ctypes.data, target, 16, D2H) != 0
    assert copy(lazy, host.ctypes.data, source, 16, D2H) == 0
    assert copy(lazy, source, host.ctypes.data, 16, H2D) != 0
    assert lazy.status("aclrtMemset", c_void_p(source), c_size_t(16), 0, c_size_t(16)) != 0
    assert lazy.rules() == ["unsynchronised"] * 3


def test_pinned_memory_is_read_when_the_copy_runs(lazy: Runtime) -> None:
    pinned, block = lazy.made("aclrtMallocHost", c_size_t(16)), lazy.malloc(16)
    memset(pinned, 1, 16)
    assert copy_async(lazy, block, pinned, 16, H2D) == 0
    memset(pinned, 2, 16)
    lazy.synchronize()
    seen = np.zeros(16, np.uint8)
    assert copy(lazy, seen.ctypes.data, block, 16, D2H) == 0
    assert set(seen) == {2}


def test_a_pinned_target_holds_nothing_before_the_synchronise(lazy: Runtime) -> None:
    pinned, block = lazy.made("aclrtMallocHost", c_size_t(16)), lazy.malloc(16)
    lazy.call("aclrtMemset", c_void_p(block), c_size_t(16), 3, c_size_t(16))
    memset(pinned, 1, 16)
    assert copy_async(lazy, pinned, block, 16, D2H) == 0
    assert string_at(pinned, 16) == b"\xff" * 16
    assert lazy.status("aclrtFreeHost", c_void_p(pinned)) != 0
    lazy.synchronize()
    assert lazy.rules() == ["free-in-use"]


def test_a_copy_of_pageable_memory_is_done_in_order_when_it_returns(lazy: Runtime) -> None:
    out = lazy.empty((4,))
    ones = lazy.tensor(np.ones(4, np.float32))
    lazy.op("Add", ones, ones, S(1), out)
    seen = np.zeros(4, np.float32)
    assert out.block is not None
    assert copy_async(lazy, seen.ctypes.data, out.block, 16, D2H) == 0
    np.testing.assert_array_equal(seen, np.full(4, 2, np.float32))


def test_no_asynchronous_copy_within_the_host(lazy: Runtime, host: np.ndarray) -> None:
    assert copy_async(lazy, host.ctypes.data, host.ctypes.data, 8, 0) == 207000
    assert lazy.rules() == ["copy-kind"]


def test_asynchronous_memset(runtime: Runtime) -> None:
    block, size = runtime.malloc(16), c_size_t(16)
    runtime.call("aclrtMemsetAsync", c_void_p(block), size, 7, size, None)
    runtime.synchronize()
    seen = np.zeros(16, np.uint8)
    assert copy(runtime, seen.ctypes.data, block, 16, D2H) == 0
    assert set(seen) == {7}
