"""From the objects that a signature took to the values that C++ works with.

Mirrors the accessors of ``PythonArgs`` in ``torch/csrc/utils/python_arg_parser.h`` (``tensor``,
``scalar``, ``symintlist`` …).  As in :mod:`mindtorch_v2.binding.convert`, dtypes, layouts and
memory formats become the numbers that C++ keeps; a Dimname becomes its symbol's name.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import index
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.casts import uncastable
from mindtorch_v2.binding.convert import enum_value, symbolic, unpack_unsigned
from mindtorch_v2.binding.errors import PythonError, c_string
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python import parameter as types
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.parameter import Parameter, ParameterType
from mindtorch_v2.binding.python.seen import item_of
from mindtorch_v2.binding.python.signature import ABSENT, Signature
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.numpy_later import np
from mindtorch_v2.pybind.classes import pybind11_type
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, LAYOUTS, MEMORY_FORMATS, PYTHON_DTYPES
from mindtorch_v2.tensor.names import WILDCARD
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor

_FACTS: Final = profile.active().argument_parser
_OVERFLOW: Final[dict[str, Any]] = _FACTS["overflow"]
_OVERFLOW_REASON: Final[str] = _OVERFLOW["message"] + ("\n" if _OVERFLOW["with_stack"] else "")
"""The same inside another message; a c10::Error has its native stack between text and newline."""
_TENSORS_FILL_LISTS: Final[bool] = _FACTS["tensors_fill_lists"]

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1

_BUILTIN_ERRORS: Final = {"RuntimeError": RuntimeError, "ValueError": ValueError}


def unpack(signature: Signature, place: int, value: Any) -> Any:
    """The C++ value of the ``place``-th parameter; ``value`` is ABSENT for its default."""
    parameter = signature.parameters[place]
    if value is ABSENT:
        return default_value(parameter)
    lists = _LISTS.get(parameter.type)
    if lists is not None:
        return lists(signature, parameter, value)
    if parameter.type is types.TENSOR:
        return _tensor(place, value)
    return _SINGLE[parameter.type](value)


# --- integers ---------------------------------------------------------------------------------


def unpack_long(value: Any) -> int:
    """``toInt64``: of what has ``__index__``; RuntimeError or ValueError beyond 64 bits."""
    if isinstance(value, SymInt):
        return int(kept(value).node.guard_int("", 0))
    number = index(value)
    if _INT64_MIN <= number <= _INT64_MAX:
        return number
    raise _overflow()


def _device_index(value: Any) -> int:
    """A ``DeviceIndex``, of which 8 bits are kept."""
    return (unpack_long(value) + 128) % 256 - 128


def _overflow() -> Exception:
    return _BUILTIN_ERRORS[_OVERFLOW["type"]](_OVERFLOW["message"])


def kept(value: Any) -> Any:
    """A symbolic number as C++ keeps it; the errors of its node are Python's."""
    try:
        return symbolic(value)
    except PythonError as error:
        raise error.__context__ or error from None


def _symbolic_int(value: Any) -> Any:
    if isinstance(value, SymInt):
        return kept(value)
    if isinstance(value, Tensor) and checks.holds_one_integer(value):
        number = item_of(value)
        if isinstance(number, bool):
            raise RuntimeError(internal_assert("scalar.isIntegral( false)", "type_caster<SymInt>"))
        return int(number)
    if isinstance(value, type):  # one that overrides functions; the caster has no other word for it
        raise RuntimeError(uncastable(value).args[0])
    return unpack_long(value)


def _wide_int(value: Any) -> int:
    """An integer of a Scalar: signed, and else unsigned."""
    number = index(value)
    return number if _INT64_MIN <= number <= _INT64_MAX else unpack_unsigned(value)


# --- numbers ----------------------------------------------------------------------------------


def _scalar(value: Any) -> Any:
    if isinstance(value, Tensor):
        return item_of(value)
    if isinstance(value, bool):
        return value
    if checks.is_integer(value):
        return _wide_int(value)
    if isinstance(value, complex):
        return complex(value)
    return kept(value) if isinstance(value, (SymInt, SymFloat, SymBool)) else _double(value)


def _double(value: Any) -> float:
    if isinstance(value, SymFloat):
        return float(kept(value).node.guard_float("", 0))
    if isinstance(value, SymInt):
        return float(kept(value).node.guard_int("", 0))
    return float(value)


