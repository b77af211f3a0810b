"""Bound functions and methods pass for CPython's own, for who asks in the usual ways."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import types
from typing import Any

import pytest

import mindtorch_v2 as xp

X = xp.ones(1)
FUNCTIONS = (xp.add, xp._C._nn.linear, xp.is_grad_enabled, xp._C._set_grad_enabled)
METHODS = (X.add, X.__add__)  # type: ignore[attr-defined]
DESCRIPTORS = (xp.Tensor.add, xp.Tensor.__add__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS])
def test_they_are_builtin(function: Any) -> None:
    assert isinstance(function, types.BuiltinFunctionType)
    assert inspect.isbuiltin(function)
    assert inspect.isroutine(function)
    with pytest.raises(ValueError, match="no signature found for builtin <built-in"):
        inspect.signature(function)


@pytest.mark.parametrize("method", DESCRIPTORS)
def test_methods_of_the_class_are_descriptors(method: Any) -> None:
    assert isinstance(method, types.MethodDescriptorType)
    assert inspect.ismethoddescriptor(method)
    assert method.__objclass__ is xp._C.TensorBase
    with pytest.raises(AttributeError, match="'method_descriptor' object has no attribute"):
        _ = method.__module__


def test_slots_and_properties_too() -> None:
    assert isinstance(xp.Tensor.__getitem__, types.WrapperDescriptorType)
    assert inspect.isgetsetdescriptor(xp.Tensor.shape)


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS, *DESCRIPTORS])
def test_they_have_no_dict(function: Any) -> None:
    assert not hasattr(function, "__dict__")

    @functools.wraps(function)
    def wrapped() -> None: ...

    assert vars(wrapped) == {"__wrapped__": function}


def test_whose_they_are() -> None:
    assert (xp.add.__self__, xp.add.__module__) == (None, "torch")
    assert xp._C._nn.linear.__self__ is xp._C._nn
    assert xp.is_grad_enabled.__self__ is xp._C  # type: ignore[attr-defined]
    assert (METHODS[0].__self__ is X, METHODS[0].__module__) == (True, None)
    assert type(METHODS[0]).__module__ == type(DESCRIPTORS[0]).__module__ == "builtins"


@pytest.mark.parametrize("function", [*FUNCTIONS, *DESCRIPTORS])
def test_they_are_copied_and_pickled_by_name(function: Any) -> None:
    assert copy.copy(function) is function
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("operator", [xp.ops.aten.add, xp.ops.aten.add.Tensor])
def test_an_operator_takes_what_its_call_takes(operator: Any) -> None:
    assert str(inspect.signature(operator)) == "(*args, **kwargs)"
    assert "args" not in inspect.signature(type(operator)).parameters
