"""Forms of one operator: ``add`` makes a tensor, ``add_`` changes its own, ``add.out`` another.

Mirrors how ``torchgen`` groups functions by their signature: two schemas are forms of one operator
if they differ only in what they write to and what they return.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_schema

INPLACE: Final = "inplace"
OUT: Final = "out"


class Form(NamedTuple):
    """What a mutating operator is a form of: the full name of the functional one, and which."""

    functional: str
    kind: str


def _signature(schema: FunctionSchema) -> tuple[tuple[str, str], ...]:
    """What a call passes: names and types of the arguments, without those that are written to
    because the caller said so."""
    return tuple(
        (argument.name, str(argument.real_type))
        for argument in schema.arguments
        if not argument.is_out
    )


@cache
def form_of(name: str) -> Form | None:
    """The functional operator of a mutating one of the profile; None if it has no such form.

    In-place operators end in ``_`` and write to ``self``; the others write to ``out`` arguments.
    """
    base, _, overload_name = name.partition(".")
    schema = _schema(base, overload_name)
    if schema is None or not any(argument.is_write for argument in schema.arguments):
        return None
    kind = OUT if any(argument.is_out for argument in schema.arguments) else INPLACE
    if kind == INPLACE:
        if not base.endswith("_"):
            return None
        base = base[:-1]
    wanted = _signature(schema)
    for operator in in_registration_order(base):
        found = parse_schema(operator.schema)
        writes = any(argument.is_write for argument in found.arguments)
        if not writes and _signature(found) == wanted:
            return Form(found.full_name, kind)
    return None


@cache
def _schema(name: str, overload_name: str) -> FunctionSchema | None:
    for operator in in_registration_order(name):
        if operator.overload_name == overload_name:
            return parse_schema(operator.schema)
    return None
