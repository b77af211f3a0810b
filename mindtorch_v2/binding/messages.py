"""What torch says of arguments that do not suit a schema.

Mirrors ``createStackForSchema`` in ``torch/csrc/jit/python/pybind_utils.h`` and
``findErrorInKwargs``, ``formatTypeMismatchMsg`` in ``aten/src/ATen/core/function_schema.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mindtorch_v2.binding.errors import ConversionError, SchemaMatchError, text_of
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.pybind.function import refusal
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.tensor import Tensor


def too_many(schema: FunctionSchema, received: int) -> SchemaMatchError:
    return SchemaMatchError(
        f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received "
        f"{received} argument(s). Declaration: {schema}"
    )


def keyword_only(schema: FunctionSchema, position: int, given: int) -> SchemaMatchError:
    return SchemaMatchError(
        f"{schema.name}() takes {position} positional argument(s) but {given} was/were given.  "
        f"Declaration: {schema}"
    )


def missing(schema: FunctionSchema, argument: Argument) -> SchemaMatchError:
    return SchemaMatchError(
        f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: {schema}"
    )


def mismatch(
    schema: FunctionSchema, position: int, value: object, error: ConversionError
) -> SchemaMatchError:
    argument = schema.arguments[position]
    return SchemaMatchError(
        f"{schema.name}() Expected a value of type '{argument.type.repr_text}' for argument "
        f"'{argument.name}' but instead found type '{_friendly_type_name(value)}'.\n"
        f"Position: {position}\nValue: ",
        value if _prints_quietly(value) else _repr(value),
        f"\nDeclaration: {schema}{error}",
    )


def _prints_quietly(value: object) -> bool:
    """Whether printing it takes its time, and nobody could notice that it comes later."""
    if type(value) is not Tensor or OBSERVERS.count or value._functional is not None:
        return False
    if value._layout is not strided:
        return False
    where = value._device.type
    return where == "meta" or (where == "cpu" and value._untyped_storage().nbytes() > 0)


def _repr(value: object) -> str:
    """``py::repr``: UnicodeEncodeError for one that has no UTF-8 form."""
    shown = repr(value)
    shown.encode()
    return shown


def _friendly_type_name(value: object) -> str:
    """The name of its class, and of a named tuple also its fields."""
    name = type(value).__name__
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{name} (aka NamedTuple({', '.join(value._fields)}))"
    return name


def wrong_keywords(schema: FunctionSchema, keywords: Iterable[str]) -> SchemaMatchError:
    """For keywords that no argument consumed: unknown, or given by position as well."""
    given = list(keywords)
    names = [argument.name for argument in schema.arguments]
    for keyword in given:
        if keyword not in names:
            return SchemaMatchError(
                f"Unknown keyword argument '{keyword}' for operator '{schema.name}'. "
                f"Schema: {schema}"
            )
    for argument in schema.arguments:
        if argument.name in given:
            if argument.has_default:
                raise RuntimeError(
                    internal_assert("!argument.default_value()", "findErrorInKwargs")
                )
            return SchemaMatchError(
                f"Argument '{argument.name}' specified both as positional and keyword argument. "
                f"Schema: {schema}"
            )
    return SchemaMatchError("")


def no_overload(reasons: Iterable[tuple[object, ...]]) -> RuntimeError:
    """Of a packet: the arguments of every overload's error, in the order in which they were
    tried."""
    printed: dict[int, str] = {}
    listed = "".join(f"{text_of(reason, printed)}\n\n" for reason in reasons)
    return RuntimeError(
        f"Overloaded torch operator invoked from Python failed to match any schema:\n{listed}"
    )


def not_called(name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> TypeError:
    """pybind11's refusal, for the function that an overload (without a name) or a packet is."""
    signatures = ["(*args, **kwargs) -> object"]
    return TypeError(refusal(name, "function", signatures, tuple(args), dict(kwargs)))
