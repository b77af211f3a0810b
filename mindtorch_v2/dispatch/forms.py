"""Forms of one operator: ``add`` makes a tensor, ``add_`` changes its own, ``add.out`` another.

Mirrors how ``torchgen`` groups functions by their signature (``FunctionSchema.signature`` in
``torchgen/model.py``): two schemas are forms of one operator if they differ only in what they write
to, in what they return, and in the options of a new tensor, which ``out=`` has anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_known_schema

INPLACE: Final = "inplace"
OUT: Final = "out"
MUTABLE: Final = "mutable"
"""Changes arguments, and has nothing in its name that says so."""

OPTIONS: Final = ("dtype", "layout", "device", "pin_memory")
"""``TensorOptions``, of an operator that makes a tensor."""


def is_generated(name: str) -> bool:
    """Whether torch generates an operator because another form of it exists."""
    return "generated" in profile.active().schemas["tags"].get(name, ())


class Form(NamedTuple):
    """What a mutating operator is a form of: the full name of the functional one, and which."""

    functional: str
    kind: str


def _signature(schema: FunctionSchema) -> tuple[tuple[str, str], ...]:
    """What a call passes: names and types of the arguments, without those that are written to
    because the caller said so, and without the options of a new tensor."""
    names = [argument.name for argument in schema.arguments]
    has_options = all(name in names for name in OPTIONS)
    return tuple(
        (argument.name, str(argument.real_type))
        for argument in schema.arguments
        if not argument.is_out and not (has_options and argument.name in OPTIONS)
    )


@cache
def form_of(name: str) -> Form | None:
    """The functional operator of a mutating one of the profile; None if it has no such form.

    In-place operators end in ``_``, or are Python's (``__ilshift__``), and write to ``self``;
    ``out=`` operators write to arguments of their own; what else writes is a mutable operator,
    whose functional form is called ``…_functional``.
    """
    base, _, overload_name = name.partition(".")
    schema = _schema(base, overload_name)
    if schema is None or not any(argument.is_write for argument in schema.arguments):
        return None
    kind, bases = _kind(base, schema)
    wanted = _signature(schema)
    for found in _operators(bases):
        writes = any(argument.is_write for argument in found.arguments)
        if not writes and _signature(found) == wanted:
            return Form(found.full_name, kind)
    return None


def _kind(base: str, schema: FunctionSchema) -> tuple[str, tuple[str, ...]]:
    """Which form it is, and what the functional one may be called."""
    namespace, _, short = base.partition("::")
    if any(argument.is_out for argument in schema.arguments):
        return OUT, (base, f"{base}_functional")
    if short.startswith("__i") and short.endswith("__"):
        return INPLACE, (f"{namespace}::__{short[3:]}",)
    if short.endswith("_"):
        functional = base[:-1]
        return INPLACE, (functional, f"{functional}_functional")
    return MUTABLE, (f"{base}_functional",)


def _operators(bases: tuple[str, ...]) -> Iterator[FunctionSchema]:
    for base in bases:
        for operator in in_registration_order(base):
            yield parse_known_schema(operator.schema)


@cache
def _schema(name: str, overload_name: str) -> FunctionSchema | None:
    for operator in in_registration_order(name):
        if operator.overload_name == overload_name:
            return parse_known_schema(operator.schema)
    return None
