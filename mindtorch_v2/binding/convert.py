"""Converters: one per schema type, from a Python argument to the value an operator gets.

Mirrors ``toIValue`` in ``torch/csrc/jit/python/pybind_utils.cpp``.  dtypes, layouts and memory
formats become the numbers that C++ keeps, as in torch; :mod:`mindtorch_v2.binding.values` turns
them back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding import casts
from mindtorch_v2.binding.casts import Cast, uncastable
from mindtorch_v2.binding.errors import CastError, PythonError, ReferenceCastError, c_string
from mindtorch_v2.binding.infer import convert_inferred
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.numpy_later import np
from mindtorch_v2.schema.types import Type
from mindtorch_v2.tensor import conversions
from mindtorch_v2.tensor.copying import fill
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, Layout, memory_format, qscheme
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.scalars import DTYPES_OF_NUMBERS
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.stream import Stream
from mindtorch_v2.tensor.symbolic import NestedIntNode, SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage

Maker = Callable[[Type, "int | None", bool], Cast]
"""Makes the converter of a type; the length of a list that a single value fills, if the schema
gives one; and whether numbers are taken for tensors."""

_FACTS: Final = profile.active().conversions
_UNSIGNED_NUMBERS: Final[bool] = _FACTS["unsigned_numbers"]
_TENSORS_AS_SIZES: Final[bool] = _FACTS["tensors_as_symbolic_sizes"]
_UINT64_MAX: Final = (1 << 64) - 1


def converter(type: Type, length: int | None = None, numbers_as_tensors: bool = False) -> Cast:
    """What converts an argument of ``type``; it raises as :mod:`mindtorch_v2.binding.errors`."""
    return _MAKERS.get(type.kind, _unhandled)(type, length, numbers_as_tensors)


def _unhandled(type: Type, length: int | None, numbers: bool) -> Cast:
    def convert(value: Any) -> Any:
        raise CastError(f"toIValue() cannot handle converting to type: {type.repr_text}")

    return convert


def _class(type: Type, length: int | None, numbers: bool) -> Cast:
    """An object of a class of C++, which has one attribute, is no object from here."""
    unhandled = _unhandled(type, length, numbers)

    def convert(value: Any) -> Any:
        if not hasattr(value, "capsule"):
            raise CastError(
                f"Tried to cast object to type {type.repr_text} but object was missing attribute "
                "capsule"
            )
        return unhandled(value)

    return convert


def _always(cast: Cast) -> Maker:
    """The maker of a converter that is the same for every type of its kind."""
    return lambda type, length, numbers: cast


# --- tensors ----------------------------------------------------------------------------------


def _tensor(type: Type, length: int | None, numbers: bool) -> Cast:
    return _tensor_or_number if numbers else _only_tensor


def _only_tensor(value: Any) -> Any:
    if value is None or isinstance(value, Tensor):
        return value
    raise _no_tensor(value)


def _tensor_or_number(value: Any) -> Any:
    """A number stays one; it counts as a tensor without dimensions that wraps it."""
    if value is None or isinstance(value, (Tensor, bool, SymInt, SymFloat, SymBool)):
        return value
    if isinstance(value, (int, np.integer)):
        return _unpack_int(value)
    if isinstance(value, complex):
        return complex(value)
    if isinstance(value, (float, np.bool_, np.inexact)):
        return float(value)
    raise _no_tensor(value)


class NumberTensor(Tensor):
    """A number that is to be written to, which Python is shown as a number again."""

    __slots__ = ()


def number_to_tensor(value: Any, kind: type[Tensor] = NumberTensor) -> Any:
    """A number that is to be written to: a tensor of its own, of its widest dtype."""
    dtype = DTYPES_OF_NUMBERS.get(type(value))
    if dtype is None:
        return value
    if type(value) is int and not casts.INT64_MIN <= value <= casts.INT64_MAX:
        return value
    tensor = kind._make((), dtype)
    fill(tensor, value)
    return tensor


def shown_as_number(value: Any) -> Any:
    """What Python is shown of a tensor."""
    return conversions.item(value) if type(value) is NumberTensor else value


def _no_tensor(value: object) -> CastError:
    return CastError(f"Unable to cast {casts.text(value)} to Tensor")


def _unpack_int(value: int | np.integer[Any]) -> int:
    """``THPUtils_unpackInteger``; before it there was ``THPUtils_unpackLong``."""
    number = int(value)
    if casts.INT64_MIN <= number <= casts.INT64_MAX:
        return number
    if not _UNSIGNED_NUMBERS:
        raise RuntimeError("Overflow when unpacking long")
    return unpack_unsigned(value)


def unpack_unsigned(value: object) -> int:
    """``PyLong_AsUnsignedLongLong``, which complains as CPython words it."""
    if not isinstance(value, int):
        raise TypeError("an integer is required")
    if value < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if value > _UINT64_MAX:
        raise OverflowError("int too big to convert")
    return int(value)


# --- numbers ----------------------------------------------------------------------------------


def _number(type: Type, length: int | None, numbers: bool) -> Cast:
    return _to_number


def _to_number(value: Any) -> Any:
    if isinstance(value, (DType, Layout, qscheme)):
        return enum_value(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _unpack_int(value) if _UNSIGNED_NUMBERS else casts.to_int(value)
    if isinstance(value, float):
        return casts.to_float(value)
    if type(value) is complex:
        return value
    if isinstance(value, (SymInt, SymFloat, SymBool)):
        return symbolic(value)
    raise CastError(f"Cannot cast {casts.text(value)} to number")


def _guarded(cast: Cast, name: str) -> Maker:
    """``cast``, but of a tensor on the meta device there is no value."""

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor) and value.is_meta:
            raise CastError(f"cannot extract {name} from tensor with meta storage")
        return cast(value)

    return _always(convert)


def _to_int(value: Any) -> int:
    if isinstance(value, (DType, Layout, memory_format, qscheme)):
        return enum_value(value)
    if isinstance(value, SymInt):
        return int(symbolic(value).node.guard_int("", 0))
    return casts.to_int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, SymFloat):
        return float(symbolic(value).node.guard_float("", 0))
    return casts.to_float(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, SymBool):
        return bool(symbolic(value).node.guard_bool("", 0))
    return casts.to_bool(value)


def _or_symbolic(kind: type, cast: Cast) -> Maker:
    """``cast``, but symbolic numbers of one class stay what they are."""
    return _always(lambda value: symbolic(value) if isinstance(value, kind) else cast(value))


def symbolic(value: Any) -> Any:
    """A symbolic number as C++ keeps it: a node of Python is asked whether it is of its kind."""
    if not isinstance(value.node, NestedIntNode):
        question = f"is_{type(value).__name__.removeprefix('Sym').lower()}"
        try:
            getattr(value.node, question)()
        except Exception as error:
            raise PythonError(f"{type(error).__name__}: {error}") from None
    return value


def _enum(kind: type) -> Maker:
    """The constants of one class, or the numbers that stand for them."""

    def convert(value: Any) -> int:
        return enum_value(value) if isinstance(value, kind) else casts.to_int(value)

    return _always(convert)


_ENUM_VALUES: Final[dict[str, int]] = {
    **_FACTS["qschemes"],
    **_FACTS["scalar_types"],
    **_FACTS["layouts"],
    **_FACTS["memory_formats"],
}


def enum_value(constant: object) -> int:
    """The number of a dtype, layout, memory format or qscheme."""
    return _ENUM_VALUES[repr(constant)]


def enum_value_named(text: str) -> int:
    """The same, of the one that is printed as ``text``."""
    return _ENUM_VALUES[text]


def _to_none(value: Any) -> None:
    if value is not None:
        raise CastError(f"Cannot cast {casts.text(value)} to None")


def _to_device(value: Any) -> Device:
    """A device, or a string that names one: RuntimeError if it does not."""
    if isinstance(value, Device):
        return value
    try:
        return Device(casts.to_string(value))
    except RuntimeError as error:
        raise RuntimeError(c_string(str(error))) from None


def _to_qscheme(value: Any) -> int:
    if isinstance(value, int):
        return casts.to_int(value)
    raise CastError(f"Cannot cast {casts.text(value)} to QScheme")


def _instance(kind: type) -> Maker:
    """The instances of one class."""

    def convert(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise uncastable(value)

    return _always(convert)


def _storage(type: Type, length: int | None, numbers: bool) -> Cast:
    """A storage as C++ keeps it, without a type."""

    def convert(value: Any) -> UntypedStorage:
        if isinstance(value, TypedStorage):
            return value._untyped_storage
        if isinstance(value, UntypedStorage):
            return value
        raise uncastable(value)

    return convert


def _refuse(value: Any) -> Any:
    """Classes of torch of which this package has no instances."""
    raise uncastable(value)


# --- containers -------------------------------------------------------------------------------


def _optional(type: Type, length: int | None, numbers: bool) -> Cast:
    element = converter(type.contained[0], length, numbers)
    return lambda value: None if value is None else element(value)


def _list(type: Type, length: int | None, numbers: bool) -> Cast:
    element = type.contained[0]
    special = _LISTS.get(element.kind)
    return (
        special(length) if special is not None else _generic_list(converter(element, None, numbers))
    )


def _generic_list(element: Cast) -> Cast:
    return lambda value: [element(item) for item in casts.iterate(value)]


def _filled(cast: Cast, scalar: type) -> Callable[[int | None], Cast]:
    """A list of numbers; a single one fills a list of a given length."""
    vector = casts.vector(cast)

    def make(length: int | None) -> Cast:
        if length is None:
            return vector
        return lambda value: [cast(value)] * length if isinstance(value, scalar) else vector(value)

    return make


def _symbolic_ints(length: int | None) -> Cast:
    """``SymInt[]``: iterated twice, first to see whether an element is symbolic."""

    def convert(value: Any) -> list[Any]:
        symbolic = any(_is_symbolic(item) for item in casts.iterate(value))
        cast = _to_symbolic_int if symbolic else casts.to_int
        return [cast(item) for item in casts.iterate(value)]

    return convert


def _is_symbolic(value: object) -> bool:
    return isinstance(value, SymInt) or (_TENSORS_AS_SIZES and isinstance(value, Tensor))


def _to_symbolic_int(value: Any) -> Any:
    """``type_caster<c10::SymInt>``: a tensor of one integer, or what has ``__index__``."""
    if isinstance(value, SymInt):
        return symbolic(value)
    if isinstance(value, Tensor) and _holds_one_integer(value):
        if value.is_meta:
            raise PythonError("RuntimeError: Tensor.item() cannot be called on meta tensors")
        if value.dtype is DTYPES["bool"]:
            raise RuntimeError(internal_assert("scalar.isIntegral( false)", "type_caster<SymInt>"))
    if isinstance(value, bool):
        raise uncastable(value)
    try:
        number = index(value)
    except Exception:
        raise uncastable(value) from None
    if not casts.INT64_MIN <= number <= casts.INT64_MAX:
        raise RuntimeError("Overflow when unpacking long")
    return number


def _holds_one_integer(tensor: Tensor) -> bool:
    integral = not (tensor.dtype.is_floating_point or tensor.dtype.is_complex)
    return integral and all(size == 1 for size in tensor.shape)


_LISTS: Final[Mapping[str, Callable[[int | None], Cast]]] = {
    "IntType": _filled(casts.to_int, int),
    "FloatType": _filled(casts.to_float, float),
    "SymIntType": _symbolic_ints,
    "BoolType": lambda length: casts.vector(casts.to_bool),
    "TensorType": lambda length: casts.vector(casts.to_tensor),
}


def _tuple(type: Type, length: int | None, numbers: bool) -> Cast:
    elements = [converter(element, None, numbers) for element in type.contained]

    def convert(value: Any) -> tuple[Any, ...]:
        items = casts.to_tuple(value)
        if len(items) != len(elements):
            raise CastError(
                f"Object {casts.text(value)} had a different number of elements than type "
                f"{type.repr_text}"
            )
        return tuple(cast(item) for cast, item in zip(elements, items, strict=True))

    return convert


def _dict(type: Type, length: int | None, numbers: bool) -> Cast:
    key, value = (converter(element, None, numbers) for element in type.contained)

    def convert(mapping: Any) -> dict[Any, Any]:
        if mapping is None:
            raise ReferenceCastError  # torch asks first whether it is a ScriptDict
        entries = casts.to_dict(mapping).items()
        converted = ((value(item), name) for name, item in entries)  # values first, as compiled C++
        return {key(name): item for item, name in converted}

    return convert


_MAKERS: Final[Mapping[str, Maker]] = {
    "TensorType": _tensor,
    "NumberType": _number,
    "IntType": _guarded(_to_int, "int"),
    "FloatType": _guarded(_to_float, "float"),
    "BoolType": _guarded(_to_bool, "bool"),
    "ComplexType": _always(casts.to_complex),
    "SymIntType": _or_symbolic(SymInt, casts.to_int),
    "SymFloatType": _or_symbolic(SymFloat, casts.to_float),
    "SymBoolType": _or_symbolic(SymBool, casts.to_bool),
    "ScalarTypeType": _enum(DType),
    "LayoutType": _enum(Layout),
    "MemoryFormatType": _enum(memory_format),
    "StringType": _always(casts.to_string),
    "DeviceObjType": _always(_to_device),
    "NoneType": _always(_to_none),
    "QSchemeType": _always(_to_qscheme),
    "GeneratorType": _instance(Generator),
    "StorageType": _storage,
    "FutureType": _always(_refuse),
    "AwaitType": _always(_refuse),
    "RRefType": _always(_refuse),
    "CapsuleType": _always(_refuse),
    "ClassType": _class,
    "StreamObjType": _instance(Stream),
    "AnyType": lambda type, length, numbers: lambda value: convert_inferred(value, converter),
    "OptionalType": _optional,
    "ListType": _list,
    "TupleType": _tuple,
    "DictType": _dict,
}
