"""DLPack: memory that is shared with NumPy, and who keeps it alive."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch


class Watched(np.ndarray):  # type: ignore[type-arg]
    """An array that can be watched as it goes."""


def watched() -> tuple[Any, Any]:
    array = np.ones(1000).view(Watched)
    return array, weakref.ref(array)


def test_a_tensor_keeps_the_memory_that_it_was_given() -> None:
    array, gone = watched()
    tensor = torch.from_dlpack(array)
    part = tensor[1:]
    del array, tensor
    gc.collect()
    assert gone() is not None
    assert part.sum().item() == 999.0
    del part
    gc.collect()
    assert gone() is None


def test_a_capsule_that_nobody_takes_gives_memory_back() -> None:
    array, gone = watched()
    capsule = torch.to_dlpack(torch.from_dlpack(array))
    del array
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


def test_an_array_keeps_the_memory_of_a_tensor() -> None:
    tensor = torch.arange(4.0)
    array = np.from_dlpack(tensor)
    tensor[0] = 7
    del tensor
    gc.collect()
    assert array.tolist() == [7.0, 1.0, 2.0, 3.0]


def test_memory_that_numpy_only_reads_is_written_through_a_tensor() -> None:
    array = np.zeros(3)
    tensor = torch.from_dlpack(array.__dlpack__())
    tensor += 2
    assert array.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", ["bfloat16", "complex32", "bool", "uint16"])
def test_dtypes_that_numpy_does_not_know_come_back(dtype: str) -> None:
    tensor = torch.tensor([0, 1, 1], dtype=getattr(torch, dtype))
    again = torch.from_dlpack(torch.to_dlpack(tensor))
    assert again.dtype is tensor.dtype
    assert (again == tensor).all()
    assert again.data_ptr() == tensor.data_ptr()


def test_zeros_that_are_not_stored_have_no_memory_to_share() -> None:
    zeros = torch._efficientzerotensor(2, 3)
    with pytest.raises(BufferError, match=r"share its clone\(\)"):
        torch.to_dlpack(zeros)
    assert torch.from_dlpack(torch.to_dlpack(zeros.clone())).tolist() == [[0.0] * 3] * 2
