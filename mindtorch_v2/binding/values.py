"""What a kernel written in Python is called with: bound values as Python shows them.

Mirrors ``parseIValuesToPyArgsKwargs`` in ``torch/csrc/autograd/python_variable.cpp``: trailing
positional arguments and keyword arguments that have their default's value are left out.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value, shown_as_number
from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.schema.values import same_value
from mindtorch_v2.tensor.dtype import DTYPES, LAYOUTS, MEMORY_FORMATS, DType, Layout, memory_format

_CONSTANTS: Final[Mapping[str, Mapping[int, Any]]] = {
    kind: {enum_value(constant): constant for constant in constants.values()}
    for kind, constants in (
        ("ScalarTypeType", DTYPES),
        ("LayoutType", LAYOUTS),
        ("MemoryFormatType", MEMORY_FORMATS),
    )
}


class PythonArguments:
    """The positional and the keyword arguments of calls of a schema's operator.

    An undefined tensor, which None is at ``undefined`` places, is no argument's default, though
    Python is shown the same None.
    """

    def __init__(self, schema: FunctionSchema, undefined: frozenset[int]) -> None:
        self._arguments = arguments = tuple(schema.arguments)
        self._defaults = [
            each.default_value if each.has_default and place not in undefined else _NO_DEFAULT
            for place, each in enumerate(arguments)
        ]
        #: Places and names of what is handed over by keyword, if it is not the default.
        self._keywords = [
            (place, each.name) for place, each in enumerate(arguments) if each.kwarg_only
        ]
        #: What is handed over by position: up to the last argument that is not for keywords only.
        self._positional = arguments
        while self._positional and self._positional[-1].kwarg_only:
            self._positional = self._positional[:-1]
        #: Places of arguments whose values Python is shown otherwise.
        self._converted = frozenset(
            place
            for place, each in enumerate(arguments)
            if each.is_write or _kind(each) not in _SHOWN_AS_THEY_ARE
        )
        #: Whether a kernel is called with the very values of the stack.
        self.are_the_stack = not self._converted and not any(
            each.has_default or each.kwarg_only for each in arguments
        )

    @property
    def only_keyword(self) -> str | None:
        """The name of the last argument, where a kernel is called with the values of a stack as
        they are but for that one, which goes by keyword unless it is the default."""
        *others, last = self._arguments or (None,)
        if self._converted or last is None or not last.kwarg_only or not last.has_default:
            return None
        if not last.name.isidentifier() or keyword.iskeyword(last.name):
            return None
        return None if any(each.has_default or each.kwarg_only for each in others) else last.name

    @property
    def only_default(self) -> Any:
        """Its default."""
        return self._defaults[-1]

    def __call__(self, stack: Stack) -> tuple[Stack, dict[str, Any]]:
        """Those of the call that ``stack`` stands for."""
        if self.are_the_stack:
            return stack, {}
        keywords = {}
        for place, name in self._keywords:
            value = stack[place]
            if not _is_default(self._defaults[place], value):
                keywords[name] = self._shown(place, value) if self._converted else value
        count = len(self._positional)
        while count and _is_default(self._defaults[count - 1], stack[count - 1]):
            count -= 1
        args = stack[:count]
        if self._converted:
            args = tuple(self._shown(place, value) for place, value in enumerate(args))
        return args, keywords

    def _shown(self, place: int, value: Any) -> Any:
        return to_python(self._arguments[place], value) if place in self._converted else value


_NO_DEFAULT: Final = object()


def _is_default(default: Any, value: Any) -> bool:
    return type(value) is type(default) and same_value(default, value)


_SHOWN_AS_THEY_ARE: Final = frozenset(
    ("TensorType", "NumberType", "IntType", "FloatType", "BoolType", "ComplexType", "SymIntType")
)


def _kind(argument: Argument) -> str:
    """That of its type, or of the type that is optional."""
    real = argument.real_type
    return real.contained[0].kind if real.kind == "OptionalType" else real.kind


def to_python(argument: Argument, value: Any) -> Any:
    """A bound value as Python shows it: numbers of constants become these again."""
    kind = _kind(argument)
    if value is None or kind not in _CONSTANTS:
        is_list = kind == "ListType" and isinstance(value, tuple)  # a size, say, that a kernel gave
        return shown_as_number(_decoded(list(value) if is_list else value))
    constants = _CONSTANTS[kind]
    if value not in constants:
        raise ValueError(f"unsupported {kind.removesuffix('Type')}: {value}")
    return constants[value]


def dtype_of_value(value: int) -> DType:
    """The dtype that a stack's number stands for; RuntimeError if it stands for none."""
    found: DType | None = _CONSTANTS["ScalarTypeType"].get(value)
    if found is None:
        raise RuntimeError(f"there is no ScalarType {value}")
    return found


def layout_of_value(value: int) -> Layout:
    """The layout that a stack's number stands for."""
    found: Layout = _CONSTANTS["LayoutType"][value]
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
