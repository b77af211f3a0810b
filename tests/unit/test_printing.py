"""What cases cannot say of printing: ``format()``, options for a block, tensors on the NPU."""

from __future__ import annotations

from typing import Any, Final

import pytest
from fakes.accelerator import Accelerator

import mindtorch_v2
from mindtorch_v2.tensor import device_memory
from mindtorch_v2.tensor.printing import get_printoptions, printoptions


@pytest.fixture(autouse=True)
def npu_in_host_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on the NPU, on machines without one."""
    monkeypatch.setattr(device_memory, "_provided", [Accelerator()])


xp: Final[Any] = mindtorch_v2


def test_a_tensor_without_dimensions_is_formatted_as_its_number() -> None:
    assert f"{xp.tensor(1.5):.3f}" == "1.500"
    assert f"{xp.tensor(7)}" == "7"
    assert f"{xp.tensor(True)}" == "True"


def test_another_tensor_is_formatted_as_an_object() -> None:
    assert f"{xp.tensor([1.5])}" == "tensor([1.5000])"
    assert f"{xp.tensor(1, device='meta')}" == repr(xp.tensor(1, device="meta"))
    with pytest.raises(TypeError, match="unsupported format string passed to Tensor"):
        format(xp.tensor([1.5]), ".3f")


def test_options_for_a_block_are_put_back_after_an_exception() -> None:
    before = get_printoptions()
    with printoptions(precision=1, sci_mode=True):
        assert repr(xp.tensor([1.25])) == "tensor([1.2e+00])"
    assert get_printoptions() == before
    with pytest.raises(ZeroDivisionError), printoptions(precision=1):
        raise ZeroDivisionError
    assert get_printoptions() == before


def test_a_tensor_on_the_npu_shows_its_values_and_its_device() -> None:
    assert repr(xp.tensor([1, 2], device="npu")) == "tensor([1, 2], device='npu')"
    assert repr(xp.zeros(2, device="npu:1")) == "tensor([0., 0.], device='npu:1')"
