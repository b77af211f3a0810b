"""What fails ends in a clear error, leaks nothing, and the next step works.  Simulator only."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Final

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.npu.executor import forget_executors

from .sim.harness import Runtime

pytestmark = pytest.mark.npu

_COUNTED: Final = ("handles", "blocks")
_CLEAR: Final = ("NPU function error: call acl", "answered NULL", "NPU out of memory")
_MEMORY_FAULT: Final = 507015


@pytest.fixture
def faulty(simulator: Runtime | None) -> Iterator[Runtime]:
    """The simulator, from which faults are taken away after the test; it may report no leak."""
    if simulator is None:
        pytest.skip("hardware fails when it wants to")
    simulator.config("eager", 0)
    simulator.violations()
    yield simulator
    for fault in ("fail_call", "fail_allocation", "fail_task"):
        simulator.config(fault, 0)
    torch.npu.synchronize()
    assert simulator.violations() == []


@pytest.fixture(params=[nullcontext, torch.pipeline], ids=["at once", "in a pipeline"])
def step(request: pytest.FixtureRequest) -> Callable[[], float]:
    """A step of training, from the same seed each time."""

    def run() -> float:
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 2).to("npu")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        x = torch.arange(12.0).view(4, 3).npu()
        with request.param():
            loss = torch.nn.functional.mse_loss(net(x).relu(), torch.ones(4, 2, device="npu"))
            loss.backward()
            optimizer.step()
            found: float = loss.item()
        return found

    return run


def counts(simulator: Runtime) -> list[int]:
    """What lives in the runtime when no tensor does."""
    gc.collect()
    forget_executors()
    torch.npu.empty_cache()
    return [simulator.count(name) for name in _COUNTED]


def refused(run: Callable[[], object]) -> RuntimeError | None:
    """What it raises, if it does."""
    try:
        run()
    except RuntimeError as error:
        return error
    return None


def test_every_call_of_a_step_may_fail(faulty: Runtime, step: Callable[[], float]) -> None:
    expected = step()
    before, start = counts(faulty), faulty.count("calls")
    assert step() == expected
    calls = faulty.count("calls") - start
    messages = []
    for number in range(1, calls + 1):
        faulty.config("fail_call", number)
        messages += [str(error) for error in [refused(step)] if error is not None]
        faulty.config("fail_call", 0)
        if number % 16 == 0:
            assert step() == expected
    for message in messages:
        assert any(words in message for words in _CLEAR), message
    assert len(messages) > calls / 4  # the others destroy, or have a second way
    assert step() == expected
    assert counts(faulty) == before


def test_every_allocation_of_a_step_may_fail_once(
    faulty: Runtime, step: Callable[[], float]
) -> None:
    expected = step()
    before = counts(faulty)
    start = faulty.count("allocations")
    step()
    allocations = faulty.count("allocations") - start
    assert allocations > 0
    for number in range(1, allocations + 1):
        counts(faulty)
        faulty.config("fail_allocation", number)
        assert step() == expected  # what was kept is given back, and then there is enough
    assert counts(faulty) == before


def test_work_that_fails_is_told_when_it_is_waited_for(
    faulty: Runtime, step: Callable[[], float]
) -> None:
    expected, start = step(), faulty.count("tasks")
    step()
    tasks = faulty.count("tasks") - start
    assert tasks > 0
    for number in range(1, tasks + 1):
        faulty.config("fail_task", number)
        with pytest.raises(torch.npu.AclError, match="ASCEND_LAUNCH_BLOCKING") as raised:
            step()
        assert raised.value.code == _MEMORY_FAULT
        assert step() == expected


def test_blocking_mode_names_the_operator(faulty: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(3, device="npu")
    torch.npu.synchronize()
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")
    faulty.config("fail_task", 1)
    with pytest.raises(torch.npu.AclError, match=r"aclnnAdds?\("):
        x + 1
    assert (x + 1).tolist() == [2.0] * 3


def test_a_device_that_is_full_is_an_error_and_no_end(
    faulty: Runtime, step: Callable[[], float]
) -> None:
    _, total = torch.npu.mem_get_info()
    held: list[Any] = []

    def fill() -> None:
        while True:
            held.append(torch.empty(total // 8, dtype=torch.uint8, device="npu"))

    with pytest.raises(torch.npu.OutOfMemoryError, match="already allocated"):
        fill()
    held.clear()
    assert step() == step()
