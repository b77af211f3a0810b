"""Types of the schema language, those with parts; the others are re-exported from base_types.

Mirrors ``ATen/core/jit_type.h`` and ``union_type.cpp`` as far as schemas reach them; tensor types
carry no shape.  Python's ``==`` of two types is identity, since they are interned; torch's own is
:func:`~mindtorch_v2.schema.subtyping.equal`.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.base_types import (
    AnyClassType,
    AnyEnumType,
    AnyType,
    BoolType,
    CapsuleType,
    ComplexType,
    DeviceObjType,
    FloatType,
    GeneratorType,
    IntType,
    LayoutType,
    MemoryFormatType,
    NoneType,
    NumberType,
    PyObjectType,
    QSchemeType,
    QuantizerType,
    ScalarTypeType,
    StorageType,
    StreamObjType,
    StringType,
    SymBoolType,
    SymIntType,
    TensorType,
    Type,
    intern,
)
from mindtorch_v2.schema.subtyping import NUMBERS, can_hold, equal, is_subtype

__all__ = [
    "KEY_KINDS",
    "AnyClassType",
    "AnyEnumType",
    "AnyType",
    "AwaitType",
    "BoolType",
    "CapsuleType",
    "ClassType",
    "ComplexType",
    "DeviceObjType",
    "DictType",
    "FloatType",
    "FutureType",
    "GeneratorType",
    "IntType",
    "LayoutType",
    "ListType",
    "MemoryFormatType",
    "NoneType",
    "NumberType",
    "OptionalType",
    "PyObjectType",
    "QSchemeType",
    "QuantizerType",
    "RRefType",
    "ScalarTypeType",
    "StorageType",
    "StreamObjType",
    "StringType",
    "SymBoolType",
    "SymIntType",
    "TensorType",
    "TupleType",
    "Type",
    "UnionType",
    "VarType",
    "equal",
    "is_subtype",
    "make_union",
    "printed",
    "unify",
]

KINDS: Final = [
    "AnyType",
    "EnumType",
    "AnyEnumType",
    "TensorType",
    "StorageType",
    "TupleType",
    "ListType",
    "DictType",
    "NumberType",
    "FloatType",
    "ComplexType",
    "FutureType",
    "AwaitType",
    "RRefType",
    "IntType",
    "NoneType",
    "StringType",
    "GeneratorType",
    "QuantizerType",
    "BoolType",
    "OptionalType",
    "VarType",
    "DeviceObjType",
    "StreamObjType",
    "FunctionType",
    "ClassType",
    "PyObjectType",
    "CapsuleType",
    "InterfaceType",
    "QSchemeType",
    "ScalarTypeType",
    "LayoutType",
    "MemoryFormatType",
    "AnyListType",
    "AnyTupleType",
    "AnyClassType",
    "SymIntType",
    "SymFloatType",
    "SymBoolType",
    "UnionType",
    "DynamicType",
]
"""``c10::TypeKind`` in its order, by which the members of a union are sorted."""

KEY_KINDS: Final = frozenset(
    [
        "AnyType",
        "IntType",
        "BoolType",
        "FloatType",
        "ComplexType",
        "StringType",
        "TensorType",
        "DeviceObjType",
    ]
)


class ListType(Type):
    """``T[]``."""

    __slots__ = ()
    kind = "ListType"

    def __new__(cls, element: Type) -> ListType:
        text, annotation = f"{element.text}[]", f"List[{element.annotation}]"
        return intern(cls, (element,), text, annotation, element)

    @property
    def element(self) -> Type:
        return self.contained[0]


class _Wrapper(Type):
    """``Name(T)``, ``Name[T]`` in annotations."""

    __slots__ = ()

    @property
    def element(self) -> Type:
        return self.contained[0]


class FutureType(_Wrapper):
    __slots__ = ()
    kind = "FutureType"

    def __new__(cls, element: Type) -> FutureType:
        text, annotation = f"Future({element.text})", f"Future[{element.annotation}]"
        return intern(cls, (element,), text, annotation, element)


class AwaitType(_Wrapper):
    __slots__ = ()
    kind = "AwaitType"

    def __new__(cls, element: Type) -> AwaitType:
        text, annotation = f"Await({element.text})", f"Await[{element.annotation}]"
        return intern(cls, (element,), text, annotation, element)


class RRefType(_Wrapper):
    __slots__ = ()
    kind = "RRefType"

    def __new__(cls, element: Type) -> RRefType:
        text, annotation = f"RRef({element.text})", f"RRef[{element.annotation}]"
        return intern(cls, (element,), text, annotation, element)


class DictType(Type):
    """``Dict(K, V)``; RuntimeError for a key type that C++ does not hash."""

    __slots__ = ()
    kind = "DictType"

    def __new__(cls, key: Type, value: Type) -> DictType:
        if key.kind not in KEY_KINDS:
            raise RuntimeError(
                f"Cannot create dict for key type '{key.text}', only int, float, complex, Tensor, "
                "device and string keys are supported"
            )
        text = f"Dict({key.text}, {value.text})"
        annotation = f"Dict[{key.annotation}, {value.annotation}]"
        return intern(cls, (key, value), text, annotation, key, value)

    @property
    def key(self) -> Type:
        return self.contained[0]

    @property
    def value(self) -> Type:
        return self.contained[1]


class TupleType(Type):
    """``(T, U)``.  Schemas name no tuple fields, so these have no names."""

    __slots__ = ()
    kind = "TupleType"

    def __new__(cls, *elements: Type) -> TupleType:
        text = f"({', '.join(element.text for element in elements)})"
        inner = ", ".join(element.annotation for element in elements) or "()"
        return intern(cls, elements, text, f"Tuple[{inner}]", *elements)

    @property
    def elements(self) -> tuple[Type, ...]:
        return self.contained


class VarType(Type):
    """A type variable: a lower-case name that is no type."""

    __slots__ = ()
    kind = "VarType"

    def __new__(cls, name: str) -> VarType:
        return intern(cls, (name,), name, name)

    @property
    def has_free_variables(self) -> bool:
        return True


class ClassType(Type):
    """A custom class, by its qualified name ``__torch__.torch.classes.<namespace>.<name>``.

    What it is made of is one attribute, a capsule that holds the C++ object.
    """

    __slots__ = ()
    kind = "ClassType"

    def __new__(cls, name: str) -> ClassType:
        return intern(cls, (name,), name, name, CapsuleType())

    @property
    def name(self) -> str:
        return self.text

    @property
    def repr_text(self) -> str:
        """With the address of the compilation unit: custom classes belong to none."""
        return f"{self.text} (of Python compilation unit at: 0)"


# --- unions -----------------------------------------------------------------------------------


class UnionType(Type):
    """``Union(T, U)``, its members flattened, unified and sorted.  Made by :func:`make_union`."""

    __slots__ = ()
    kind = "UnionType"

    def __new__(cls, *members: Type) -> UnionType:
        names = [member.text for member in members]
        annotations = [member.annotation for member in members]
        if all(any(is_subtype(number, member) for member in members) for number in NUMBERS):
            names = _with_scalar(members, names, NumberType().text)
            annotations = _with_scalar(members, annotations, NumberType().annotation)
            text, annotation = "".join(names), "".join(annotations)
        else:
            text, annotation = ", ".join(names), ", ".join(annotations)
        return intern(cls, members, f"Union({text})", f"Union[{annotation}]", *members)


def _with_scalar(members: tuple[Type, ...], names: list[str], scalar: str) -> list[str]:
    """The parts of a union's text where a Scalar stands for the numbers.

    As in torch, a comma precedes every member but the first, those that are left out included.
    """
    parts: list[str] = []
    printed = False
    for index, (member, name) in enumerate(zip(members, names, strict=True)):
        if member not in NUMBERS:
            if index > 0:
                parts.append(", ")
                printed = True
            parts.append(name)
    return [*parts, ", " if printed else "", scalar]


class OptionalType(Type):
    """``T?``.  Of an optional, another optional that is equal to it: torch has two as well."""

    __slots__ = ()
    kind = "OptionalType"

    def __new__(cls, element: Type) -> OptionalType:
        made = _optionals.get(element)
        if made is None:
            held = _optional_element(element)
            text, annotation = f"{held.text}?", f"Optional[{held.annotation}]"
            made = _optionals[element] = intern(cls, (element,), text, annotation, held)
        return made

    @property
    def element(self) -> Type:
        return self.contained[0]


_optionals: Final[dict[Type, OptionalType]] = {}


def _optional_element(element: Type) -> Type:
    """What an optional of ``element`` holds, optionals and Nones in it taken out."""
    members = _standardized((element, NoneType()))
    if len(members) == 2:
        return members[0] if members[0].kind != "NoneType" else members[1]
    if element.kind == "NumberType" or (
        element.kind == "UnionType"
        and len(element.contained) == 3
        and can_hold(element, NumberType())
    ):
        return NumberType()
    rest = [member for member in members if not is_subtype(member, NoneType())]
    return rest[0] if len(rest) == 1 else make_union(*rest)


def make_union(*members: Type) -> Type:
    """``UnionType::create``: a union, or the optional it comes down to."""
    made = _standardized(members)
    holds_none = NoneType() in made
    if holds_none and len(made) == 4 and all(number in made for number in NUMBERS):
        return OptionalType(NumberType())
    if holds_none and len(made) == 2:
        return OptionalType(made[0] if made[0] is not NoneType() else made[1])
    return UnionType(*made)


def _standardized(reference: tuple[Type, ...]) -> tuple[Type, ...]:
    """``standardizeVectorForUnion``; torch refuses what comes down to a single type."""
    flat = [part for member in reference for part in _flatten(member)]
    _coalesce(flat)
    if len(flat) == 1:
        shown = "".join(
            f"{member.repr_text}{',' if index else ''} " for index, member in enumerate(reference)
        )
        raise RuntimeError(
            f"{internal_assert('false', 'UnionType')}After type unification was performed, the "
            f"Union with the original types {{{shown}}} has the single type {flat[0].repr_text}. "
            "Use the common supertype instead of creating a Uniontype"
        )
    return tuple(sorted(flat, key=lambda member: (KINDS.index(member.kind), member.text)))


def _flatten(member: Type) -> list[Type]:
    if member.kind == "UnionType":
        return [part for inner in member.contained for part in _flatten(inner)]
    if member.kind == "OptionalType":
        return [*_flatten(member.contained[0]), NoneType()]
    return list(NUMBERS) if member.kind == "NumberType" else [member]


def _coalesce(members: list[Type]) -> None:
    """``filterDuplicateSubtypes``: unify each with one before it, in torch's order."""
    last = len(members) - 1
    for right in range(len(members) - 1, 0, -1):
        for left in range(min(right - 1, last), -1, -1):
            unified = _supertype(members[right], members[left])
            if unified is not None:
                members[left] = unified
                members[right] = members[last]
                last -= 1
                break
    del members[last + 1 :]


