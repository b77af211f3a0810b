"""The dtype of floats by the class of a tensor, and what numbers of Python's enums become."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import pytest

import mindtorch_v2 as torch


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("t", [torch.DoubleTensor, "torch.DoubleTensor"])
def test_a_class_of_tensors_gives_the_default_its_dtype(t: Any) -> None:
    with pytest.warns(UserWarning, match="deprecated as of PyTorch 2.1"):
        torch.set_default_tensor_type(t)
    assert torch.tensor(1.5).dtype is torch.float64


@pytest.mark.parametrize(
    ("t", "error", "says"),
    [
        (torch.LongTensor, TypeError, "^only floating-point types are supported as the default"),
        (torch.sparse.FloatTensor, TypeError, "^only dense types are supported as the default"),
        (torch.Tensor, TypeError, "^invalid type object: only floating-point types"),
        ("torch.FooTensor", AttributeError, "has no attribute 'FooTensor'"),
        ("HalfTensor", ModuleNotFoundError, "HalfTensor"),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_what_is_no_class_of_dense_floats_is_refused(
    t: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        torch.set_default_tensor_type(t)
    assert torch.get_default_dtype() is torch.float32


class Whole(enum.IntEnum):
    X = 1


class Real(float, enum.Enum):
    X = 1.5


def test_a_member_of_an_enum_is_a_number_though_its_class_can_be_subscripted() -> None:
    assert torch.tensor(Whole.X).tolist() == 1
    assert torch.tensor([[Whole.X]], dtype=torch.float32).tolist() == [[1.0]]
    assert torch.tensor(Real.X).tolist() == 1.5
    assert torch.arange(6).reshape(2, 3)[[Whole.X]].tolist() == [[3, 4, 5]]
