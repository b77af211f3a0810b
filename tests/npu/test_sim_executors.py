"""The simulator's two phases: executors, workspaces, what must stay alive."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_int8, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

from .sim.build import build
from .sim.harness import Runtime, S, Tensor

pytestmark = pytest.mark.npu
KEEP = c_int8(0)


def planned_matmul(runtime: Runtime) -> tuple[int, int, list[Tensor]]:
    tensors = [runtime.tensor(np.eye(2, dtype=np.float32)) for _ in range(3)]
    with runtime.arguments([*tensors, KEEP]) as given:
        return *runtime.plan("Matmul", *given), tensors


def planned_neg(runtime: Runtime) -> tuple[int, list[Tensor]]:
    tensors = [runtime.tensor(np.ones(4, np.float32)), runtime.empty((4,))]
    with runtime.arguments(tensors) as given:
        size, executor = runtime.plan("Neg", *given)
    assert size == 0
    return executor, tensors


def run(
    runtime: Runtime, name: str, executor: int, workspace: int | None = None, size: int = 0
) -> int:
    return runtime.status(
        f"aclnn{name}", c_void_p(workspace), c_uint64(size), c_void_p(executor), None
    )


def test_an_executor_is_used_once(lazy: Runtime) -> None:
    executor, _ = planned_neg(lazy)
    assert run(lazy, "Neg", executor) == 0
    assert run(lazy, "Neg", executor) != 0
    assert lazy.status("aclDestroyAclOpExecutor", c_void_p(executor)) != 0
    violations = lazy.violations()
    assert [each["rule"] for each in violations] == ["executor-reused"] * 2
    functions = [entry.split()[2] for entry in violations[0]["before"]]
    assert functions == ["aclnnNegGetWorkspaceSize", "aclnnNeg"]
    lazy.synchronize()


def test_an_executor_that_never_ran_can_be_destroyed(lazy: Runtime) -> None:
    executor, _ = planned_neg(lazy)
    lazy.call("aclDestroyAclOpExecutor", c_void_p(executor))
    assert run(lazy, "Neg", executor) != 0
    assert lazy.rules() == ["executor-reused"]


def test_an_executor_belongs_to_its_operator(lazy: Runtime) -> None:
    executor, _ = planned_neg(lazy)
    assert run(lazy, "Abs", executor) != 0
    assert lazy.rules() == ["executor-operator"]


def test_no_executor(lazy: Runtime) -> None:
    assert lazy.status("aclnnNeg", None, c_uint64(0), None, None) == 161001
    assert lazy.rules() == ["null-argument"]


def test_an_error_in_phase_1_leaves_no_executor(lazy: Runtime) -> None:
    size, executor = c_uint64(7), c_void_p(7)
    x, out = lazy.tensor(np.ones(4, np.float32)), lazy.empty((3,))
    with lazy.arguments([x, out]) as given:
        arguments = (*given, byref(size), byref(executor))
        assert lazy.status("aclnnNegGetWorkspaceSize", *arguments) == 161002
    assert executor.value == 7
    assert "out" in lazy.message()
    assert lazy.rules() == ["operator-shape"]


def test_an_unused_executor_leaks(lazy: Runtime) -> None:
    planned_neg(lazy)
    lazy.call("aclFinalize")
    leaked = [v["message"] for v in lazy.violations() if "Executor" in v["message"]]
    assert leaked == ["aclOpExecutor Neg was never destroyed"]


# --- workspaces ----------------------------------------------------------------------------


def test_a_workspace_that_is_not_given_uses_the_executor_up(lazy: Runtime) -> None:
    size, executor, _ = planned_matmul(lazy)
    assert size > 0
    assert run(lazy, "Matmul", executor) == 161001
    assert run(lazy, "Matmul", executor) == 561000
    assert lazy.rules() == ["workspace-null", "executor-reused"]


@pytest.mark.parametrize(
    ("rule", "make"),
    [
        ("workspace-small", lambda r, size: (r.malloc(size), size - 1)),
        ("workspace-small", lambda r, size: (r.malloc(size - 1), size)),
        ("workspace-alignment", lambda r, size: (r.malloc(size + 64) + 32, size)),
        ("workspace-address", lambda r, size: (r.made("aclrtMallocHost", c_size_t(size)), size)),
    ],
)
def test_a_workspace_that_will_not_do(
    lazy: Runtime, rule: str, make: Callable[[Runtime, int], tuple[int, int]]
) -> None:
    size, executor, _ = planned_matmul(lazy)
    workspace, given = make(lazy, size)
    assert run(lazy, "Matmul", executor, workspace, given) != 0
    assert lazy.rules() == [rule]


def test_a_workspace_stays_until_the_operator_ran(lazy: Runtime) -> None:
    size, executor, _ = planned_matmul(lazy)
    workspace = lazy.malloc(size)
    assert run(lazy, "Matmul", executor, workspace, size) == 0
    assert lazy.status("aclrtFree", c_void_p(workspace)) != 0
    lazy.synchronize()
    assert lazy.rules() == ["free-in-use"]


def test_two_streams_may_not_share_a_workspace(lazy: Runtime) -> None:
    stream = lazy.made("aclrtCreateStream")
    size, first, _ = planned_matmul(lazy)
    _, second, _ = planned_matmul(lazy)
    workspace = lazy.malloc(size)
    for executor, on in ((first, None), (second, stream)):
        lazy.call("aclnnMatmul", c_void_p(workspace), c_uint64(size), c_void_p(executor),
                  c_void_p(on))  # fmt: skip
    lazy.synchronize()
    assert lazy.rules() == ["stream-race"]


def test_what_asks_for_workspace(lazy: Runtime) -> None:
    x = lazy.tensor(np.ones((2, 2), np.float32))
    turned = lazy.tensor(np.arange(6, dtype=np.float32).reshape(3, 2).T)
    out, wide = lazy.empty((2, 2)), lazy.empty((2, 3))

    def size(name: str, *given: object) -> int:
        with lazy.arguments(given) as arguments:
            asked, executor = lazy.plan(name, *arguments)
        lazy.call("aclDestroyAclOpExecutor", c_void_p(executor))
        return asked

    assert size("Exp", x, out) == 0
    assert size("Exp", turned, wide) > 0
    lazy.config("always_workspace", 1)
    assert size("Exp", x, out) > 0


# --- what must stay alive ------------------------------------------------------------------


def test_descriptors_stay_until_phase_2_returned(lazy: Runtime) -> None:
    executor, (x, out) = planned_neg(lazy)
    lazy.call("aclDestroyTensor", c_void_p(x.handle))
    assert run(lazy, "Neg", executor) != 0
    assert lazy.rules() == ["descriptor-destroyed"]
    executor, (x, out) = planned_neg(lazy)
    assert run(lazy, "Neg", executor) == 0
    for tensor in (x, out):
        lazy.call("aclDestroyTensor", c_void_p(tensor.handle))
    np.testing.assert_array_equal(out.read(), np.full(4, -1, np.float32))


def test_memory_stays_between_the_phases(lazy: Runtime) -> None:
    executor, (x, _) = planned_neg(lazy)
    assert x.block is not None
    lazy.free(x.block)
    assert run(lazy, "Neg", executor) != 0
    assert lazy.rules() == ["use-after-free"]


def test_memory_freed_before_phase_1(lazy: Runtime) -> None:
    x, out = lazy.tensor(np.ones(4, np.float32)), lazy.empty((4,))
    x.describe()
    assert x.block is not None
    lazy.free(x.block)
    assert lazy.refusal("Neg", x, out) == 561000
    assert lazy.rules() == ["use-after-free"]


def test_a_tensor_of_another_device(lazy: Runtime) -> None:
    x = lazy.tensor(np.ones(4, np.float32))
    lazy.call("aclrtSetDevice", 1)
    assert lazy.refusal("Neg", x, lazy.empty((4,))) == 561000
    assert lazy.rules() == ["device-mismatch"]


def test_phase_2_in_another_context(lazy: Runtime) -> None:
    executor, _ = planned_neg(lazy)
    lazy.made("aclrtCreateContext", 0)
    assert run(lazy, "Neg", executor) != 0
    assert lazy.rules() == ["executor-context"]


# --- outputs -------------------------------------------------------------------------------


def test_an_output_may_be_an_input_but_not_overlap_it(lazy: Runtime) -> None:
    x = lazy.tensor(np.arange(8, dtype=np.float32))
    lazy.op("Neg", x, x)
    np.testing.assert_array_equal(x.read(), -np.arange(8, dtype=np.float32))
    part = lambda start: Tensor(lazy, x.block, (4,), (1,), start, 8, "float32")  # noqa: E731
    first, shifted = part(0), part(2)
    assert lazy.refusal("Neg", first, shifted) == 561000
    evens = Tensor(lazy, x.block, (4,), (2,), 0, 8, "float32")
    odds = Tensor(lazy, x.block, (4,), (2,), 1, 8, "float32")
    lazy.op("Neg", evens, odds)
    np.testing.assert_array_equal(x.read()[1::2], np.arange(0, 8, 2, dtype=np.float32))
    assert lazy.rules() == ["output-overlap"]


def test_an_output_may_not_be_expanded(lazy: Runtime) -> None:
    x = lazy.tensor(np.ones((2, 3), np.float32))
    out = Tensor(lazy, lazy.malloc(12), (2, 3), (0, 1), 0, 3, "float32")
    assert lazy.refusal("Neg", x, out) == 561000
    assert lazy.rules() == ["output-stride"]


# --- repeatable executors ------------------------------------------------------------------


def test_a_repeatable_executor_runs_again_with_other_addresses(runtime: Runtime) -> None:
    executor, (x, out) = planned_neg(runtime)
    runtime.call("aclSetAclOpExecutorRepeatable", c_void_p(executor))
    assert run(runtime, "Neg", executor) == 0
    np.testing.assert_array_equal(out.read(), np.full(4, -1, np.float32))
    other, last = runtime.tensor(np.full(4, 5, np.float32)), runtime.empty((4,))
    for name, index, tensor, block in (
        ("aclSetInputTensorAddr", 0, x, other.block),
        ("aclSetOutputTensorAddr", 0, out, last.block),
    ):
        handle = c_void_p(tensor.handle)
        runtime.call(name, c_void_p(executor), c_size_t(index), handle, c_void_p(block))
    assert run(runtime, "Neg", executor) == 0
    np.testing.assert_array_equal(last.read(), np.full(4, -5, np.float32))
    runtime.call("aclSetTensorAddr", c_void_p(executor), c_size_t(1), c_void_p(out.handle),
                 c_void_p(out.block))  # fmt: skip
    assert run(runtime, "Neg", executor) == 0
    np.testing.assert_array_equal(out.read(), np.full(4, -5, np.float32))
    runtime.call("aclDestroyAclOpExecutor", c_void_p(executor))


def test_the_rules_of_repeatable_executors(lazy: Runtime) -> None:
    executor, (x, _) = planned_neg(lazy)
    lazy.call("aclSetAclOpExecutorRepeatable", c_void_p(executor))
    assert run(lazy, "Neg", executor) == 0
    assert lazy.status("aclSetAclOpExecutorRepeatable", c_void_p(executor)) == 561000
    assert lazy.status("aclSetAclOpExecutorRepeatable", None) == 561103
    block = lazy.malloc(8)
    for index, address, status in ((5, block, 161002), (0, block, 561000)):
        got = lazy.status("aclSetTensorAddr", c_void_p(executor), c_size_t(index),
                          c_void_p(x.handle), c_void_p(address))  # fmt: skip
        assert got == status
    assert lazy.rules() == [
        "executor-repeatable", "null-argument", "executor-index", "tensor-address",
    ]  # fmt: skip
    lazy.synchronize()


def test_an_executor_may_refuse_to_be_repeated_and_still_runs_once(lazy: Runtime) -> None:
    executor, (_, out) = planned_neg(lazy)
    lazy.config("refuse_repeat", 1)
    assert lazy.status("aclSetAclOpExecutorRepeatable", c_void_p(executor)) == 561000
    assert run(lazy, "Neg", executor) == 0
    np.testing.assert_array_equal(out.read(), np.full(4, -1, np.float32))


def test_aicpu_types_cannot_be_repeated(lazy: Runtime) -> None:
    x, out = lazy.tensor(np.ones(4)), lazy.empty((4,), "float64")
    with lazy.arguments([x, out]) as given:
        _, executor = lazy.plan("Neg", *given)
    assert lazy.status("aclSetAclOpExecutorRepeatable", c_void_p(executor)) == 561000
    lazy.call("aclDestroyAclOpExecutor", c_void_p(executor))


# --- chips and installations ---------------------------------------------------------------


def test_the_older_chip_has_no_bf16_and_no_f32_products(lazy: Runtime) -> None:
    lazy.config("soc", 1)
    half = lazy.empty((2, 2), "bfloat16")
    assert lazy.refusal("Neg", half, half) == 161002
    x, out = lazy.tensor(np.eye(2, dtype=np.float32)), lazy.empty((2, 2))
    assert lazy.refusal("Matmul", x, x, out, KEEP) == 161002
    lazy.op("Matmul", x, x, out, c_int8(1))
    lazy.synchronize()
    assert lazy.rules() == ["operator-dtype", "operator-attribute"]


def test_probing_is_no_violation_when_it_is_said_to_be_that(lazy: Runtime) -> None:
    lazy.config("probing", 1)
    whole = lazy.tensor(np.ones(2, np.uint8))
    assert lazy.refusal("Neg", whole, whole) == 161002
    assert lazy.rules() == []


def test_an_operator_can_be_missing(build_cache: Path, loaded_simulator: Runtime) -> None:
    root = build(build_cache, missing=["Square"])
    library = ctypes.CDLL(str(root / "lib64" / "libopapi.so"))
    assert hasattr(library, "aclnnSqrt")
    assert not hasattr(library, "aclnnSquare")
    assert not hasattr(library, "aclnnSquareGetWorkspaceSize")


def test_scalar_arguments_are_checked_like_tensors(lazy: Runtime) -> None:
    whole, out = lazy.tensor(np.ones(2, np.int64)), lazy.empty((2,), "int64")
    assert lazy.refusal("Add", whole, whole, S(1.5), out) == 161002
    assert lazy.refusal("Adds", whole, S(1.5), S(1), out) == 161002
    assert lazy.refusal("Add", whole, whole, None, out) == 161001
    assert lazy.rules() == ["operator-cast", "operator-cast", "null-argument"]
