"""The slots of a tensor's properties as methods, which are handed to ``__torch_function__``."""

from __future__ import annotations

import importlib
import pickle
from types import GetSetDescriptorType, MethodWrapperType
from typing import Any

import pytest

SLOTS = ("__get__", "__set__", "__delete__")


@pytest.fixture(params=["mindtorch_v2", pytest.param("torch", marks=pytest.mark.torch)])
def xp(request: pytest.FixtureRequest) -> Any:
    if request.param == "torch":
        pytest.importorskip("torch")
    return importlib.import_module(request.param)


@pytest.mark.parametrize("slot", SLOTS)
def test_a_slot_is_a_method_wrapper_of_its_property(xp: Any, slot: str) -> None:
    shape = xp.Tensor.shape
    found = getattr(shape, slot)
    assert isinstance(found, MethodWrapperType)
    assert type(found).__name__ == "method-wrapper"
    assert (found.__name__, found.__qualname__) == (slot, f"getset_descriptor.{slot}")
    assert found.__objclass__ is GetSetDescriptorType
    assert found.__self__ is shape
    assert not hasattr(found, "__module__")
    assert repr(found) == f"<method-wrapper {slot!r} of getset_descriptor object at {id(shape):#x}>"


def test_slots_are_equal_to_themselves_alone(xp: Any) -> None:
    shape, data = xp.Tensor.shape, xp.Tensor.data
    assert shape.__get__ == xp.Tensor.shape.__get__
    assert hash(shape.__get__) == hash(xp.Tensor.shape.__get__)
    assert shape.__get__ != shape.__set__
    assert shape.__get__ != data.__get__


def test_a_slot_is_looked_up_again_by_who_copies_it(xp: Any) -> None:
    assert xp.Tensor.shape.__get__.__reduce__() == (getattr, (xp.Tensor.shape, "__get__"))
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps(xp.Tensor.shape.__get__)


def test_slots_do_what_the_property_does(xp: Any) -> None:
    x = xp.ones(2)
    assert xp.Tensor.shape.__get__(x) == xp.Tensor.shape.__get__(x, xp.Tensor) == (2,)
    xp.Tensor.data.__set__(x, xp.zeros(3))
    assert x.shape == (3,)
    with pytest.raises(AttributeError, match="is not writable"):
        xp.Tensor.shape.__delete__(x)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, " expected at least 1 argument, got 0"),
        ((None,), {}, "__get__(None, None) is invalid"),
        ((1,), {}, "descriptor 'shape' for 'torch._C.TensorBase' objects doesn't apply to a 'int'"),
        ((1, 2, 3), {}, " expected at most 2 arguments, got 3"),
        ((), {"x": 1}, "wrapper __get__() takes no keyword arguments"),
    ],
)
def test_other_arguments_are_refused_in_the_words_of_c(
    xp: Any, args: tuple[Any, ...], kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        xp.Tensor.shape.__get__(*args, **kwargs)
    assert str(caught.value).startswith(message)
