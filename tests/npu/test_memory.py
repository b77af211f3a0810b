"""Device memory: what is kept, what is given back, and when."""

from __future__ import annotations

import gc
import threading
from types import ModuleType

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.npu.allocator import block_size

from .sim.harness import Runtime

pytestmark = pytest.mark.npu


@pytest.mark.parametrize(
    ("nbytes", "size"), [(1, 512), (480, 512), (481, 1024), (1 << 20, 1049088)]
)
def test_a_block_has_slack_behind_it(nbytes: int, size: int) -> None:
    assert block_size(nbytes) == size


def test_memory_is_counted_and_kept(npu: ModuleType) -> None:
    gc.collect()
    before, reserved = npu.memory_allocated(), npu.memory_reserved()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    assert npu.memory_allocated() == before + block_size(1 << 20)
    address = x.data_ptr()
    del x
    assert npu.memory_allocated() == before
    assert npu.memory_reserved() >= reserved
    assert torch.empty(1 << 20, dtype=torch.uint8, device="npu").data_ptr() == address


def test_the_cache_can_be_emptied(npu: ModuleType, simulator: Runtime | None) -> None:
    x = torch.empty(3 << 20, dtype=torch.uint8, device="npu")
    del x
    before = simulator.count("bytes") if simulator else 0
    kept = npu.memory_reserved()
    npu.empty_cache()
    assert npu.memory_reserved() <= kept - block_size(3 << 20)
    if simulator:
        assert simulator.count("bytes") <= before - block_size(3 << 20)


def test_the_peak_is_remembered(npu: ModuleType) -> None:
    npu.reset_peak_memory_stats()
    start = npu.max_memory_allocated()
    x = torch.empty(5000, device="npu")
    del x
    assert npu.max_memory_allocated() >= start + 20000
    npu.reset_peak_memory_stats()
    assert npu.max_memory_allocated() == npu.memory_allocated()


def test_memory_that_another_stream_uses_is_not_given_out_before(npu: ModuleType) -> None:
    x = torch.ones(1 << 12, device="npu")
    other = npu.Stream()
    other.wait_stream(npu.current_stream())
    with npu.stream(other):
        y = x + 1
    del x  # the stream may not have read it yet
    z = torch.full((1 << 12,), 7.0, device="npu")
    npu.synchronize()
    assert y.cpu().tolist() == [2.0] * (1 << 12)
    assert z.cpu().tolist() == [7.0] * (1 << 12)


def test_too_much_is_an_error_that_says_how_much(npu: ModuleType) -> None:
    free, total = npu.mem_get_info()
    assert 0 < free <= total
    with pytest.raises(npu.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate"):
        torch.empty(total + (1 << 20), dtype=torch.uint8, device="npu")
    assert torch.ones(2, device="npu").tolist() == [1, 1]


def test_cached_memory_is_given_back_before_there_is_an_error(
    npu: ModuleType, simulator: Runtime | None
) -> None:
    if simulator is None:
        pytest.skip("the device's memory is to be limited")
    _, total = npu.mem_get_info()
    half = total * 6 // 10
    for nbytes in (half, half + 4096):
        x = torch.empty(nbytes, dtype=torch.uint8, device="npu")
        del x
    npu.empty_cache()


def test_a_tensor_may_die_on_another_thread(npu: ModuleType) -> None:
    held = [torch.ones(100, device="npu") + 1]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert not held
    assert torch.ones(100, device="npu").sum().item() == 100


def test_threads_use_the_device_at_once(npu: ModuleType) -> None:
    found = []

    def work(number: int) -> None:
        x = torch.full((64,), float(number), device="npu")
        for _ in range(5):
            x = x + 1
        found.append((number, x.sum().item()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(number, 64 * (number + 5.0)) for number in range(4)]
