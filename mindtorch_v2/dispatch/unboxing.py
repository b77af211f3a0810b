"""What stands between a stack of values and a C++ function.

Mirrors ``ivalue_to_arg`` of ``aten/src/ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h``,
as far as it refuses what a schema lets through: a list where the function has an array; and on the
other way the constructor of ``IValue`` from a Scalar, which may have no box for an unsigned one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_printed_schema

_UNSIGNED: Final[dict[str, str | None]] = profile.active().argument_parser["unsigned_numbers"]
"""By kind of argument, the one that is told first before the other."""
REFUSES_UNSIGNED: Final = any(_UNSIGNED.values())
"""Whether this release has no box for an integer that none with a sign holds."""
_INT64_MAX: Final = (1 << 63) - 1

_ARRAY: Final = re.compile(r"\bbool\[\d+\]")
"""The lists that are arrays in C++; those of integers are references to a list of any length."""


def is_unsigned(value: Any) -> bool:
    """Whether it is, or a list has, an integer that no signed one holds."""
    if isinstance(value, list):
        return any(map(is_unsigned, value))
    return isinstance(value, int) and value > _INT64_MAX


def check_boxes(schema: FunctionSchema, stack: Sequence[Any], *, in_python: bool = True) -> None:
    """RuntimeError for an unsigned number where the release has no box for it.

    All arguments are boxed, Scalars among them, before the first is made a Python object; a number
    in a tensor's place is looked at then, if the kernel is ``in_python``.
    """
    given = zip(schema.arguments, stack, strict=True)
    of_tensors = {"Tensor" in str(each.type) for each, value in given if is_unsigned(value)}
    for kind, message in _UNSIGNED.items():
        is_tensor = kind == "Tensor"
        if message and is_tensor in of_tensors and (in_python or not is_tensor):
            raise RuntimeError(message)


def checking_boxes(
    function: Callable[..., Any], schema: str, *, leading: int, in_python: bool
) -> Callable[..., Any]:
    """A boxed kernel of an operator with that schema, whose values come after so many ``leading``
    ones."""
    if not in_python and "Scalar" not in schema:
        return function

    def run(*stack: Any) -> Any:
        values = stack[leading:]
        if any(map(is_unsigned, values)):
            check_boxes(parse_printed_schema(schema), values, in_python=in_python)
        return function(*stack)

    return run


def has_arrays(schema: str) -> bool:
    """Whether a function of this schema has arrays, by the schema's text."""
    return _ARRAY.search(schema) is not None


def checking_arrays(function: Callable[..., Any], schema: FunctionSchema) -> Callable[..., Any]:
    """The function; RuntimeError for a list that is no array of its size."""
    arrays = [
        (place, argument.N)
        for place, argument in enumerate(schema.arguments)
        if argument.N is not None and _ARRAY.search(str(argument))
    ]

    def run(*stack: Any) -> Any:
        for place, size in arrays:
            if len(stack[place]) != size:
                raise RuntimeError(
                    f"Tried to convert a List with {len(stack[place])} elements to a fixed-size "
                    f"array of size {size}"
                )
        return function(*stack)

    return run
