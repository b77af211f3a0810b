"""Python numbers to elements and back, one at a time, with C++'s refusals.

Mirrors ``torch/csrc/utils/python_scalars.h``, ``python_numbers.h`` and the ``checked_convert`` of
``c10/util/TypeCast.h``.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Final

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.dtype import COMPLEX_HALVES, DTYPES, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.low_precision import FLOAT8
from mindtorch_v2.tensor.support import C_TYPES, ELEMENT_TYPES, FINFO, HABITS, check_dtype, worded

HEAP_TYPE: Final = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``."""
_MADE_IN_C: Final = tuple(f"{DType.__module__}{part}" for part in ("", "._C", ".storage"))
"""Modules whose classes stand for types that torch makes in C ..."""
_MADE_IN_PYTHON: Final = ("Tensor", "SymInt", "SymFloat", "SymBool")
"""... but for these."""
_stored_name: Final = vars(type)["__name__"]

_BITS: Final = {
    DTYPES[f"{sign}int{bits}"]: (bits, sign == "")
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
    if f"{sign}int{bits}" in DTYPES
}
_FINITE: Final = {
    dtype: (limits["min"], limits["max"])
    for dtype, limits in FINFO.items()
    if isinstance(limits["max"], float)
}
"""The least and the largest finite value; a complex dtype has those of its parts."""
for _half in COMPLEX_HALVES:
    _FINITE[_half] = _FINITE[REAL_OF_COMPLEX[_half]]
_WITHOUT_INFINITY: Final = {
    DTYPES[name]
    for name in ("float8_e8m0fnu", *FLOAT8)
    if name in DTYPES and getattr(FLOAT8.get(name), "specials", "") != "ieee"
}
_BY_WAY_OF_DOUBLE: Final = (
    frozenset(
        DTYPES[name]
        for name in ("float16", "bfloat16", "float8_e8m0fnu", *FLOAT8)
        if name in DTYPES
    )
    if HABITS["a scalar too large for a half becomes infinite"]
    else frozenset()
)
"""Reduced floats, to which a release converts numbers without looking at their range."""
DTYPES_OF_NUMBERS: Final = {
    bool: DTYPES["bool"],
    int: DTYPES["int64"],
    float: DTYPES["float64"],
    complex: DTYPES["complex128"],
}
"""That of the tensor which ``scalar_to_tensor`` makes of a number."""
_UINT64: Final = DTYPES["uint64"]
_BOOL: Final = DTYPES["bool"]


def type_name(value: object) -> str:
    """``tp_name``: what C++ calls the type of a Python object.

    A type made in C has its module's name before it, as those have here that torch makes in C.
    """
    cls = type(value)
    name: str = _stored_name.__get__(cls)
    if "." in name:  # of a class that has a longer name for C
        return name
    if cls.__module__ in _MADE_IN_C:
        return name if name in _MADE_IN_PYTHON else f"{cls.__module__}.{name}"
    if cls.__flags__ & HEAP_TYPE or cls.__module__ == "builtins":
        return name
    return f"{cls.__module__}.{cls.__qualname__}"


def has_slot(value: object, method: str) -> bool:
    """Whether the type of a value has a method, rather than what the type itself is an instance of:
    the class of an enum can be subscripted, its members cannot."""
    return any(method in vars(cls) for cls in type(value).__mro__)


def unpack_long(value: Any) -> int:
    """``THPUtils_unpackLong``: a 64-bit integer of whatever has ``__index__``."""
    number = operator.index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise worded("unpack an int")
    return number


def unpack_byte(value: Any) -> int:
    return unpack_long(value) & 0xFF


def unpack_double(value: Any) -> float:
    """``THPUtils_unpackDouble``: what ``float()`` takes, but for strings."""
    if isinstance(value, float):
        return value
    if not (hasattr(type(value), "__float__") or hasattr(type(value), "__index__")):
        raise TypeError(f"must be real number, not {type_name(value)}")
    return float(value)


def unpack_complex(value: Any) -> complex:
    """``THPUtils_unpackComplexDouble``."""
    if isinstance(value, complex):
        return complex(value)
    if hasattr(type(value), "__complex__"):
        return complex(value)
    return complex(unpack_double(value))


def unpack_bool(value: Any) -> bool:
    """``THPUtils_unpackNumberAsBool``."""
    if isinstance(value, (float, complex)):
        return value != 0
    if isinstance(value, np.bool_) and HABITS["a bool of NumPy is a number"]:
        return bool(value)
    return operator.index(value) != 0


def _unpack_integral(value: Any, dtype: DType) -> int:
    """``unpackIntegral``: floats are cut, negative numbers wrap in unsigned types."""
    bits, signed = _BITS[dtype]
    highest = (1 << bits - 1 if signed else 1 << bits) - 1
    lowest = -highest - 1 if signed else 0
    if isinstance(value, float):
        if not _is_within(value, lowest, highest):
            raise _overflow(dtype)
        return _wrapped(math.trunc(value), highest, signed=signed)
    number = unpack_long(value)
    if not (lowest if signed else -highest) <= number <= highest:
        raise _overflow(dtype)
    return number if signed else number & highest