def _tensor(place: int, value: Any) -> Any:
    """A tensor, or a number in its place, which kernels in Python see as that number."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (SymInt, SymFloat, SymBool)):
        return value
    if checks.is_number(value):
        return _scalar(value)
    raise type_error(f"expected Tensor as argument {place}, but got {type_name(value)}")


# --- lists ------------------------------------------------------------------------------------


def _int_list(signature: Signature, parameter: Parameter, value: Any) -> list[Any]:
    if parameter.length and (checks.is_integer(value) or isinstance(value, SymInt)):
        return [_single(parameter)(value)] * parameter.length
    if not isinstance(value, (list, tuple)):
        return _no_list(parameter, value)
    items = enumerate(checks.stored(value))
    return [_element(signature, parameter, place, item) for place, item in items]


def _single(parameter: Parameter) -> Callable[[Any], Any]:
    return _symbolic_int if parameter.type is types.SYM_INT_LIST else unpack_long


def _no_list(parameter: Parameter, value: Any) -> list[Any]:
    """What was taken for one integer and is none to C++ that now wants a list.

    A release that does not look reads the number of elements off the object's memory: of a tensor
    or most other objects that is nought, of an array or what pybind11 made it is an address.
    """
    if not _TENSORS_FILL_LISTS:
        if isinstance(value, np.ndarray) or isinstance(type(value), pybind11_type):
            raise RuntimeError("std::bad_alloc")
        return []
    if isinstance(value, Tensor):
        return [int(item_of(value))] * parameter.length
    accessor = "symintlist" if parameter.type is types.SYM_INT_LIST else "intlist"
    raise RuntimeError(f"{internal_assert('PyList_Check(arg)', accessor)}expected tuple or list")


def _element(signature: Signature, parameter: Parameter, place: int, item: Any) -> Any:
    """One integer of a list.

    Where the list may be symbolic, the complaints of a symbolic element become part of torch's
    message; where it may not, they come through as they are.
    """
    symbolic = parameter.type is types.SYM_INT_LIST
    if isinstance(item, Tensor):
        if not checks.holds_one_integer(item):
            raise _refused_element(signature, parameter, place, _wrong_type(parameter, item))
        return _integer_of(item, symbolic)
    if isinstance(item, SymInt):
        if not symbolic:
            return unpack_long(item)
        try:
            return kept(item)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise _refused_element(signature, parameter, place, reason) from None
    try:
        number = index(item)
    except Exception:  # what() of a python_error is empty
        raise _refused_element(signature, parameter, place, _wrong_type(parameter, item)) from None
    if _INT64_MIN <= number <= _INT64_MAX:
        return number
    raise _refused_element(signature, parameter, place, _OVERFLOW_REASON)


def _integer_of(tensor: Tensor, symbolic: bool) -> int:
    number = item_of(tensor)
    if symbolic and isinstance(number, bool):
        raise RuntimeError(
            "Expected scalar.isIntegral( false) to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return int(number)


def _wrong_type(parameter: Parameter, item: Any) -> str:
    return f"type must be {parameter.type.shown},but got {type_name(item)}"


def _refused_element(
    signature: Signature, parameter: Parameter, place: int, reason: str
) -> TypeError:
    """``throw_intlist_exception``."""
    return type_error(
        f"{signature.name}(): argument '{parameter.name}' failed to unpack the object at pos "
        f'{place + 1} with error "{reason}"'
    )


def _float_list(signature: Signature, parameter: Parameter, value: Sequence[Any]) -> list[float]:
    numbers = []
    for place, item in enumerate(checks.stored(value)):
        try:
            numbers.append(_double(_no_text(item)))
        except Exception:
            raise type_error(
                f"{signature.name}(): argument '{parameter.name}' must be "
                f"{parameter.type.shown}, but found element of type {type_name(item)} at pos "
                f"{place + 1}"
            ) from None
    return numbers


def _no_text(value: Any) -> Any:
    """``float()`` reads text, ``PyFloat_AsDouble`` does not."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError
    return value


def _scalar_list(signature: Signature, parameter: Parameter, value: Sequence[Any]) -> list[Any]:
    return [_scalar(item) for item in checks.stored(value)]


def _tensor_list(signature: Signature, parameter: Parameter, value: Sequence[Any]) -> list[Any]:
    items = checks.stored(value)
    if parameter.length and len(items) != parameter.length:
        raise type_error(f"expected tuple of {parameter.length} elements but got {len(items)}")
    return list(items)


def _dimname_list(signature: Signature, parameter: Parameter, value: Any) -> list[str]:
    if parameter.length == 1 and checks.is_dimname(value):
        return [_dimname(value)]
    return dimnames(value)


def dimnames(value: Sequence[Any]) -> list[str]:
    """``parseDimnameList``: RuntimeError or TypeError for an element that is no name."""
    return [_dimname(item) for item in checks.stored(value)]


def _dimname(value: Any) -> str:
    """``THPDimname_parse``; RuntimeError for what is no identifier."""
    if value is None:
        return WILDCARD
    if not checks.is_string(value):
        raise type_error(f"expected None or string for Dimname but got {type_name(value)}")
    name = _string(value).partition("\0")[0]  # C++ makes its symbol of a C string
    if name == "*":
        return WILDCARD
    if not _is_identifier(name):
        message = (
            "Invalid name: a valid identifier contains only digits, alphabetical characters, "
            f"and/or underscore and starts with a non-digit. got: '{name}'."
        )
        raise RuntimeError(c_string(message))
    return f"dimname::{name}"


