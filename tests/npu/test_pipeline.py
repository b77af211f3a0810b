"""Pipeline mode on the NPU: plans ahead, plans that are used again, and what a stream has to do
with it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.npu import runtime

pytestmark = [pytest.mark.npu, pytest.mark.usefixtures("npu")]


def kinds(p: Any) -> list[str]:
    return [event.kind for event in p.trace()]


def names(p: Any, kind: str) -> list[str]:
    return [event.name for event in p.trace() if event.kind == kind]


def flat(x: Any) -> Any:
    return x.detach().reshape(-1).tolist()


def given(*shape: int) -> Any:
    """Different numbers, on the NPU."""
    count = torch.Size(shape).numel()
    return (torch.arange(float(count)) / 7 - 1).view(shape).to("npu")


# --- plans ----------------------------------------------------------------------------------------


def test_all_is_planned_before_anything_runs() -> None:
    x, w = torch.ones(2, 3, device="npu"), torch.ones(3, 3, device="npu")
    with torch.pipeline() as p:
        y = (x @ w).relu()
        z = (y + 1).sum()
    assert z.item() == 24.0
    found = kinds(p)
    planned = [at for at, kind in enumerate(found) if kind.startswith("plan")]
    assert len(planned) == 4  # each with the memory that the one before is to have
    assert max(planned) < found.index("run")


def test_a_plan_is_not_run_for_another_tensor() -> None:
    x = torch.ones(3, device="npu")
    with torch.pipeline():
        y = x + 1
        x.add_(1)
        z = x + y
    assert z.tolist() == [4.0] * 3
    assert y.tolist() == [2.0] * 3


# --- plans that are used again --------------------------------------------------------------------

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "one operator": lambda x, y: x * y,
    "a number": lambda x, y: x * 1.5 + y,
    "the same tensor twice": lambda x, y: x * x + y,
    "a view of a tensor that waits": lambda x, y: (x + y).t().relu(),
    "a chain of views": lambda x, y: (x + y).view(2, 2, 3).transpose(0, 1)[1] - x.view(2, 2, 3)[0],
    "matrices": lambda x, y: (x @ y.t()).softmax(-1) @ y,
    "casts": lambda x, y: x.to(torch.float16) + y.to(torch.float16),
    "broadcast": lambda x, y: x + y[0],
    "several answers": lambda x, y: sum(x.sub(y).max(1)[0].split(2)),
    "a mean": lambda x, y: torch.nn.functional.layer_norm(x + y, (3,)).mean(0),
    "in place": lambda x, y: x.clone().add_(y).mul_(x),
    "a copy": lambda x, y: (x + y).t().contiguous() * 2,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_planned_once_answers_for_other_tensors_too(
    call: Callable[[Any, Any], Any],
) -> None:
    found = []
    starts = [(given(4, 3) * (n + 1), given(4, 3) - n) for n in range(4)]
    with torch.pipeline() as p:
        for x, y in starts:
            found.append(call(x, y))
            p.flush()
    for (x, y), answer in zip(starts, found, strict=True):
        expected = call(x.cpu(), y.cpu())
        assert answer.device.type == "npu"
        assert answer.dtype is expected.dtype
        assert flat(answer) == pytest.approx(flat(expected), abs=1e-3)
    pointers = [answer.data_ptr() for answer in found]
    assert len(set(pointers)) == len(found)


def test_a_steady_loop_plans_nothing() -> None:
    x, w, scale = given(4, 8), given(8, 8), given(8)

    def block() -> Any:
        h = torch.nn.functional.layer_norm(x, (8,), scale, scale)
        scores = ((h @ w) @ (h @ w).t() * 0.5).softmax(-1)
        return torch.nn.functional.gelu(scores @ h + x).sum()

    with torch.pipeline() as p:
        block()
        p.flush()
        before = len(p.trace())
        again = block()
        p.flush()
        events = [event.kind for event in p.trace()[before:]]
    assert "plan reused" in events
    assert "planned" not in events
    assert again.item() == pytest.approx(block().item())


def test_storages_of_other_lengths_are_planned_anew() -> None:
    long, short = given(8, 3), given(4, 3)
    with torch.pipeline() as p:
        one = long[:4] * 2
        p.flush()
        two = short[:4] * 2
    assert one.tolist() == (long[:4] * 2).tolist()
    assert two.tolist() == (short * 2).tolist()


def test_another_tensor_in_the_memory_of_one_is_told_from_one_of_its_own() -> None:
    x, y = given(4, 3), given(4, 3) * 3
    found = []
    with torch.pipeline() as p:
        for other in (x.view(4, 3), y, x.view(4, 3)):
            found.append(x - other)
            p.flush()
    assert [each.tolist() for each in found] == [(x - other).tolist() for other in (x, y, x)]


def test_a_pipeline_waits_for_the_device_when_values_are_asked_for_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w = given(4, 4), given(4, 4)
    called: list[str] = []
    call = runtime.call

    def noted(name: str, *arguments: Any, **options: Any) -> Any:
        called.append(name)
        return call(name, *arguments, **options)

    monkeypatch.setattr(runtime, "call", noted)
    with torch.pipeline() as p:
        for _ in range(5):
            y = ((x @ w).relu() + x).softmax(-1).sum()
            p.flush()
        assert not [name for name in called if "Synchronize" in name]
        y.item()
    assert [name for name in called if "Synchronize" in name]


def test_random_numbers_are_planned_each_time() -> None:
    x = torch.ones(64, device="npu")
    with torch.pipeline() as p:
        one = torch.nn.functional.dropout(x, 0.5)
        p.flush()
        two = torch.nn.functional.dropout(x, 0.5)
    assert one.tolist() != two.tolist()


def test_what_is_recorded_is_planned_too() -> None:
    w = given(3, 3).requires_grad_()
    x = given(4, 3)
    with torch.pipeline() as p:
        for _ in range(3):
            loss = (x @ w).relu().sum()
            loss.backward()
    expected = w.detach().cpu().requires_grad_()
    for _ in range(3):
        (x.cpu() @ expected).relu().sum().backward()
    assert flat(w.grad) == pytest.approx(flat(expected.grad), abs=1e-4)
    assert "plan reused" in kinds(p)


def test_memory_of_a_steady_loop_does_not_grow(npu: ModuleType) -> None:
    x = given(16, 16)

    def used() -> int:
        with torch.pipeline():
            y = x
            for _ in range(5):
                y = y + x
        del y
        npu.synchronize()
        return int(npu.memory_allocated())

    used()
    gc.collect()
    first = used()
    assert max(used() for _ in range(3)) <= first


# --- boundaries -----------------------------------------------------------------------------------

BOUNDARIES: dict[str, Callable[[ModuleType], object]] = {
    "a device's synchronize": lambda npu: npu.synchronize(),
    "a stream's synchronize": lambda npu: npu.current_stream().synchronize(),
    "a stream's query": lambda npu: npu.current_stream().query(),
    "an event that is recorded": lambda npu: npu.Event().record(),
    "a stream that waits": lambda npu: npu.Stream().wait_stream(npu.current_stream()),
    "a stream's block": lambda npu: npu.stream(npu.Stream()).__enter__(),
    "set_stream": lambda npu: npu.set_stream(npu.default_stream()),
    "a device's block": lambda npu: npu.device(0).__enter__(),
    "set_device": lambda npu: npu.set_device(0),
}


@pytest.mark.parametrize("boundary", BOUNDARIES.values(), ids=BOUNDARIES)
def test_who_has_to_do_with_streams_flushes(
    npu: ModuleType, boundary: Callable[[ModuleType], object]
) -> None:
    default = npu.default_stream()
    x = torch.ones(2, device="npu")
    try:
        with torch.pipeline() as p:
            y = x * 3
            assert len(p) == 1
            boundary(npu)
            assert names(p, "run") == ["aten::mul.Tensor"]
    finally:
        npu.set_stream(default)
    assert y.tolist() == [3.0, 3.0]


def test_what_waits_runs_in_the_stream_of_its_call(npu: ModuleType) -> None:
    x = torch.ones(4, device="npu")
    side = npu.Stream()
    with torch.pipeline():
        with npu.stream(side):
            side.wait_stream(npu.default_stream())
            y = x + 1
        npu.current_stream().wait_stream(side)
        z = y * 2
    assert z.tolist() == [4.0] * 4


@pytest.mark.filterwarnings("ignore:The operator .* is not supported on the NPU")
def test_an_angle_lies_as_on_the_cpu(npu: ModuleType) -> None:
    x = torch.tensor([[1 + 2j, 3 - 4j]], device="npu").t()
    with torch.pipeline():
        assert torch.angle(x).stride() == torch.angle(x.cpu()).stride() == (1, 1)
