"""The dispatch trace: which kernels a call runs, in torch's order of keys."""

from __future__ import annotations

import threading

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch.trace import Step, is_tracing, trace


def shown(steps: list[Step]) -> list[str]:
    return [str(step) for step in steps]


def test_a_call_shows_its_keys_in_torchs_order() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    with trace() as steps:
        x.t()
    assert shown(steps)[:3] == [
        "[call] op=[aten::t], key=[AutogradCPU]",
        " [redispatch] op=[aten::t], key=[ADInplaceOrView]",
        "  [redispatch] op=[aten::t], key=[CPU]",
    ]


def test_a_composition_shows_what_it_calls_one_step_deeper() -> None:
    x = torch.ones(2, 3)
    with trace() as steps:
        torch.matmul(x, torch.ones(3, 2))
    calls = [step for step in steps if not step.redispatched]
    assert [(step.operator, step.depth) for step in calls] == [
        ("aten::ones", 0),
        *[(step.operator, step.depth) for step in calls[1:-2]],
        ("aten::matmul", 0),
        ("aten::mm", 1),
    ]


def test_a_higher_key_of_a_kernel_runs_before_a_lower_one() -> None:
    """However many keys a call goes through, their priority only falls."""
    x = torch.ones(2, requires_grad=True)
    with trace() as steps:
        x * 2
    chain = [int(torch._C.DispatchKey.__members__[step.key]) for step in steps]
    assert {step.operator for step in steps} == {"aten::mul.Tensor"}
    assert len(chain) > 1
    assert chain == sorted(chain, reverse=True)


def test_a_step_names_where_its_kernel_was_registered() -> None:
    def kernel(x: object) -> object:
        return x

    with torch.library._scoped_library("traced", "DEF") as library:
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", kernel, "CPU")
        with trace() as steps:
            torch.ops.traced.f(torch.ones(1))
    assert [(step.operator, step.key) for step in steps][-1] == ("traced::f", "CPU")
    assert "registered at" in steps[-1].kernel


def test_what_a_kernel_raises_ends_its_step_and_no_other() -> None:
    with trace() as steps:
        with pytest.raises(RuntimeError):
            torch.ones(2) + torch.ones(3)
        torch.ones(2).neg()
    assert next(step.depth for step in steps if step.operator == "aten::neg") == 0


def test_traces_nest_and_end() -> None:
    x = torch.ones(2)
    with trace() as outer:
        x.neg()
        with trace() as inner:
            x.abs()
    x.exp()
    assert {step.operator for step in inner} == {"aten::abs"}
    assert {step.operator for step in outer} == {"aten::neg", "aten::abs"}
    assert not is_tracing()


def test_other_threads_are_not_traced() -> None:
    x = torch.ones(2)
    with trace() as steps:
        thread = threading.Thread(target=x.neg)
        thread.start()
        thread.join()
    assert steps == []
