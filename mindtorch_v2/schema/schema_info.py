"""What a schema and the values of a call tell about mutation and aliasing.

Mirrors ``torch/csrc/utils/schema_info.cpp`` and the alias queries of ``function_schema.cpp``.

Note [identity of types]
    C++ compares types here by pointer.  Types without parts exist once; any other is made anew
    each time one is parsed, so two arguments declared ``int[]`` have two types, and what they
    hold may alias while they may not.  Types here are interned, so such a type is told by the
    place where it stands: an ``AliasType``.  Two tuples are never the same type, not even one
    with itself: the query makes one each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema import types
from mindtorch_v2.schema.base_types import Type
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema, is_shared

INPUT: Final = 0
OUTPUT: Final = 1


class SchemaArgument:
    """An argument (``INPUT``) or a return (``OUTPUT``) by its place."""

    __slots__ = ("index", "type")

    def __init__(self, type: int, index: int) -> None:
        self.type, self.index = type, index


Place = tuple[int, int]
"""A SchemaArgument as a value."""


class AliasType(NamedTuple):
    """A type and where it stands; ``where`` is None for types of which there is one."""

    type: Type
    where: tuple[object, ...] | None
    #: Of a tuple that the query made: what it is made of.
    made_of: tuple[AliasType, ...] | None = None

    def parts(self) -> Iterable[AliasType]:
        if self.made_of is not None:
            return self.made_of
        where = self.where or ()
        return (_at(part, (*where, index)) for index, part in enumerate(self.type.contained))


def _at(type_: Type, where: tuple[object, ...]) -> AliasType:
    return AliasType(type_, None if is_shared(type_) else where)


def alias_types(type_: Type, where: tuple[object, ...]) -> list[AliasType]:
    """``mapTypeToAliasTypeSet``: what of a value may share memory; empty for nothing."""
    if type_.kind in ("ListType", "DictType", "ClassType", "TensorType", "AnyType"):
        return [_at(type_, where)]
    if type_.kind == "OptionalType":
        return alias_types(type_.contained[0], where)
    if type_.kind not in ("UnionType", "TupleType"):
        return []
    members = [
        found
        for index, member in enumerate(type_.contained)
        for found in alias_types(member, (*where, index))
    ]
    if type_.kind == "UnionType" or not members:
        return members
    return [AliasType(type_, (*where, object()), tuple(members))]


def contained_types(outer: Iterable[AliasType]) -> set[AliasType]:
    """``getAliasTypeSetContainedTypes``: everything inside, at any depth."""
    found: set[AliasType] = set()
    for type_ in outer:
        for part in type_.parts():
            found.add(part)
            found |= contained_types((part,))
    return found


class SchemaInfo:
    """A schema, and what is known of the values of a call."""

    def __init__(self, schema: FunctionSchema) -> None:
        self.schema = schema
        self._values: dict[str, Any] = {}
        self._wildcards: set[Place] = set()
        self._containers: set[Place] = set()
        self._inputs: list[set[int]] | None = None
        self._outputs: list[set[int]] = []

    # --- values -------------------------------------------------------------------------------

    def has_argument(self, name: str) -> bool:
        return self.schema.index_of(name) is not None

    def add_argument_value(self, name: str, value: Any) -> None:
        """Say what an argument is; ``input`` may stand for ``self``.

        A value that torch finds no type for is passed over.
        """
        if not is_inferable(value):
            return
        known = "self" if name == "input" and not self.has_argument("input") else name
        if not self.has_argument(known):
            where = internal_assert("index != std::nullopt", "SchemaInfo.addArgumentValue")
            raise RuntimeError(f"{where}Schema has no argument named {known}")
        self._values[known] = value
        self._inputs = None

    def add_argument_values(self, values: Mapping[Any, Any]) -> None:
        for name in values:
            if not isinstance(name, str):
                where = internal_assert("key.isString()", "SchemaInfo.add_argument_values")
                raise RuntimeError(f"{where}Add argument value keys types should be strings.")
        for name, value in values.items():
            self.add_argument_value(name, value)

    # --- mutation -----------------------------------------------------------------------------

    def is_mutable(self) -> bool:
        """Whether any argument is written to."""
        return any(
            self.is_mutable_at(SchemaArgument(INPUT, index))
            for index in range(len(self.schema.arguments))
        )

    def is_mutable_name(self, name: str) -> bool:
        index = self.schema.index_of(name)
        if index is None:
            where = internal_assert("index.has_value()", "SchemaInfo.is_mutable(name)")
            raise RuntimeError(f"{where}Schema has no argument named {name}")
        return self.is_mutable_at(SchemaArgument(INPUT, index))

    def is_mutable_at(self, argument: SchemaArgument) -> bool:
        """Whether an argument, or any that it aliases, is written to."""
        self._check(argument, "argument", "SchemaInfo.is_mutable(argument)")
        inputs = self._alias_maps()
        aliases = inputs if argument.type == INPUT else self._outputs
        return any(map(self._is_written, aliases[argument.index]))

    def _is_written(self, index: int) -> bool:
        argument = self.schema.arguments[index]
        if argument.name in _written_in_training(self.schema):
            return any(self._flag(name) for name in ("training", "train", "use_input_stats"))
        return argument.is_write

    def _flag(self, name: str) -> bool:
        """Whether a flag is set; one whose value is not known is."""
        return self.has_argument(name) and bool(self._values.get(name, True))

    # --- aliasing -----------------------------------------------------------------------------

    def may_alias(self, left: SchemaArgument, right: SchemaArgument) -> bool:
        """Whether two values may be the same memory."""
        if self._declared_alias(left, right):
            return True
        if not self._share(self._types(left), self._types(right)):
            return False
        inputs = self._alias_maps()
        if _place(left) in self._wildcards and _place(right) in self._wildcards:
            return True
        if left.type == INPUT and right.type == INPUT:
            return right.index in inputs[left.index]
        if left.type == OUTPUT and right.type == OUTPUT:
            return bool(self._outputs[left.index] & self._outputs[right.index])
        if left.type == OUTPUT:
            return right.index in self._outputs[left.index]
        return left.index in self._outputs[right.index]

    def may_contain_alias(self, left: SchemaArgument, right: SchemaArgument) -> bool:
        """Whether two values may be the same memory, or one may hold what the other is or holds."""
        if self._declared_contained_alias(left, right) or self.may_alias(left, right):
            return True
        self._alias_maps()
        return self._holds(left, right) or self._holds(right, left)

    def _holds(self, left: SchemaArgument, right: SchemaArgument) -> bool:
        return (
            self._share(contained_types(self._types(left)), self._types(right))
            and _place(left) in self._containers
            and _place(right) in self._wildcards
        )

    def _declared_alias(self, left: SchemaArgument, right: SchemaArgument) -> bool:
        """``FunctionSchema::may_alias``: by the annotations alone."""
        self._check(left, "lhs", "FunctionSchema.may_alias(lhs)")
        self._check(right, "rhs", "FunctionSchema.may_alias(rhs)")
        mine, theirs = self._argument(left).alias_info, self._argument(right).alias_info
        if mine is None or theirs is None or mine.after_set.isdisjoint(theirs.after_set):
            return False
        return self._share(self._types(left), self._types(right))

    def _declared_contained_alias(self, left: SchemaArgument, right: SchemaArgument) -> bool:
        """``FunctionSchema::may_contain_alias``, in both directions."""
        if self._declared_alias(left, right):
            return True
        mine, theirs = self._types(left), self._types(right)
        inside_mine, inside_theirs = contained_types(mine), contained_types(theirs)
        return (
            (_is_wildcard(self._argument(left)) and self._share(mine, inside_theirs))
            or (_is_wildcard(self._argument(right)) and self._share(theirs, inside_mine))
            or self._share(inside_mine, inside_theirs)
        )

    @staticmethod
    def _share(left: Iterable[AliasType], right: Iterable[AliasType]) -> bool:
        return not set(left).isdisjoint(right)

    def _types(self, argument: SchemaArgument) -> list[AliasType]:
        return alias_types(self._argument(argument).type, _place(argument))

    def _argument(self, argument: SchemaArgument) -> Argument:
        return self._list(argument)[argument.index]

    def _list(self, argument: SchemaArgument) -> tuple[Argument, ...]:
        return self.schema.arguments if argument.type == INPUT else self.schema.returns

    def _check(self, argument: SchemaArgument, name: str, function: str) -> None:
        if argument.index >= len(self._list(argument)):
            condition = f"{name}.index < {_CHECKED[name]}({name}.type).size()"
            shown = f"({condition})" if name != "argument" else condition
            raise RuntimeError(f"{internal_assert(shown, function)}Invalid index for schema.")

    # --- alias maps ---------------------------------------------------------------------------

    def _alias_maps(self) -> list[set[int]]:
        """Which inputs each input aliases; fills the outputs' map and the sets too."""
        if self._inputs is None:
            if not self._containers and not self._wildcards:
                self._find_wildcards()
            self._inputs = self._input_map()
            self._find_contained_values(self._inputs)
            self._outputs = self._output_map(self._inputs)
        return self._inputs

    def _find_wildcards(self) -> None:
        duplicates: set[str] = set()
        sides = ((INPUT, self.schema.arguments), (OUTPUT, self.schema.returns))
        for side, arguments in sides:
            seen: set[str] = set()
            for index, argument in enumerate(arguments):
                if _is_wildcard(argument):
                    self._wildcards.add((side, index))
                elif argument.alias_info is not None:
                    duplicates |= seen & argument.alias_info.after_set
                    seen |= argument.alias_info.after_set
                if contained_types(alias_types(argument.type, (side, index))):
                    self._containers.add((side, index))
        for side, arguments in sides:
            for index, argument in enumerate(arguments):
                info = argument.alias_info
                if info is not None and not duplicates.isdisjoint(info.after_set):
                    self._wildcards.add((side, index))

    def _input_map(self) -> list[set[int]]:
        arguments = self.schema.arguments
        found: list[set[int]] = [{index} for index in range(len(arguments))]
        for i, left in enumerate(arguments):
            for j in range(i + 1, len(arguments)):
                if self._values_alias(left.name, arguments[j].name):
                    found[i].add(j)
                    found[j].add(i)
                    if {(INPUT, i), (INPUT, j)} & self._wildcards:
                        self._wildcards |= {(INPUT, i), (INPUT, j)}
        return found

    def _find_contained_values(self, inputs: list[set[int]]) -> None:
        arguments = self.schema.arguments
        for i, left in enumerate(arguments):
            for j, right in enumerate(arguments):
                known = left.name in self._values and right.name in self._values
                if j in inputs[i] or not known:
                    continue
                wanted = self._values[right.name]
                if any(is_alias(part, wanted) for part in _parts_of(self._values[left.name])):
                    self._wildcards.add((INPUT, j))

    def _output_map(self, inputs: list[set[int]]) -> list[set[int]]:
        found: list[set[int]] = [set() for _ in self.schema.returns]
        for i in range(len(self.schema.arguments)):
            for j in range(len(self.schema.returns)):
                if self._declared_alias(SchemaArgument(INPUT, i), SchemaArgument(OUTPUT, j)):
                    if (INPUT, i) in self._wildcards:
                        self._wildcards.add((OUTPUT, j))
                    found[j] |= inputs[i]
        return found

    def _values_alias(self, left: str, right: str) -> bool:
        if left not in self._values or right not in self._values:
            return False
        return is_alias(self._values[left], self._values[right])


