"""Numbers as C++ has them: integers of 64 bits, doubles, complex numbers of two of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, Final

import numpy as np

from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

Operation = Callable[..., Any]

NUMBERS: Final = frozenset(("int", "float", "complex", "number"))
"""The types whose values are numbers, as schemas print them; ``number`` is any of the others."""


_TAGS: Final[dict[type, str]] = {
    NoneType: "None",
    bool: "Bool",
    complex: "ComplexDouble",
    dict: "GenericDict",
    float: "Double",
    int: "Int",
    list: "GenericList",
    str: "String",
    tuple: "Tuple",
}


def int64(value: int) -> int:
    """An integer whose upper bits are lost."""
    return (value + 2**63) % 2**64 - 2**63


def int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def float32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def normalized(index: int, size: int) -> int:
    """``normalizeIndex``: counted from the end where it is negative."""
    return index + size if index < 0 else index


def cast(value: Any, type: str) -> Any:
    """``IValue::toInt``, ``toDouble`` or ``toComplexDouble``; a ``number`` stays what it is."""
    if type == "int":
        return int(value)
    if type == "float":
        return float(value)
    return complex(value) if type == "complex" else value


def kinds(values: Sequence[Any]) -> str:
    """What the operands are computed in: ``complex`` if one is, or ``float`` if one is.

    RuntimeError for a bool, which in C++ is no number.
    """
    for value in values:
        if isinstance(value, bool):
            raise no_int()
    if any(isinstance(value, complex) for value in values):
        return "complex"
    return "float" if any(isinstance(value, float) for value in values) else "int"


def library(function: Operation, ufunc: Any) -> Operation:
    """A function of the C library, which answers where Python's raises: there NumPy is asked."""

    def run(*values: float) -> float:
        try:
            found: float = function(*values)
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                found = ufunc(*map(np.float64, values)).item()
        return found

    return run


def check_in_range(value: float) -> None:
    """``checkDoubleInRange``: RuntimeError for a double that is no integer of 64 bits."""
    if not math.isfinite(value) or not -(2.0**63) <= value <= 2.0**63:
        raise RuntimeError(f"Cannot convert float {value:f} to integer")


def kind_of(value: Any) -> str:
    """``IValue::tagKind``."""
    if isinstance(value, Tensor):
        return "Tensor"
    return _TAGS.get(type(value), type(value).__name__)


def not_a(kind: str, value: Any) -> RuntimeError:
    """What ``IValue::toTuple`` and its like say of a value of another kind."""
    condition = internal_assert(f"is{kind}()", f"IValue.to{kind}")
    return RuntimeError(f"{condition}Expected {kind} but got {kind_of(value)}")


def no_int() -> RuntimeError:
    """What ``IValue::toInt`` says of a value that is none."""
    return RuntimeError(internal_assert("0", "toInt") + "expected int")
