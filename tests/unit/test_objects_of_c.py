"""Objects of classes that torch makes in C, asked for what no case may ask."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import mindtorch_v2 as xp

_READ_ONLY = [
    *((xp.float32, name) for name in ("itemsize", "is_complex", "is_signed")),
    *((xp.device("cuda:1"), name) for name in ("type", "index")),
    *((xp.finfo(xp.float32), name) for name in ("eps", "max", "bits", "dtype", "smallest_normal")),
    *((xp.iinfo(xp.int8), name) for name in ("max", "min", "bits", "dtype")),
]


@pytest.mark.parametrize(("owner", "name"), _READ_ONLY)
def test_attributes_are_read_only(owner: Any, name: str) -> None:
    kind, before = type(owner), getattr(owner, name)
    refusal = rf"^attribute '{name}' of 'torch\.{kind.__name__}' objects is not writable$"
    with pytest.raises(AttributeError, match=refusal):
        setattr(owner, name, 1)
    with pytest.raises(AttributeError, match=refusal):
        delattr(owner, name)
    assert getattr(owner, name) == before
    assert type(vars(kind)[name]).__name__ == "getset_descriptor"


def test_places_of_a_struct_sequence_are_read_only() -> None:
    found = xp.ones(2, 2).max(0)
    with pytest.raises(AttributeError, match=r"^readonly attribute$"):
        found.values = 1
    with pytest.raises(AttributeError, match=r"^readonly attribute$"):
        del found.values


@pytest.mark.parametrize("name", ["dtype", "device", "layout", "memory_format", "finfo", "iinfo"])
def test_classes_have_no_base_but_object(name: str) -> None:
    kind = getattr(xp, name)
    assert kind.__mro__ == (kind, object)


@pytest.mark.parametrize(
    ("text", "facts"), [("cuda:1", ("cuda", 1)), ("cuda", ("cuda",)), ("cpu:0", ("cpu", 0))]
)
def test_devices_are_made_of_a_type_and_an_index(text: str, facts: tuple[Any, ...]) -> None:
    assert xp.device(text).__reduce__() == (xp.device, facts)
    with pytest.raises(TypeError, match=r"^device\.__reduce__\(\) takes no arguments \(1 given\)$"):
        xp.device(text).__reduce__(1)


def test_devices_have_no_order_of_their_own() -> None:
    with pytest.raises(TypeError, match=r"^comparison not implemented$"):
        operator.lt(xp.device("cpu"), xp.device("cpu"))
    assert xp.device("cpu").__lt__(1) is NotImplemented


def test_limits_are_not_reduced() -> None:
    limits = xp.finfo(xp.float32)
    with pytest.raises(TypeError, match=r"^cannot pickle 'finfo' object$"):
        limits.__reduce__()
    with pytest.raises(TypeError, match=r"^cannot pickle 'torch\.finfo' object$"):
        limits.__reduce_ex__(2)


def test_a_class_below_another_is_the_programs() -> None:
    made: Any = type("Mine", (xp.Generator,), {"place": property(lambda self: 3)})
    assert made.__module__ == __name__
    assert made().place == 3
    assert type(vars(made)["place"]) is property


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_are_hashed_by_their_address(requires_grad: bool) -> None:
    tensor = xp.ones(2, requires_grad=requires_grad)
    assert hash(tensor) == id(tensor)


def test_tensors_are_reduced_by_their_own_method_alone() -> None:
    with pytest.raises(RuntimeError, match=r"^Cannot directly construct TensorBase; subclass it"):
        xp.ones(2).__reduce__()