_CHECKED: Final = {
    "argument": "schema_.getCorrectList",
    "lhs": "getCorrectList",
    "rhs": "getCorrectList",
}


def _place(argument: SchemaArgument) -> Place:
    return argument.type, argument.index


def _is_wildcard(argument: Argument) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_wildcard_after


def _written_in_training(schema: FunctionSchema) -> Iterable[str]:
    """Arguments that an operator writes to where a flag says so: not annotated, but a fact."""
    facts: Mapping[str, list[str]] = profile.active().schema_language["written_in_training"]
    return facts.get(str(schema), ())


# --- values -----------------------------------------------------------------------------------


def is_tensor(value: object) -> bool:
    """Known by what it has: tensors come after schemas."""
    return hasattr(type(value), "dtype") and hasattr(type(value), "device")


def is_alias(left: object, right: object) -> bool:
    """Whether two values are the same memory: only tensors can be."""
    return is_tensor(left) and left is right


def is_inferable(value: object) -> bool:
    """Whether torch finds a type for a value; what it finds none for it passes over."""
    return infer_type(value) is not None


def infer_type(value: object) -> types.Type | None:
    """``tryToInferType``, for values without classes of their own."""
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return simple
    if is_tensor(value):
        return types.TensorType()
    if isinstance(value, tuple):
        elements = [infer_type(item) for item in value]
        known = [element for element in elements if element is not None]
        return types.TupleType(*known) if len(known) == len(elements) else None
    if isinstance(value, list):
        element = _infer_common(value)
        return element and types.ListType(element)
    if isinstance(value, dict):
        key, held = _infer_common(value), _infer_common(value.values())
        if key is None or held is None or key.kind not in types.KEY_KINDS:
            return None
        return types.DictType(key, held)
    return None


def _infer_common(values: Iterable[object]) -> types.Type | None:
    """One type for all; None for no values too."""
    common: types.Type | None = None
    for value in values:
        inferred = infer_type(value)
        if inferred is None:
            return None
        common = inferred if common is None else types.unify(common, inferred)
        if common is None:
            return None
    return common


_SIMPLE: Final[dict[type, types.Type]] = {
    type(None): types.NoneType(),
    bool: types.BoolType(),
    int: types.IntType(),
    float: types.FloatType(),
    complex: types.ComplexType(),
    str: types.StringType(),
}


def _parts_of(value: object) -> Iterator[object]:
    """``getSubValues``: the value and all that it holds."""
    yield value
    if isinstance(value, dict):
        held: Iterable[object] = (*value, *value.values())
    else:
        held = value if isinstance(value, (list, tuple)) else ()
    for part in held:
        yield from _parts_of(part)