def _is_identifier(name: str) -> bool:
    return name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()


# --- torch's constants ------------------------------------------------------------------------


def _dtype(value: Any) -> int:
    return enum_value(PYTHON_DTYPES.get(value, value))


def device_of(value: Any) -> Device:
    """A device, its text, or the index of an accelerator; RuntimeError for those there are not."""
    if isinstance(value, Device):
        return value
    if checks.is_integer(value):
        if unpack_long(value) < 0:
            raise RuntimeError("Device index must not be negative")
        if _FACTS["accelerator"] is None:
            raise RuntimeError(_FACTS["no_accelerator"])
        return Device(f"{_FACTS['accelerator']}:{_device_index(value)}")
    if isinstance(value, SymInt):
        return device_of(unpack_long(value))
    try:
        return Device(_string(value))
    except RuntimeError as error:
        raise RuntimeError(c_string(str(error))) from None


def _string(value: Any) -> str:
    """``THPUtils_unpackString``: bytes as they are, text in UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):  # a class that overrides functions, for one
        raise RuntimeError("unpackString: expected bytes or unicode object")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RuntimeError("error unpacking string as utf-8") from None
    return str(value)


def _storage(value: Any) -> UntypedStorage:
    """The bytes; the elements' type is for the caller to look at."""
    untyped = value if isinstance(value, UntypedStorage) else value._untyped_storage
    if not isinstance(untyped, UntypedStorage):
        raise RuntimeError(f"not a storage '{type_name(value)}'")
    return untyped


def _same(value: Any) -> Any:
    return value


_SINGLE: Final[Mapping[ParameterType, Callable[[Any], Any]]] = {
    types.SCALAR: _scalar,
    types.COMPLEX: complex,
    types.DOUBLE: _double,
    types.INT64: unpack_long,
    types.DEVICE_INDEX: _device_index,
    types.SYM_INT: _symbolic_int,
    types.DIMNAME: _dimname,
    types.GENERATOR: _same,
    types.BOOL: _same,
    types.STORAGE: _storage,
    types.PYOBJECT: _same,
    types.SCALARTYPE: _dtype,
    types.LAYOUT: enum_value,
    types.MEMORY_FORMAT: enum_value,
    types.QSCHEME: _same,
    types.DEVICE: device_of,
    types.STRING: _string,
    types.STREAM: _same,
    types.DISPATCH_KEY_SET: _same,
}

_LISTS: Final[Mapping[ParameterType, Callable[[Signature, Parameter, Any], Any]]] = {
    types.INT_LIST: _int_list,
    types.SYM_INT_LIST: _int_list,
    types.FLOAT_LIST: _float_list,
    types.SCALAR_LIST: _scalar_list,
    types.TENSOR_LIST: _tensor_list,
    types.DIMNAME_LIST: _dimname_list,
}

# --- defaults ---------------------------------------------------------------------------------


def default_value(parameter: Parameter) -> Any:
    """What a parameter has that was not given, or given as None."""
    text = parameter.default
    if text is None or text == "None":
        return [] if parameter.type in _LISTS and not parameter.nullable else None
    value = _read(parameter)
    return list(value) if isinstance(value, list) else value


@cache
def _read(parameter: Parameter) -> Any:
    """The value that its default is the text of."""
    assert parameter.default is not None
    return _DEFAULTS[parameter.type](parameter.default, parameter.length)


def _int_default(text: str, length: int) -> int:
    """``atol``: of what is no number, 0."""
    found = re.match(r"-?\d+", text)
    return int(found[0]) if found else 0


def _int_list_default(text: str, length: int) -> list[int]:
    if not text.startswith("{"):
        return [int(text)] * length
    return [int(item) for item in text[1:-1].split(",") if item]


def _number_default(text: str, length: int) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _constant_default(text: str, length: int) -> int:
    return enum_value({**DTYPES, **LAYOUTS}[text.removeprefix("torch.")])


def _contiguous(text: str, length: int) -> int:
    return enum_value(MEMORY_FORMATS["contiguous_format"])


_DEFAULTS: Final[Mapping[ParameterType, Callable[[str, int], Any]]] = {
    types.SCALAR: _number_default,
    types.DOUBLE: lambda text, length: float(text),
    types.INT64: _int_default,
    types.DEVICE_INDEX: _int_default,
    types.SYM_INT: _int_default,
    types.BOOL: lambda text, length: text in ("True", "true"),
    types.INT_LIST: _int_list_default,
    types.SYM_INT_LIST: _int_list_default,
    types.SCALARTYPE: _constant_default,
    types.LAYOUT: _constant_default,
    types.MEMORY_FORMAT: _contiguous,
    types.STRING: lambda text, length: literal_eval(text),
}
