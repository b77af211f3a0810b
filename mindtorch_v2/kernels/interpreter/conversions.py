"""Operators that make one value of another: ``aten::Int.str``, ``aten::Complex.int_Tensor`` …

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.values import Operation, float32, int32, int64, no_int, not_a
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_BOOL: Final = DTYPES["bool"]
_DOUBLE: Final = DTYPES["float64"]
_INT: Final = DTYPES["int32"]
_LONG: Final = DTYPES["int64"]

_ITEM: Final = OperatorHandle("aten::item")
_IS_NONZERO: Final = OperatorHandle("aten::is_nonzero")

_WHOLE: Final = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_DECIMAL: Final = re.compile(
    r"[ \t\n\v\f\r]*([+-]?(?:infinity|inf|nan|0x[0-9a-f]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?:e[+-]?[0-9]+)?))",
    re.IGNORECASE,
)


# --- of texts -------------------------------------------------------------------------------------


def _no_number(function: str) -> Exception:
    """``std::invalid_argument``, of which releases make one exception of Python's or another."""
    is_value = HABITS["a text that is no number is a ValueError"]
    return ValueError(function) if is_value else RuntimeError(function)


def _int_of_text(text: str) -> int:
    """``std::stoll``: of the digits that the text begins with, which have to be all of it."""
    found = _WHOLE.match(text)
    if found is None:
        raise _no_number("stoll")
    value = int(found[1])
    if value != int64(value):
        raise IndexError("stoll")
    if found.end() != len(text):
        raise RuntimeError(f"invalid literal for int() with base 10: '{text}'")
    return value


def _float_of_text(text: str) -> float:
    """``std::stod``."""
    found = _DECIMAL.match(text)
    if found is None:
        raise _no_number("stod")
    value = float(int(found[1], 16)) if "x" in found[1].lower() else float(found[1])
    if value in (float("inf"), float("-inf")) and "inf" not in found[1].lower():
        raise IndexError("stod")
    if found.end() != len(text):
        raise RuntimeError(f"could not convert string to float: '{text}'")
    return value


# --- of tensors -----------------------------------------------------------------------------------


def _double(value: Any) -> float:
    """A number, or the one element of a tensor, as a double."""
    if value is None:
        raise RuntimeError("a Tensor with 0 elements cannot be converted to Scalar")
    return float(scalar_to(_ITEM(value), _DOUBLE) if isinstance(value, Tensor) else value)


def _check_is_number(tensor: Tensor, *, integral: bool = False) -> None:
    """``checkImplicitTensorToNum``."""
    if tensor.requires_grad:
        raise RuntimeError("Cannot input a tensor that requires grad as a scalar argument")
    if tensor._dim():
        raise RuntimeError("Cannot input a tensor of dimension other than 0 as a scalar argument")
    if integral and (not is_integral(tensor._dtype) or tensor._dtype is _BOOL):
        raise RuntimeError(
            f"Cannot input a tensor of type {CPP_NAMES[tensor._dtype]} as an integral argument"
        )


def _int_implicit(a: Tensor) -> int:
    _check_is_number(a, integral=True)
    return int(scalar_to(_ITEM(a), _LONG))


def _float_implicit(a: Tensor) -> float:
    _check_is_number(a)
    return float(scalar_to(_ITEM(a), _DOUBLE))


def _complex_implicit(a: Tensor) -> complex:
    _check_is_number(a)
    return complex(_ITEM(a))


def _scalar_implicit(a: Tensor) -> Any:
    _check_is_number(a)
    return _ITEM(a)


def _bool_of_tensor(a: Tensor) -> bool:
    return bool(_IS_NONZERO(a))


def _int_of_tensor(a: Tensor) -> int:
    return int(scalar_to(_ITEM(a), _LONG))


def _complex_of_tensors(a: Tensor, b: Tensor) -> complex:
    imaginary = _double(b)  # of two that refuse it is the second
    return complex(_double(a), imaginary)


# --- of numbers -----------------------------------------------------------------------------------


def _int_of_double(a: float) -> int:
    """What the processor makes of a double that no integer is: the least integer."""
    return int(a) if -(2.0**63) <= a < 2.0**63 else -(2**63)


def _int_of_number(a: Any) -> int:
    return a if type(a) is int else int(scalar_to(a, _INT, "int"))


def _float_of_number(a: Any) -> float:
    if isinstance(a, bool):
        raise no_int()
    return a.real if isinstance(a, complex) else float(a)


def _float_of_integer(a: int) -> float:
    """By way of C++'s ``float``."""
    return float32(float(a))


def _complex_of_number(a: Any) -> complex:
    if isinstance(a, bool):
        raise no_int()
    return complex(a)


def _part(kind: str) -> Callable[[Any], float]:
    """A part of a complex number: an integer is C++'s ``int``."""
    return (lambda value: float(int32(int(value)))) if kind == "int" else _double


def _complex_of(first: str, second: str) -> Operation:
    real, imaginary = _part(first), _part(second)

    def run(x: Any, y: Any) -> complex:
        return complex(real(x), imaginary(y))

    return run


_PARTS: Final = ("bool", "int", "float", "Tensor")


# --- devices --------------------------------------------------------------------------------------


def _device(a: str) -> Device:
    return Device(a)


def _device_with_index(type: str, index: int) -> NoReturn:
    """It takes its operands from the stack the wrong way round."""
    raise not_a("String", index)


def _index_of_device(device: Device) -> int | None:
    return device.index


def _type_of_device(device: Device) -> str:
    return device.type


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::Bool.Tensor": _bool_of_tensor,
    "aten::Bool.float": bool,
    "aten::Bool.int": bool,
    **{
        f"aten::Complex.{first}_{second}": _complex_of(first, second)
        for first in _PARTS
        for second in _PARTS
    },
    "aten::Complex.Scalar": _complex_of_number,
    "aten::Complex.Tensor_Tensor": _complex_of_tensors,
    "aten::ComplexImplicit": _complex_implicit,
    "aten::Float.Scalar": _float_of_number,
    "aten::Float.Tensor": _double,
    "aten::Float.bool": _float_of_integer,
    "aten::Float.int": _float_of_integer,
    "aten::Float.str": _float_of_text,
    "aten::FloatImplicit": _float_implicit,
    "aten::Int.Scalar": _int_of_number,
    "aten::Int.Tensor": _int_of_tensor,
    "aten::Int.bool": int,
    "aten::Int.float": _int_of_double,
    "aten::Int.str": _int_of_text,
    "aten::IntImplicit": _int_implicit,
    "aten::ScalarImplicit": _scalar_implicit,
    "aten::device": _device,
    "aten::device.with_index": _device_with_index,
    "prim::index": _index_of_device,
    "prim::type": _type_of_device,
}
