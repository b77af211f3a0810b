"""Pipeline mode: each sentence of its design, and each boundary that flushes by itself.

Sentences, and the tests that hold them; `test_the_table_names_tests_that_there_are` reads this.

- stages: an operator has meta, plan and impl kernels:
  `test_all_is_planned_before_anything_is_run`
- meta infers shape, stride and dtype of the output:
  `test_in_the_mode_a_call_answers_a_tensor_whose_metadata_are_known`
- a backend without plan kernel runs at its place in the flush:
  `test_an_operator_without_a_plan_runs_at_its_place`
- overhead: a plan serves every call of its shapes:
  `test_a_plan_that_says_so_is_used_again_for_the_same_signature`
- default mode calls impl at once:
  `test_by_default_impl_runs_alone`
- the mode is opt-in, never implicit:
  `test_off_by_default_a_call_runs_at_once`
- no static graph: what a program does next may hang on values:
  `test_what_needs_values_flushes`
- no background threads:
  `test_a_block_starts_no_thread`
- pipeline(): calls answer pending tensors:
  `test_in_the_mode_a_call_answers_a_tensor_whose_metadata_are_known`
- flush() runs all that waits:
  `test_flush_runs_what_waits_in_the_order_of_the_calls`
- sync boundaries flush by themselves:
  `test_what_needs_values_flushes`
- leaving the block flushes:
  `test_leaving_the_block_flushes`
- all plans come before all impls, which are in order:
  `test_all_is_planned_before_anything_is_run`
- outputs become ready:
  `test_flush_runs_what_waits_in_the_order_of_the_calls`
- dependencies: reads, writes and views keep the program's order:
  `test_what_was_called_before_a_change_sees_none_of_it`
- a call keeps its thread's state:
  `test_a_call_runs_with_the_state_that_it_was_made_in`
- a pending tensor that is freed:
  `test_what_is_freed_was_called_nonetheless`
- ... that another thread asks:
  `test_another_thread_sees_what_eager_mode_would_have_shown_it`
- what nobody can see need not run:
  `test_views_that_nobody_holds_are_dropped`
- ... and all else runs:
  `test_what_might_fail_is_not_dropped`
- autograd's nodes are made when the forward runs:
  `test_nodes_are_made_when_the_forward_runs`
- backward() flushes, then runs as in eager mode:
  `test_backward_flushes_and_runs_at_once`
- pipeline(inference=True) records nothing:
  `test_an_inference_pipeline_records_nothing`
- errors of binding, meta and shape surface at the call:
  `test_errors_of_binding_and_shape_surface_at_the_call`
- plan and impl fail fast; the queue is cleared, outputs are invalid:
  `test_a_failure_stops_the_flush_and_clears_the_queue`
- max_ops, max_pending_bytes:
  `test_limits_flush`
- blocks nest:
  `test_blocks_nest_and_the_outer_one_goes_on`
- several threads:
  `test_a_block_belongs_to_its_thread`
- exceptions that leave the block:
  `test_an_exception_that_leaves_the_block_finds_what_was_called_before_it_done`
- trace(): what was queued, planned, run, and why a flush happened:
  `test_the_trace_opens_in_perfetto`
- ... and it is bounded:
  `test_a_trace_forgets_what_is_long_past`

Stages and their failures are in ``test_pipeline_stages.py``, the program's order of memory, threads
and random numbers in ``test_pipeline_order.py``.  The boundaries are the rows of
`BOUNDARIES`; those of devices and streams are in ``tests/npu/test_pipeline.py``, the page in
``tests/unit/test_pipeline_html.py``, and a failure at every place of a queue in
``test_pipeline_failures.py``.
"""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.pipeline import flush

from . import test_pipeline_order, test_pipeline_stages
from .pipeline_events import names, reasons

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


@pytest.mark.parametrize("limit", ["max_ops", "max_pending_bytes", "max_events"])
def test_a_limit_that_lets_nothing_wait_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match=f"{limit} must be at least 1"):
        torch.pipeline(**{limit: 0})


@pytest.mark.parametrize("limit", ["max_ops", "max_pending_bytes", "max_events"])
def test_a_limit_that_is_no_number_of_things_is_refused(limit: str) -> None:
    for value in (2.5, "2", torch.tensor(2)):
        with pytest.raises(TypeError, match=f"{limit} must be an int, or None for no limit"):
            torch.pipeline(**{limit: value})


def test_an_operator_whose_kernel_makes_views_that_autograd_sees_does_not_wait() -> None:
    x = torch.ones(2, 2)
    with torch.pipeline(), torch.inference_mode():
        assert x.unsafe_split(1)[0]._base is x
    with torch.pipeline():
        assert not x.unsafe_split(1)[0]._is_view()


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


def test_leaving_the_block_flushes() -> None:
    with torch.pipeline() as p:
        y = torch.ones(2) + 1
        assert len(p) == 2
    assert len(p) == 0
    assert reasons(p) == ["the end of the block"]
    assert y.tolist() == [2.0, 2.0]


def test_a_block_starts_no_thread() -> None:
    before = threading.enumerate()
    with torch.pipeline() as p:
        y = torch.ones(2) + 1
        p.flush()
        z = y + 1
        assert threading.enumerate() == before
    assert threading.enumerate() == before
    assert z.tolist() == [3.0, 3.0]


