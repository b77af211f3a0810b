"""The schema type of a Python value, for arguments declared ``Any``.

Mirrors ``tryToInferType`` in ``torch/csrc/jit/python/pybind_utils.h``, without enumerations,
script classes and modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding import casts
from mindtorch_v2.binding.errors import c_string
from mindtorch_v2.schema.types import (
    BoolType,
    ComplexType,
    DeviceObjType,
    DictType,
    FloatType,
    GeneratorType,
    IntType,
    ListType,
    NoneType,
    StreamObjType,
    StringType,
    TensorType,
    TupleType,
    Type,
    unify,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, qscheme
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.stream import Stream
from mindtorch_v2.tensor.tensor import Tensor

_FACTS: Final = profile.active().conversions

_SIMPLE: Final[tuple[tuple[type | tuple[type, ...], type[Type]], ...]] = (
    (Tensor, TensorType),
    (type(None), NoneType),
    (bool, BoolType),
    (int, IntType),
    (float, FloatType),
    ((bytes, str) if _FACTS["bytes_are_strings"] else str, StringType),
    (Device, DeviceObjType),
    (Generator, GeneratorType),
    (Stream, StreamObjType),
    ((DType, qscheme, Layout), IntType),
)
"""Python's classes and their types, in the order in which torch asks."""


class _NoTypeError(Exception):
    """No type; the argument is torch's reason."""


def convert_inferred(value: Any, converter: Callable[[Type], Callable[[Any], Any]]) -> Any:
    """``toTypeInferredIValue``: RuntimeError for a value that has no type."""
    try:
        inferred = _infer(value)
    except _NoTypeError as reason:
        message = f"Tracer cannot infer type of {casts.text(value)}\n:{reason}"
        raise RuntimeError(c_string(message)) from None
    return converter(inferred)(value)


def _infer(value: Any) -> Type:
    for classes, simple in _SIMPLE:
        if isinstance(value, classes):
            return simple()
    if type(value) is complex:
        return ComplexType()
    if isinstance(value, tuple):
        return TupleType(*map(_infer, value))
    if isinstance(value, dict):
        return _infer_dict(value)
    if isinstance(value, list):
        return _infer_list(value)
    raise _NoTypeError(f"{_FACTS['no_type']}{type(value).__name__}.")


def _infer_dict(value: dict[Any, Any]) -> Type:
    if not value:
        raise _NoTypeError("Dictionary inputs must have entries")
    found: list[Type | None] = [None, None]
    for entry in value.items():
        for side, item in enumerate(entry):
            found[side] = _unified(
                found[side],
                _infer(item),
                "Dictionary inputs to traced functions must have consistent type",
            )
    key, element = found
    assert key is not None
    assert element is not None
    return DictType(key, element)


def _infer_list(value: list[Any]) -> Type:
    if not value:
        raise _NoTypeError("List trace inputs must have elements")
    found: Type | None = None
    for item in value:
        try:
            inferred = _infer(item)
        except _NoTypeError as reason:
            raise _NoTypeError(f"Could not infer type of list element: {reason}") from None
        found = _unified(
            found, inferred, "List inputs to traced functions must have consistent element type"
        )
    assert found is not None
    return ListType(found)


def _unified(found: Type | None, other: Type, complaint: str) -> Type:
    if found is None:
        return other
    unified = unify(found, other)
    if unified is None:
        raise _NoTypeError(f"{complaint}. Found {found.repr_text} and {other.repr_text}")
    return unified