def _supertype(left: Type, right: Type) -> Type | None:
    if is_subtype(left, NoneType()) != is_subtype(right, NoneType()):
        return None
    return unify(left, right)


def unify(left: Type, right: Type) -> Type | None:
    """``unifyTypes``: one type for both, or None."""
    if is_subtype(left, right):
        return right
    if is_subtype(right, left):
        return left
    for one, other in ((left, right), (right, left)):
        if is_subtype(one, NoneType()):
            return OptionalType(other)
    for one, other in ((left, right), (right, left)):
        if one.kind == "OptionalType":
            element = unify(one.contained[0], other)
            if element is not None:
                return OptionalType(element)
            break
    if left.kind != right.kind or len(left.contained) != len(right.contained):
        return None
    if left.kind not in ("TupleType", "FutureType"):
        return None
    parts = [unify(*pair) for pair in zip(left.contained, right.contained, strict=True)]
    if any(part is None for part in parts):
        return None
    make = TupleType if left.kind == "TupleType" else FutureType
    return make(*(part for part in parts if part is not None))


# --- printing ---------------------------------------------------------------------------------


def printed(shown: Type) -> str:
    """``operator<<``: as schemas spell it, but for futures and references."""
    form = _PRINTED.get(shown.kind)
    if shown.kind == "TupleType":
        return f"({', '.join(map(printed, shown.contained))})"
    return shown.text if form is None else form.format(printed(shown.contained[0]))


_PRINTED: Final = {
    "ListType": "{}[]",
    "OptionalType": "{}?",
    "FutureType": "Future[{}]",
    "RRefType": "RRef[{}]",
}