def test_a_call_runs_with_the_state_that_it_was_made_in() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline():
        with torch.no_grad():
            unrecorded = x * 2
        with torch.inference_mode():
            inferred = x.detach() * 3
        with torch._C._ExcludeDispatchKeyGuard(
            torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
        ):
            below = x * x
        recorded = x * 5
        with torch.no_grad():
            assert recorded.requires_grad  # which flushes, in another state
    assert not unrecorded.requires_grad
    assert inferred.is_inference()
    assert below.grad_fn is None
    assert not recorded.is_inference()


def test_what_is_freed_was_called_nonetheless() -> None:
    x = torch.ones(2)
    with torch.pipeline() as p:
        y = x.add_(1)
        z = x * 2
        w = z.view(2)
        del y, z
        p.flush()
        assert "aten::add_.Tensor" in names(p, "run")
    assert x.tolist() == [2.0, 2.0]
    assert w.tolist() == [4.0, 4.0]


def test_the_table_names_tests_that_there_are() -> None:
    assert __doc__ is not None
    named = set(re.findall(r"^  `(test_\w+)`$", __doc__, re.MULTILINE))
    assert len(named) > 25
    elsewhere = set(vars(test_pipeline_order)) | set(vars(test_pipeline_stages))
    assert named <= set(globals()) | elsewhere


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
    "print": print,
    "str()": str,
    "format()": lambda t: f"{t[0]:.1f}",
    "complex()": lambda t: complex(t[0]),
    "an index": lambda t: [10, 20, 30, 40][t[0].long()],
    "range() of a number that is computed": lambda t: range(t[0].long()),
    "sorting": sorted,
    "if": lambda t: 1 if (t > 0).all() else 0,
    "in": lambda t: 3 in t,
    "equal()": lambda t: torch.equal(t, t),
    "allclose()": lambda t: torch.allclose(t, t),
    "a comparison as truth": lambda t: 1 if t[0] == 3 else 0,
    "iteration over values": lambda t: [float(each) for each in t],
    "copy.deepcopy": lambda t: copy.deepcopy(t),
    "data_ptr()": lambda t: t.data_ptr(),
    "storage": lambda t: t.untyped_storage().tolist(),
    "nonzero()": lambda t: t.nonzero(),
    "a boolean index": lambda t: t[t > 0],
    "a write through a boolean index": lambda t: t.__setitem__(t > 0, 1.0),
    "masked_select()": lambda t: t.masked_select(t > 0),
    "where() of a condition alone": lambda t: torch.where(t > 0),
    "argwhere()": lambda t: t.argwhere(),
    "unique()": lambda t: t.unique(),
    "repeat_interleave() by a tensor": lambda t: torch.repeat_interleave(t.long()),
    "_version": lambda t: t._version,
    "grad_fn": lambda t: t.grad_fn,
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "NumPy's protocol": lambda t: np.asarray(t),
    "DLPack, to NumPy": lambda t: np.from_dlpack(t),
    "DLPack, out": lambda t: torch.to_dlpack(t),
    "DLPack, by the protocol": lambda t: t.__dlpack__(),
    "DLPack, back in": lambda t: torch.from_dlpack(t),
    "data =": lambda t: setattr(t, "data", torch.zeros(2)),
    "requires_grad_()": lambda t: t.requires_grad_(),
    "set_default_dtype": lambda t: torch.set_default_dtype(torch.float32),
    "pickling": pickle.dumps,
    "a device's synchronize": lambda t: flush("synchronize"),
    "memory that others get to know": lambda t: t.untyped_storage().data_ptr(),
    "len() of a result that depends on values": lambda t: len(t[t > 0]),
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


# --- what need not run ------------------------------------------------------------------------


def test_views_that_nobody_holds_are_dropped() -> None:
    x = torch.ones(2, 3)
    with torch.pipeline() as p:
        x.t().unsqueeze(0)
        kept = x.t()
        x.t().add_(1)
    assert names(p, "dropped") == ["aten::unsqueeze", "aten::t"]
    assert names(p, "run") == ["aten::t", "aten::t", "aten::add_.Tensor"]
    assert kept.tolist() == [[2.0, 2.0]] * 3


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


def test_what_a_kernel_refuses_after_it_has_copied_an_argument_surfaces_at_the_call() -> None:
    with torch.pipeline():
        row = torch.arange(3.0).expand(2, 3)
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            torch.as_strided_scatter(row, torch.ones(2, 3), (2, 3), (0, 1))


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


def test_a_trace_forgets_what_is_long_past() -> None:
    x = torch.ones(1)
    with torch.pipeline(max_events=5) as p:
        for _ in range(100):
            x = x + 1
        p.flush()
        kinds = [event.kind for event in p.trace()]
    assert kinds == ["run"] * 4 + ["flush"]
    assert x.item() == 101.0


def test_a_pending_tensor_is_not_told_from_another_by_its_class() -> None:
    with torch.pipeline():
        y = torch.ones(2) + 1
        assert type(y) is torch.Tensor
        with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nosuch'"):
            y.nosuch  # noqa: B018
