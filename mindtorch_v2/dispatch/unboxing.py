"""What stands between a stack of values and a C++ function.

Mirrors ``ivalue_to_arg`` of ``aten/src/ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h``,
as far as it refuses what a schema lets through: a list where the function has an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.schema.function_schema import FunctionSchema

_ARRAY: Final = re.compile(r"\bbool\[\d+\]")
"""The lists that are arrays in C++; those of integers are references to a list of any length."""


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
