"""Objects that offer memory of a CUDA device, which no tensor here can have."""

from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch

FITTING: dict[str, Any] = {"shape": (2,), "typestr": "<f4", "data": (0, False), "version": 3}


def offering(interface: object) -> object:
    return type("Offering", (), {"__cuda_array_interface__": interface})()


def without(name: str) -> object:
    return offering({key: value for key, value in FITTING.items() if key != name})


@pytest.mark.parametrize(
    ("offered", "error", "message"),
    [
        (offering(1), TypeError, "`__cuda_array_interface__` must be a dict"),
        (without("shape"), TypeError, "attribute `shape` must exist"),
        (without("typestr"), TypeError, "attribute `typestr` must exist"),
        (without("data"), TypeError, "attribute `shape` data exist"),
        (offering(FITTING | {"shape": {2: 2}}), TypeError, "shape and strides must be sequences"),
        (offering(FITTING | {"shape": (1 << 63,)}), OverflowError, "int too big to convert"),
        (offering(FITTING | {"typestr": "zz"}), ValueError, "cannot parse `typestr`"),
        (offering(FITTING | {"typestr": "<M8"}), TypeError, "can't convert np.ndarray of type"),
        (offering(FITTING | {"data": [0, False]}), TypeError, "`data` must be a 2-tuple of"),
        (offering(FITTING | {"data": (1.5, False)}), TypeError, "an integer is required"),
        (offering(FITTING | {"data": (1 << 64, False)}), OverflowError, "to C unsigned long"),
        (offering(FITTING | {"data": (0, True)}), TypeError, "the read only flag is not supported"),
        (offering(FITTING | {"strides": (1, 2)}), TypeError, "of the same length as shape"),
        (offering(FITTING | {"strides": (3,)}), ValueError, "not a multiple of the element byte"),
        (offering(FITTING), RuntimeError, "Found no NVIDIA driver"),
    ],
)
def test_what_is_wrong_is_said(offered: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torch.tensor(offered)
    with pytest.raises(error, match=message):
        torch.ones(2).new_tensor(offered)


def test_memory_that_cannot_be_pinned_is_not_looked_at() -> None:
    with pytest.raises(RuntimeError, match="Can't pin tensor constructed from __cuda_array"):
        torch.tensor(offering(1), pin_memory=True)


def test_what_an_array_or_a_sequence_offers_comes_first() -> None:
    for base, data in ((list, [1, 2]), (np.ndarray, (2,))):
        offered: Any = type("Offering", (base,), {"__cuda_array_interface__": 1})(data)
        with pytest.raises(TypeError, match="must be a dict"):
            torch.as_tensor(offered)


def test_a_tensor_has_none() -> None:
    tensor = torch.ones(2)
    assert not hasattr(tensor, "__cuda_array_interface__")
    assert "__cuda_array_interface__" not in dir(tensor)
    with pytest.raises(
        AttributeError, match=r"on non-CUDA tensor type: torch\.FloatTensor If CUDA"
    ):
        tensor.__cuda_array_interface__  # noqa: B018


def test_a_class_of_tensors_offers_a_property() -> None:
    with pytest.raises(TypeError, match="must be a dict"):
        torch.tensor(torch.FloatTensor)
