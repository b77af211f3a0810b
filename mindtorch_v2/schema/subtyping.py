"""When two types are equal, and when one may stand for the other.

Mirrors the ``equals`` and ``isSubtypeOfExt`` methods of ``ATen/core/jit_type.h``, ``type.cpp`` and
``union_type.cpp``.  A union here is never one that torch would have made an optional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mindtorch_v2.schema.base_types import (
    ComplexType,
    FloatType,
    IntType,
    NoneType,
    NumberType,
    Type,
)

NUMBERS: Final[tuple[Type, ...]] = (IntType(), FloatType(), ComplexType())
"""What a Scalar may hold, where it is taken apart."""


def equal(left: Type, right: Type) -> bool:
    """torch's ``==``: any two type variables are equal, and so are a Scalar and its union."""
    if left is right:
        return True
    if left.kind != right.kind:
        return _is_number_union(left, right) or _is_number_union(right, left)
    if left.kind == "VarType":
        return True
    if left.kind == "UnionType":
        return len(left.contained) == len(right.contained) and all(
            any(equal(mine, theirs) for theirs in right.contained) for mine in left.contained
        )
    if left.kind == "ClassType":
        return False  # by name, and types are interned
    return len(left.contained) == len(right.contained) and all(
        map(equal, left.contained, right.contained)
    )


def _is_number_union(union: Type, number: Type) -> bool:
    return (
        union.kind == "UnionType"
        and number.kind == "NumberType"
        and len(union.contained) == 3
        and can_hold(union, number)
    )


def can_hold(union: Type, held: Type) -> bool:
    """``canHoldType``: whether some member of the union takes ``held``."""
    if held.kind == "NumberType":
        return all(can_hold(union, number) for number in NUMBERS)
    return any(is_subtype(held, member) for member in union.contained)


def is_subtype(left: Type, right: Type) -> bool:
    """Whether a value of type ``left`` is one of type ``right``."""
    rule = _RULES.get(left.kind)
    return _is_any_subtype(left, right) if rule is None else rule(left, right)


def _is_any_subtype(left: Type, right: Type) -> bool:
    """``Type::isSubtypeOfExt``, which most types' own rules come back to."""
    if right.kind == "AnyType" or equal(left, right):
        return True
    if right.kind == "OptionalType":
        return is_subtype(left, right.contained[0])
    if right.kind == "UnionType":
        return any(is_subtype(left, member) for member in right.contained)
    return False


def _none(left: Type, right: Type) -> bool:
    return right.kind == "OptionalType" or _is_any_subtype(left, right)


def _scalar(left: Type, right: Type) -> bool:
    if right.kind == "UnionType":
        return can_hold(right, NumberType())
    return _is_any_subtype(left, right)


def _number(left: Type, right: Type) -> bool:
    return right.kind == "NumberType" or _is_any_subtype(left, right)


def _list(left: Type, right: Type) -> bool:
    return _is_any_subtype(left, right) or right.kind == "AnyListType"


def _class(left: Type, right: Type) -> bool:
    return right.kind == "AnyClassType" or _is_any_subtype(left, right)


def _covariant(left: Type, right: Type) -> bool:
    """Tuples, futures and awaits: by their parts."""
    if _is_any_subtype(left, right):
        return True
    return (
        left.kind == right.kind
        and len(left.contained) == len(right.contained)
        and all(map(is_subtype, left.contained, right.contained))
    )


def _optional(left: Type, right: Type) -> bool:
    if right.kind == "OptionalType":
        return is_subtype(left.contained[0], right.contained[0])
    if right.kind == "UnionType":
        holds_none = any(member.kind in ("NoneType", "AnyType") for member in right.contained)
        return holds_none and can_hold(right, left.contained[0])
    return _is_any_subtype(left, right)


def _union(left: Type, right: Type) -> bool:
    return all(
        any(is_subtype(mine, theirs) for theirs in _alternatives(right)) for mine in left.contained
    )


def _alternatives(right: Type) -> tuple[Type, ...]:
    """What a member of a union may be, to be a ``right``."""
    if right.kind == "UnionType":
        return right.contained
    if right.kind == "NumberType":
        return NUMBERS
    if right.kind == "OptionalType":
        (element,) = right.contained
        return (NoneType(), *(NUMBERS if element.kind == "NumberType" else (element,)))
    return (right,)


_RULES: Final[dict[str, Callable[[Type, Type], bool]]] = {
    "NoneType": _none,
    "NumberType": _scalar,
    "IntType": _number,
    "FloatType": _number,
    "ComplexType": _number,
    "ListType": _list,
    "ClassType": _class,
    "TupleType": _covariant,
    "FutureType": _covariant,
    "AwaitType": _covariant,
    "OptionalType": _optional,
    "UnionType": _union,
}
