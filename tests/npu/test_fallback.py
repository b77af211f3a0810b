"""Operators that the NPU has not: they run on the CPU, which is said once, or are an error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.npu import fallback, libraries
from mindtorch_v2.kernels.npu.prototypes import aclnn

from .comparing import assert_same, on_npu

pytestmark = pytest.mark.npu


@pytest.fixture(autouse=True)
def nothing_warned_of(npu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(fallback, "_warned", set())
    yield
    npu.set_fallback(True)


def test_it_is_said_once_for_each_operator() -> None:
    x = torch.tensor([3.0, 1.0, 2.0])
    with pytest.warns(UserWarning, match="'aten::median' is not supported on the NPU"):
        assert_same(on_npu(x).median(), x.median())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(on_npu(x).median(), x.median())


def test_it_says_why() -> None:
    x = torch.ones(2, dtype=torch.int64)
    with pytest.warns(UserWarning, match="only floating-point numbers are divided so"):
        found = torch.div(on_npu(x), on_npu(x), rounding_mode="floor")
    assert_same(found, x // x)


def test_it_can_be_turned_off(npu: ModuleType) -> None:
    npu.set_fallback(False)
    assert not npu.is_fallback_enabled()
    with pytest.raises(NotImplementedError, match="Could not run 'aten::median' on the NPU"):
        torch.ones(2, device="npu").median()
    assert_same(torch.ones(2, device="npu") + 1, torch.ones(2) + 1)


def test_wrong_calls_are_wrong_without_it_too(npu: ModuleType) -> None:
    npu.set_fallback(False)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.ones(2, device="npu") + torch.ones(3, device="npu")


def test_random_numbers_are_the_cpus_and_nothing_is_said(npu: ModuleType) -> None:
    npu.set_fallback(False)
    torch.manual_seed(5)
    expected = torch.empty(4).normal_(), torch.rand(3), torch.ones(8).bernoulli(0.5)
    torch.manual_seed(5)
    x = torch.ones(8, device="npu")
    found = torch.empty(4, device="npu").normal_(), torch.rand(3, device="npu"), x.bernoulli(0.5)
    assert_same(found, expected)


def test_what_changes_its_arguments_changes_them_on_the_device() -> None:
    x = torch.arange(6.0).view(2, 3)
    y = on_npu(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (x, y):
            each.t().put_(torch.tensor([0, 3]).to(each.device), each.new_ones(2) * 9)
    assert_same(y, x)


def test_an_operator_that_a_release_lacks_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    known = libraries.operator_functions

    def without_relu(operator: object) -> object:
        return None if operator == aclnn("Relu") else known(operator)

    monkeypatch.setattr(libraries, "operator_functions", without_relu)
    x = torch.tensor([[-1.0, 2.5, 0.0, -3.0, 7.0]])
    with pytest.warns(UserWarning, match="this release of CANN has no aclnnRelu"):
        assert_same(on_npu(x).relu(), x.relu())


SHARED = {
    "a copy within one memory": lambda x: x[::2].copy_(x[1:5]),
    "elements that share memory": lambda x: x.as_strided([2, 3], [2, 1], 1).mul_(2),
    "a sum into what is summed": lambda x: torch.sum(x.view(2, 4), 0, out=x[2:6]),
    "a sum into one place": lambda x: torch.sum(x.view(2, 4), 1, out=x[:1].expand(2)),
}


@pytest.mark.parametrize("what", SHARED)
def test_what_shares_memory_is_written_in_the_order_of_the_cpu(what: str) -> None:
    x, y = torch.arange(8.0), torch.arange(8.0, device="npu")
    SHARED[what](x)
    with torch.npu.record_fallbacks() as names:
        SHARED[what](y)
    assert y.tolist() == x.tolist()
    assert len(names) == 1


@pytest.mark.usefixtures("on_npu_alone")
def test_what_is_one_memory_element_by_element_stays_on_the_npu() -> None:
    x = torch.arange(4.0, device="npu")
    x[:2].copy_(x[2:])
    torch.mul(x, x.view(4), out=x)
    x.add_(x.view(2, 2).view(4))
    assert x.tolist() == [8, 18, 8, 18]


def test_what_was_written_before_a_call_is_refused_is_there() -> None:
    x, y = torch.zeros(2), torch.zeros(2, device="npu")
    for each in (x, y):
        places, ones = torch.tensor([0, 5], device=each.device), torch.ones(2, device=each.device)
        with torch.npu.record_fallbacks(), pytest.raises(IndexError):
            each.put_(places, ones)
    assert y.tolist() == x.tolist() == [1, 0]


def test_a_padding_is_a_number_of_the_tensors_dtype() -> None:
    pad = torch.ops.aten.constant_pad_nd
    assert pad(torch.ones(1, dtype=torch.bool, device="npu"), [1, 0], 0.0).tolist() == [False, True]
    ones = torch.ones(1, dtype=torch.int32, device="npu")
    assert pad(ones, [1, 0], 2.5).tolist() == [2, 1]
