"""What a kernel written in Python is called with: bound values as Python shows them.

Mirrors ``parseIValuesToPyArgsKwargs`` in ``torch/csrc/autograd/python_variable.cpp``: trailing
positional arguments and keyword arguments that have their default's value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.schema.values import same_value
from mindtorch_v2.tensor.dtype import DTYPES, LAYOUTS, MEMORY_FORMATS, DType, memory_format

_CONSTANTS: Final[Mapping[str, Mapping[int, Any]]] = {
    kind: {enum_value(constant): constant for constant in constants.values()}
    for kind, constants in (
        ("ScalarTypeType", DTYPES),
        ("LayoutType", LAYOUTS),
        ("MemoryFormatType", MEMORY_FORMATS),
    )
}


def python_arguments(schema: FunctionSchema, stack: Stack) -> tuple[Stack, dict[str, Any]]:
    """The positional and the keyword arguments of the call that ``stack`` stands for."""
    pairs = list(zip(schema.arguments, stack, strict=True))
    keywords = {
        argument.name: to_python(argument, value)
        for argument, value in pairs
        if argument.kwarg_only and not _is_default(argument, value)
    }
    while pairs and pairs[-1][0].kwarg_only:
        pairs.pop()
    while pairs and _is_default(*pairs[-1]):
        pairs.pop()
    return tuple(to_python(argument, value) for argument, value in pairs), keywords


def _is_default(argument: Argument, value: Any) -> bool:
    return argument.has_default and same_value(argument.default_value, value)


def to_python(argument: Argument, value: Any) -> Any:
    """A bound value as Python shows it: numbers of constants become these again."""
    kind = argument.real_type.kind
    if kind == "OptionalType":
        kind = argument.real_type.contained[0].kind
    if value is None or kind not in _CONSTANTS:
        is_list = kind == "ListType" and isinstance(value, tuple)  # a size, say, that a kernel gave
        return _decoded(list(value) if is_list else value)
    constants = _CONSTANTS[kind]
    if value not in constants:
        raise ValueError(f"unsupported {kind.removesuffix('Type')}: {value}")
    return constants[value]


def dtype_of_value(value: int) -> DType:
    """The dtype that a stack's number stands for."""
    found: DType = _CONSTANTS["ScalarTypeType"][value]
    return found


def memory_format_of_value(value: int) -> memory_format:
    """The memory format that a stack's number stands for."""
    found: memory_format = _CONSTANTS["MemoryFormatType"][value]
    return found


def _decoded(value: Any) -> Any:
    """With every string decoded: UnicodeDecodeError for bytes that are no UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_decoded, value))
    if isinstance(value, dict):
        return {_decoded(key): _decoded(item) for key, item in value.items()}
    return value
