"""Casts of Python values to C++ types: pybind11's part of the conversion.

Mirrors the type casters of ``pybind11/cast.h``, ``complex.h`` and ``stl.h``, always with
``convert=true``.  A cast answers the value as Python shows the C++ one, or raises CastError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import getitem, index
from types import GeneratorType, MappingProxyType
from typing import Any, Final, TypeVar

from mindtorch_v2 import profile
from mindtorch_v2.binding.errors import CastError, PythonError
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.numpy_later import np
from mindtorch_v2.pybind.cast import NoMatch, load_bool, load_string
from mindtorch_v2.tensor import views
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, memory_format, qscheme
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.scalars import has_slot
from mindtorch_v2.tensor.stream import Stream
from mindtorch_v2.tensor.tensor import Tensor

Cast = Callable[[Any], Any]

INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1

_TAKES_ITERABLES: Final[bool] = profile.active().conversions["vectors_from_iterables"]
"""Whether pybind11 iterates; before, it asked sequences for one item after the other."""
_ITERABLES: Final[tuple[type, ...]] = (
    GeneratorType,
    set,
    frozenset,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    map,
    zip,
)
_NO_SEQUENCES: Final = (dict, MappingProxyType, Tensor)
"""What has ``__getitem__`` and is no sequence to C, as NumPy's numbers are none."""


def uncastable(value: object) -> CastError:
    return CastError(
        f"Unable to cast Python instance of type {type(value)} to C++ type '?' "
        "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


def to_int(value: Any) -> int:
    """``int64_t``: what has ``__index__``, else ``__int__``; no float, no text."""
    if type(value) is int and INT64_MIN <= value <= INT64_MAX:
        return value
    if not isinstance(value, float):
        for convert in (index, _number_to_int):
            try:
                number = convert(value)
            except Exception:  # pybind11 clears whatever it was
                continue
            if INT64_MIN <= number <= INT64_MAX:
                return int(number)
    raise uncastable(value)


def _number_to_int(value: Any) -> int:
    """``PyNumber_Long`` of what ``PyNumber_Check`` takes: ``__trunc__`` alone makes no number."""
    if not any(hasattr(type(value), name) for name in ("__index__", "__int__", "__float__")):
        raise TypeError
    return int(value)


def to_float(value: Any) -> float:
    """``double``: what has ``__float__`` or ``__index__``.

    pybind11 asks a second time after a refusal, which shows where asking has effects: a tensor
    that requires grad warns each time.
    """
    if type(value) is float:
        return value
    try:
        _require_number(value)
        with suppress(Exception):
            return float(value)
        return float(value)
    except Exception:
        raise uncastable(value) from None


def to_complex(value: Any) -> complex:
    """``std::complex<double>``."""
    try:
        _require_number(value)
        return complex(value)
    except Exception:
        raise uncastable(value) from None


def _require_number(value: object) -> None:
    """Python's constructors read text too, C's conversions do not."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError


def to_bool(value: Any) -> bool:
    """``bool``: None is false; otherwise what has a truth value of its own."""
    try:
        return load_bool(value)
    except NoMatch:
        raise uncastable(value) from None


def to_string(value: Any) -> str:
    """``std::string``: text that has a UTF-8 form, or bytes."""
    try:
        return load_string(value)
    except NoMatch:
        raise uncastable(value) from None


def to_tensor(value: Any) -> Tensor:
    """``at::Tensor``: a tensor, nothing else."""
    if isinstance(value, Tensor):
        return value
    raise uncastable(value)


def vector(element: Cast) -> Cast:
    """``std::vector``: every element of a sequence, or the whole is refused."""

    def cast(value: Any) -> list[Any]:
        items = _elements(value)
        try:
            return [element(item) for item in items]
        except CastError:
            raise uncastable(value) from None

    return cast


def _elements(value: Any) -> Iterable[Any]:
    if type(value) is list or type(value) is tuple:
        return value
    if _is_sequence(value):
        size = _in_python(len, value)
        if _TAKES_ITERABLES:
            return iterate(value)
        return (_in_python(partial(getitem, value), at) for at in range(size))
    if _TAKES_ITERABLES and isinstance(value, _ITERABLES):
        return tuple(iterate(value))
    raise uncastable(value)


def _is_sequence(value: object) -> bool:
    """``PySequence_Check``, less text."""
    if isinstance(value, (str, bytes, *_NO_SEQUENCES, np.generic)):
        return False
    return has_slot(value, "__getitem__")


def iterate(value: Any) -> Iterable[Any]:
    """``for (auto element : value)``; PythonError for what is not iterable.

    A tensor's rows are what its ``unbind`` answers, a call of its own; where calls are only bound,
    views that nobody else sees.
    """
    if is_stopping() and isinstance(value, Tensor) and value._sizes:
        return views.iterate(value)
    return _iterated(iter, value)


def to_tuple(value: Any) -> tuple[Any, ...]:
    """``py::tuple``: of whatever can be iterated."""
    return tuple(iterate(value))


def to_dict(value: Any) -> dict[Any, Any]:
    """``py::dict``: what ``dict()`` makes of it."""
    return value if isinstance(value, dict) else _iterated(dict, value)


def text(value: object) -> str:
    """``py::str`` in a C++ message: it needs a UTF-8 form."""
    return to_string(_in_python(str, value))


_Made = TypeVar("_Made")


def _iterated(make: Callable[[Any], _Made], value: Any) -> _Made:
    if isinstance(value, _STATIC_TYPES):
        cls = type(value)
        named = f"{cls.__module__}.{cls.__qualname__}"
        raise PythonError(f"TypeError: '{named}' object is not iterable")
    return _in_python(make, value)


def _in_python(make: Callable[[Any], _Made], value: Any) -> _Made:
    """What Python makes of a value; its complaint becomes a PythonError."""
    try:
        return make(value)
    except Exception as error:
        raise PythonError(f"{type(error).__name__}: {error}") from None


_STATIC_TYPES: Final = (DType, Layout, memory_format, qscheme, Device, Generator, Stream)
"""torch's types made in C, which CPython names with their module."""
