"""Streams, events, devices and threads of ``mindtorch_v2.npu``."""

from __future__ import annotations

from types import ModuleType

import pytest

import mindtorch_v2 as torch

pytestmark = pytest.mark.npu


def test_work_goes_to_the_stream_of_the_block(npu: ModuleType) -> None:
    outside = npu.current_stream()
    assert outside == npu.default_stream()
    inner = npu.Stream()
    with npu.stream(inner):
        assert npu.current_stream() == inner
        with npu.stream(None):
            assert npu.current_stream() == inner
        x = torch.ones(8, device="npu") * 3
    assert npu.current_stream() == outside
    inner.synchronize()
    assert inner.query()
    assert x.cpu().tolist() == [3.0] * 8


def test_a_stream_waits_for_another(npu: ModuleType) -> None:
    one, two = npu.Stream(), npu.Stream()
    with npu.stream(one):
        x = torch.arange(1000.0, device="npu")
        for _ in range(5):
            x = x + 1
    two.wait_stream(one)
    with npu.stream(two):
        y = x * 2
    npu.synchronize()
    assert y.cpu().tolist() == [2.0 * (number + 5) for number in range(1000)]


def test_an_event_happens_when_its_work_is_done(npu: ModuleType) -> None:
    event = npu.Event()
    assert event.query()
    x = torch.ones(8, device="npu") + 1
    event.record()
    event.synchronize()
    assert event.query()
    assert x.cpu().tolist() == [2.0] * 8
    npu.Stream().wait_event(event)


def test_events_take_the_time(npu: ModuleType) -> None:
    start, end = npu.Event(enable_timing=True), npu.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    torch.ones(8, device="npu")
    end.record()
    npu.synchronize()
    assert start.elapsed_time(end) >= 0
    plain = npu.Event()
    plain.record()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        start.elapsed_time(plain)


def test_streams_are_given_out_in_turn_and_compare_by_what_they_are(npu: ModuleType) -> None:
    streams = {npu.Stream() for _ in range(40)}
    assert 1 < len(streams) <= 32
    one = next(iter(streams))
    assert one == one
    assert one != npu.default_stream()
    assert repr(one) == (f"<mindtorch_v2.npu.Stream device=npu:0 stream={one.stream_id}>")


def test_devices(npu: ModuleType) -> None:
    assert npu.is_available()
    assert npu.is_initialized()
    assert npu.current_device() == 0
    assert npu.get_device_name().startswith("Ascend")
    with pytest.raises(RuntimeError, match="Invalid device ID"):
        npu.set_device(npu.device_count())
    with pytest.raises(ValueError, match="Expected a npu device, but got: cpu"):
        npu.synchronize("cpu")


def test_another_device_in_a_block(npu: ModuleType) -> None:
    if npu.device_count() < 2:
        pytest.skip("there is one NPU")
    with npu.device(1):
        assert npu.current_device() == 1
        x = torch.ones(1, device="npu")
        assert x.device == torch.device("npu:1")
        assert npu.memory_allocated(1) > 0
    assert torch.ones(1, device="npu").device == torch.device("npu:0")
    npu.synchronize(1)
