"""Pipeline mode's stages: meta at the call, plan for all that waits, impl; and where one fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.pipeline import Planned, Reusable, take_plan

from .pipeline_events import names


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


def test_a_plan_that_says_so_is_used_again_for_the_same_signature() -> None:
    library = torch.library.Library("steady", "DEF")
    library.define("op(Tensor x, float by=1.0) -> Tensor")
    planned: list[Any] = []

    def plan(x: Any, by: float = 1.0) -> Any:
        planned.append((tuple(x.shape), by))
        return Reusable(by)

    undo = registry.register_kernels(
        "steady::op",
        DispatchKey.CPU,
        meta=lambda x, by=1.0: torch.empty_like(x),
        plan=plan,
        impl=lambda x, by=1.0: x * take_plan(),
    )
    op = torch.ops.steady.op
    with torch.pipeline() as p:
        for _ in range(3):
            found = [op(torch.ones(2), 2.0), op(torch.ones(3), 2.0), op(torch.ones(2), -0.0)]
            found.append(op(torch.ones(2), 0.0))
            p.flush()
        assert str(found[2].tolist()) == "[-0.0, -0.0]"
        assert str(found[3].tolist()) == "[0.0, 0.0]"
    assert planned == [((2,), 2.0), ((3,), 2.0), ((2,), -0.0), ((2,), 0.0)]
    assert len(names(p, "plan reused")) == 8
    undo()
    undo = registry.register_kernels("steady::op", DispatchKey.CPU, plan=lambda x, by=1.0: 7.0)
    with torch.pipeline(), pytest.raises(NotImplementedError):
        op(torch.ones(2), 2.0)
    undo()
    library._destroy()


def test_a_planned_call_that_autograd_records_meets_autograd(operator: Any) -> None:
    op, _ = operator
    x = torch.ones(2, requires_grad=True)
    with torch.pipeline():
        y = op(x * 1, 2)
        with torch.no_grad():
            z = op(x, 2)
    assert type(y.grad_fn) is type(op(x * 1, 2).grad_fn)
    assert y.requires_grad
    assert z.grad_fn is None


# --- registration -----------------------------------------------------------------------------


@pytest.mark.usefixtures("warns_always")
def test_what_is_registered_in_a_block_is_there_for_what_waits(operator: Any) -> None:
    op, _ = operator
    x = torch.ones(2)
    with torch.pipeline() as p:
        y = op(x, 2)
        library = torch.library.Library("pipelined", "IMPL")
        with pytest.warns(UserWarning, match="Overriding a previously registered kernel"):
            library.impl("op", lambda x, n=1: x * 100, "CPU")
        p.flush()
        z = op(x, 2)
        assert z.tolist() == [100.0, 100.0]
        library._destroy()
        w = op(x, 2)
    assert y.tolist() == [100.0, 100.0]
    assert w.tolist() == [2.0, 2.0]


def test_an_operator_that_is_gone_when_it_would_run_says_so() -> None:
    library = torch.library.Library("shortlived", "DEF")
    library.define("op(Tensor x) -> Tensor")
    undo = registry.register_kernels(
        "shortlived::op", DispatchKey.CPU, meta=torch.empty_like, impl=torch.clone
    )
    x = torch.ones(2)
    with torch.pipeline() as p:
        y = torch.ops.shortlived.op(x)
        undo()
        with pytest.raises(NotImplementedError, match="Could not run 'shortlived::op'"):
            p.flush()
    with pytest.raises(RuntimeError, match=r"shortlived::op .* was not computed"):
        y.tolist()
    library._destroy()


# --- failures -----------------------------------------------------------------------------------


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


def test_what_might_fail_is_not_dropped(operator: Any) -> None:
    op, _ = operator
    with pytest.raises(ValueError, match="no impl"), torch.pipeline():
        op(torch.ones(2), 0)


def test_a_factory_is_refused_at_its_call_where_the_kernel_of_its_device_refuses_it() -> None:
    with torch.pipeline() as queue:
        with pytest.raises(RuntimeError, match="floating-point or complex dtype"):
            torch.normal(1.0, 2.0, (6,), dtype=torch.int32, device="meta")
        queue.flush()


def test_memory_that_is_answered_though_no_view_is_so_however_often() -> None:
    for _ in range(3):  # from the second time on it is known
        x = torch.zeros(4)
        with torch.pipeline():
            flat = torch.ops.aten._unsafe_view(x, (2, 2))
            flat.add_(1)
        assert x.tolist() == [1.0] * 4
        assert (x._version, flat._version, flat._is_view()) == (0, 1, False)
        assert flat.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize("fits", [True, False])
def test_a_plan_may_compute_a_call_itself_and_impl_does_else(fits: bool) -> None:
    library = torch.library.Library("computing", "DEF")
    library.define("op(Tensor x) -> Tensor")
    library.impl("op", torch.empty_like, "Meta")
    library.impl("op", lambda x: x + 1, "CPU")
    undo = registry.register_kernels(
        "computing::op",
        DispatchKey.CPU,
        plan=lambda x: Planned(None, run=lambda call: call.stack[0] + 2 if fits else None),
    )
    with torch.pipeline():
        y = torch.ops.computing.op(torch.zeros(1))
    assert y.item() == (2 if fits else 1)
    undo()
    library._destroy()