def _is_within(value: int | float, lowest: int, highest: int) -> bool:
    """Whether a number fits between limits; NaN never does.

    A float may be above the largest integer by less than one, where the release cuts it first.
    """
    if not isinstance(value, float):
        return lowest <= value <= highest
    if HABITS["a float is cut before its range is looked at"] and highest < _LARGEST_DOUBLE:
        return lowest <= value < highest + 1
    if HABITS["the double beside the largest integer is in range"]:
        return float(lowest) <= value <= float(highest)
    return lowest <= value <= highest


_LARGEST_DOUBLE: Final = 1 << 53
"""Integers up to here are doubles; a larger limit is compared with as the double beside it."""


def _wrapped(number: int, highest: int, *, signed: bool) -> int:
    """What a processor makes of a double that is just beyond the limit."""
    if not signed:
        return number & highest
    return number if number <= highest else -highest - 1


def _overflow(dtype: DType) -> RuntimeError:
    name = repr(dtype).removeprefix("torch.")
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def unpack_scalar(value: Any, dtype: DType) -> int | float | complex | bool:
    """``store_scalar``: the Python number that an element of ``dtype`` is made of."""
    check_dtype("tensor", dtype)
    if dtype is _UINT64:
        return _unpack_uint64(value)
    if dtype in _BITS:
        return _unpack_integral(value, dtype)
    if dtype is _BOOL:
        return unpack_bool(value)
    return unpack_complex(value) if dtype.is_complex else unpack_double(value)


def is_integral(dtype: DType) -> bool:
    """``isIntegralType``, bool included."""
    return dtype in _BITS or dtype is _BOOL


def _unpack_uint64(value: Any) -> int:
    """``THPUtils_unpackUInt64``, which asks CPython and takes integers alone."""
    if not isinstance(value, int):
        raise TypeError("an integer is required")
    if value < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if value >= 1 << 64:
        raise OverflowError("int too big to convert")
    return int(value)


def scalar_to(value: Any, dtype: DType, c_type: str | None = None) -> Any:
    """``Scalar::to``: a Python number as an element, RuntimeError if it is out of range.

    ``c_type`` is what the message calls the type, if not by its usual name.
    """
    try:
        return _scalar_to(value, dtype)
    except _OutOfRangeError:
        name = c_type or C_TYPES[dtype]
        raise RuntimeError(f"value cannot be converted to type {name} without overflow") from None


class _OutOfRangeError(Exception):
    """A number is none of the values of a dtype."""


def _scalar_to(value: Any, dtype: DType) -> Any:
    if dtype is _BOOL:
        return value != 0
    if isinstance(value, complex):
        return _of_complex(value, dtype)
    if dtype in _BITS:
        return _integral_scalar(value, dtype)
    if _is_out_of_range(value, dtype):
        raise _OutOfRangeError
    return value


def _of_complex(value: complex, dtype: DType) -> Any:
    """An imaginary part of nought has to be in range, too, where it counts: e8m0 has no nought."""
    if not dtype.is_complex and value.imag:
        raise _OutOfRangeError
    if dtype in _BITS:
        return _integral_scalar(value.real, dtype)
    if _is_out_of_range(value.real, dtype) or _is_out_of_range(value.imag, dtype):
        raise _OutOfRangeError
    return value if dtype.is_complex else value.real


def _is_out_of_range(value: int | float, dtype: DType) -> bool:
    """``c10::overflows``: NaN never does, and infinity only where the type has none."""
    least, largest = _FINITE.get(dtype, (-math.inf, math.inf))
    if isinstance(value, int):
        return abs(value) > largest
    if math.isinf(value):
        return dtype in _WITHOUT_INFINITY
    return value < least or value > largest


def _integral_scalar(value: int | float, dtype: DType) -> int:
    bits, signed = _BITS[dtype]
    highest = (1 << bits - 1 if signed else 1 << bits) - 1
    lowest = -highest - 1 if signed else 0
    if not isinstance(value, float) and not signed:
        lowest = -highest  # negative integers wrap
    if not _is_within(value, lowest, highest):
        raise _OutOfRangeError
    return _wrapped(math.trunc(value), highest, signed=signed)


def pack_numbers(numbers: list[Any], dtype: DType) -> np.ndarray[Any, np.dtype[Any]]:
    """The bits of elements, from what :func:`unpack_scalar` answered for each."""
    elements = elements_of(dtype)
    if dtype in _BITS or dtype is _BOOL:
        return np.array(numbers, elements.raw)
    wide = np.array(numbers, np.complex128 if dtype.is_complex else np.float64)
    return elements.encode(wide)


def scalar_of_many(number: Any, dtype: DType) -> Any:
    """What ``fill_kernel`` stores: complex halves by way of complex floats."""
    return scalar_to(number, DTYPES["complex64"] if dtype in COMPLEX_HALVES else dtype)


def scalar_of_one(number: Any, dtype: DType) -> Any:
    """``scalar_fill``: what the one element of a tensor is filled with.

    RuntimeError for a number out of range.
    """
    if dtype in _BY_WAY_OF_DOUBLE:
        return scalar_to(number, DTYPES["float64"])
    return scalar_to(number, dtype, ELEMENT_TYPES[dtype])
