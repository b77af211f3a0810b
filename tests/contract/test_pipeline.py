"""Pipeline mode: each sentence of its design, and each boundary that flushes by itself."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.pipeline import take_plan


def names(p: Any, kind: str) -> list[str]:
    return [event.name for event in p.trace() if event.kind == kind]


def reasons(p: Any, kind: str = "flush") -> list[str]:
    return [event.reason for event in p.trace() if event.kind == kind]


# --- the mode ---------------------------------------------------------------------------------


def test_off_by_default_a_call_runs_at_once() -> None:
    x = torch.ones(2) + 1
    assert x._pending is None
    assert x.tolist() == [2.0, 2.0]


def test_in_the_mode_a_call_answers_a_tensor_whose_metadata_are_known() -> None:
    x = torch.ones(2, 3)
    with torch.pipeline() as p:
        y = (x + 1).transpose(0, 1).to(torch.float64)
        assert y.shape == (3, 2)
        assert y.stride() == (1, 3)
        assert y.dtype is torch.float64
        assert y.device == torch.device("cpu")
        assert y.dim() == 2
        assert y.numel() == 6
        assert len(y) == 3
        assert not y.is_contiguous()
        assert len(p) == 3
        assert not names(p, "run")
    assert y.tolist() == [[2.0, 2.0]] * 3


def test_flush_runs_what_waits_in_the_order_of_the_calls() -> None:
    with torch.pipeline() as p:
        y = torch.ones(2) * 2
        y.add_(1)
        z = y.neg()
        p.flush()
        assert len(p) == 0
        assert names(p, "run")[-3:] == ["aten::mul.Tensor", "aten::add_.Tensor", "aten::neg"]
        assert reasons(p) == ["flush()"]
    assert z.tolist() == [-3.0, -3.0]


def test_composite_operators_wait_as_what_they_call() -> None:
    with torch.pipeline() as p:
        torch.ones(2, 2) @ torch.ones(2, 2)
        assert "aten::mm" in names(p, "queued")
        assert "aten::matmul" not in names(p, "queued")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"max_ops": 2}, "max_ops"), ({"max_pending_bytes": 8}, "max_pending_bytes")],
)
def test_limits_flush(limits: dict[str, int], reason: str) -> None:
    x = torch.ones(1)
    with torch.pipeline(**limits) as p:
        x + 1
        assert len(p) == 1
        x + 2
        assert len(p) == 0
        assert reasons(p) == [reason]


@pytest.mark.parametrize("limit", ["max_ops", "max_pending_bytes"])
def test_a_limit_that_lets_nothing_wait_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match=f"{limit} must be at least 1"):
        torch.pipeline(**{limit: 0})


def test_blocks_nest_and_the_outer_one_goes_on() -> None:
    x = torch.ones(2)
    with torch.pipeline() as outer:
        y = x + 1
        with torch.pipeline() as inner:
            assert reasons(outer) == ["a pipeline in the block"]
            z = y + 1
            assert (len(outer), len(inner)) == (0, 1)
        w = z + 1
        assert (len(outer), len(inner)) == (1, 0)
    assert w.tolist() == [4.0, 4.0]


def test_a_block_may_be_entered_again_but_not_twice_at_once() -> None:
    p = torch.pipeline()
    with p, pytest.raises(RuntimeError, match="open already"):
        p.__enter__()
    with p:
        y = torch.ones(1) + 1
    assert y.item() == 2.0


def test_an_exception_that_leaves_the_block_finds_what_was_called_before_it_done() -> None:
    x = torch.ones(2)
    with pytest.raises(KeyError), torch.pipeline():  # noqa: PT012 (the block is what is tested)
        x.add_(1)
        raise KeyError
    assert x._version == 1
    assert x.tolist() == [2.0, 2.0]
    assert (x + 1)._pending is None


# --- boundaries -------------------------------------------------------------------------------

BOUNDARIES: dict[str, Callable[[Any], object]] = {
    "to('cpu')": lambda t: t.to("cpu").tolist(),
    "numpy()": lambda t: t.numpy(),
    "item()": lambda t: t[0].item(),
    "tolist()": lambda t: t.tolist(),
    "bool()": lambda t: bool(t[0] > 0),
    "int()": lambda t: int(t[0]),
    "float()": lambda t: float(t[0]),
    "repr()": repr,
    "print": str,
    "a comparison as truth": lambda t: 1 if t[0] == 3 else 0,
    "iteration over values": lambda t: [float(each) for each in t],
    "copy.deepcopy": lambda t: copy.deepcopy(t),
    "data_ptr()": lambda t: t.data_ptr(),
    "storage": lambda t: t.untyped_storage().tolist(),
    "nonzero()": lambda t: t.nonzero(),
    "a boolean index": lambda t: t[t > 0],
    "_version": lambda t: t._version,
    "grad_fn": lambda t: t.grad_fn,
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "NumPy's protocol": lambda t: np.asarray(t),
    "data =": lambda t: setattr(t, "data", torch.zeros(2)),
    "requires_grad_()": lambda t: t.requires_grad_(),
    "set_default_dtype": lambda t: torch.set_default_dtype(torch.float32),
    "random numbers": lambda t: torch.rand(2),
}


@pytest.mark.parametrize("boundary", BOUNDARIES.values(), ids=BOUNDARIES)
def test_what_needs_values_flushes(boundary: Callable[[Any], object]) -> None:
    x = torch.ones(2)
    with torch.pipeline() as p:
        y = x * 3
        assert len(p) == 1
        boundary(y)
        assert "aten::mul.Tensor" in names(p, "run")


def test_backward_flushes_and_runs_at_once() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline() as p:
        loss = (x * 3).sum()
        assert not names(p, "run")
        loss.backward()
        assert x.grad.tolist() == [3.0, 3.0]
        waiting = len(p)
    assert waiting == 0


# --- autograd ---------------------------------------------------------------------------------


def test_nodes_are_made_when_the_forward_runs() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline() as p:
        y = x * 3
        with torch.no_grad():
            z = x * 3
        p.flush()
    assert type(y.grad_fn).__name__ == "MulBackward0"
    assert z.grad_fn is None


def test_an_inference_pipeline_records_nothing() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline(inference=True):
        y = (x * 3).add_(1)
        z = torch.dropout(x * 1, 0.5, True)
    assert y.grad_fn is None
    assert not z.requires_grad
    assert (x * 3).requires_grad


def test_what_autograd_refuses_is_refused_at_the_call() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline():
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            x.add_(1)
        y = x * 2
    assert y.tolist() == [2.0, 2.0]


# --- order ------------------------------------------------------------------------------------


def test_what_was_called_before_a_change_sees_none_of_it() -> None:
    x = torch.ones(2)
    view = x[:1]
    with torch.pipeline():
        before = x * 10
        view.add_(1)
        after = x * 10
    assert before.tolist() == [10.0, 10.0]
    assert after.tolist() == [20.0, 10.0]
    assert x._version == 1


def test_another_name_for_the_memory_flushes_too() -> None:
    x = torch.ones(2)
    view = x.view(2)
    with torch.pipeline():
        x.add_(1)
        assert view.tolist() == [2.0, 2.0]


def test_memory_that_numpy_knows_is_used_at_the_place_of_the_call() -> None:
    array = np.ones(2, np.float32)
    x = torch.from_numpy(array)
    with torch.pipeline():
        y = x + 1
        array[:] = 5
    assert y.tolist() == [2.0, 2.0]


def test_another_thread_sees_what_eager_mode_would_have_shown_it() -> None:
    x = torch.ones(2)
    seen: list[Any] = []
    with torch.pipeline() as p:
        y = x + 1
        x.add_(1)

        def look() -> None:
            assert (
                torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey.CPU) is False
            )
            x.mul_(10)
            seen.append((y.tolist(), x.tolist()))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert len(p) == 0
    assert seen == [([2.0, 2.0], [20.0, 20.0])]


def test_a_block_belongs_to_its_thread() -> None:
    pending: list[Any] = []
    with torch.pipeline():
        thread = threading.Thread(target=lambda: pending.append((torch.ones(1) + 1)._pending))
        thread.start()
        thread.join()
    assert pending == [None]


# --- meta, plan, impl -------------------------------------------------------------------------


@pytest.fixture
def operator() -> Iterator[Any]:
    """``pipelined::op`` with three stages on CPU, and what they have done."""
    log: list[Any] = []
    library = torch.library.Library("pipelined", "DEF")
    library.define("op(Tensor x, int n=1) -> Tensor")

    def meta(x: Any, n: int = 1) -> Any:
        log.append("meta")
        return torch.empty_like(x)

    def plan(x: Any, n: int = 1) -> Any:
        log.append(("plan", tuple(x.shape), n))
        if n < 0:
            raise ValueError("no plan")
        return n * 10

    def impl(x: Any, n: int = 1) -> Any:
        log.append(("impl", take_plan()))
        if n == 0:
            raise ValueError("no impl")
        return x * n

    undo = registry.register_kernels(
        "pipelined::op", DispatchKey.CPU, meta=meta, plan=plan, impl=impl
    )
    yield torch.ops.pipelined.op, log
    undo()
    library._destroy()


def test_by_default_impl_runs_alone(operator: Any) -> None:
    op, log = operator
    assert op(torch.ones(2), 3).tolist() == [3.0, 3.0]
    assert log == [("impl", None)]


def test_all_is_planned_before_anything_is_run(operator: Any) -> None:
    op, log = operator
    with torch.pipeline() as p:
        y = op(op(torch.ones(2), 2), 3)
        assert log == ["meta", "meta"]
    assert log[2:] == [("plan", (2,), 2), ("plan", (2,), 3), ("impl", 20), ("impl", 30)]
    assert y.tolist() == [6.0, 6.0]
    assert names(p, "planned") == ["pipelined::op", "pipelined::op"]


def test_an_operator_without_a_plan_runs_at_its_place(operator: Any) -> None:
    op, _ = operator
    with torch.pipeline() as p:
        y = op(op(torch.ones(2), 2).neg(), 3)
    assert [name for name in names(p, "run") if name != "aten::ones"] == [
        "pipelined::op",
        "aten::neg",
        "pipelined::op",
    ]
    assert y.tolist() == [-6.0, -6.0]


# --- errors -----------------------------------------------------------------------------------


def test_errors_of_binding_and_shape_surface_at_the_call() -> None:
    with torch.pipeline():
        y = torch.ones(2, 3)
        with pytest.raises(TypeError):
            torch.add(y, "x")
        with pytest.raises(RuntimeError, match="must match the size"):
            y + torch.ones(4)
        z = y + 1
    assert z.tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize(("n", "message"), [(-1, "no plan"), (0, "no impl")])
def test_a_failure_stops_the_flush_and_clears_the_queue(
    operator: Any, n: int, message: str
) -> None:
    op, _ = operator
    x = torch.ones(2)
    with torch.pipeline() as p:
        done = x * 2
        failed = op(done, n)
        never = failed + 1
        with pytest.raises(ValueError, match=message):
            p.flush()
        assert len(p) == 0
        for output in (failed, never):
            with pytest.raises(
                RuntimeError, match="was not computed: the pipeline stopped at"
            ) as told:
                output.tolist()
            assert "pipelined::op (called at " in str(told.value)
            assert __file__ in str(told.value)
            assert f"ValueError: {message}" in str(told.value)
            assert output.shape == (2,)
        if n == 0:
            assert done.tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="was not computed"):
            never + 1
        again = x + 1  # the pipeline can be used again
    assert again.tolist() == [2.0, 2.0]
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("place", range(6))
def test_wherever_the_failure_is_what_came_before_it_is_done(operator: Any, place: int) -> None:
    op, _ = operator
    x = torch.zeros(1)
    outputs = []
    with pytest.raises(ValueError, match="no impl"), torch.pipeline():  # noqa: PT012
        for step in range(6):
            outputs.append(op(x + step, 0 if step == place else 1))
            x.add_(1)
    assert x.item() == place  # changes that were called before the failing call, and no other
    for step, output in enumerate(outputs):
        if step < place:
            assert output.item() == 2 * step
        else:
            with pytest.raises(RuntimeError, match="was not computed"):
                output.item()


# --- trace ------------------------------------------------------------------------------------


def test_the_trace_opens_in_perfetto() -> None:
    with torch.pipeline() as p:
        y = torch.ones(2) + 1
        y.tolist()
    trace = json.loads(json.dumps(p.chrome_trace()))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {event["cat"] for event in events} >= {"queued", "run", "flush"}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in events)
    assert reasons(p)[-1].startswith(f"needed at {__file__}:")


def test_a_pending_tensor_is_not_told_from_another_by_its_class() -> None:
    with torch.pipeline():
        y = torch.ones(2) + 1
        assert type(y) is torch.Tensor
        with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nosuch'"):
            y.nosuch  # noqa: B018
