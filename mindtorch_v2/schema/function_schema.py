"""Schemas and their arguments: what they hold, how they print, when one may replace another.

Mirrors ``ATen/core/function_schema.h`` and ``function_schema.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.alias_info import AliasInfo
from mindtorch_v2.schema.base_types import Type
from mindtorch_v2.schema.subtyping import equal, is_subtype
from mindtorch_v2.schema.values import Value, hash_key, quote, same_value, show


@dataclass(frozen=True, eq=False)
class Argument:
    """One argument, or one return.

    ``type`` is what calls are checked against; ``real_type`` also knows a ``SymInt`` from an
    ``int``.  ``N`` is the length of ``T[N]``.  A default that is a list is not to be changed.
    """

    name: str
    type: Type
    real_type: Type
    N: int | None = None
    default_value: Value = None
    has_default: bool = False
    kwarg_only: bool = False
    alias_info: AliasInfo | None = None
    #: Whether a union came down to an optional in it, which torch then makes anew.
    type_is_own: bool = False
    is_out: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_out", self.kwarg_only and self.is_write)

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    def __eq__(self, other: object) -> bool:
        """As in torch; the real types are not looked at."""
        if not isinstance(other, Argument):
            return NotImplemented
        return (
            self.name == other.name
            and equal(self.type, other.type)
            and self.N == other.N
            and self.same_default(other)
            and self.kwarg_only == other.kwarg_only
            and self.alias_info == other.alias_info
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        default = hash_key(self.default_value) if self.has_default else None
        return self.name, self.N, self.kwarg_only, self.alias_info, default

    def identity_hash(self) -> int:
        """As torch hashes it: by the identity of its type, which each parse makes anew.

        RuntimeError for a list or a complex number as default: C++ does not hash those.
        """
        if isinstance(self.default_value, complex):
            raise RuntimeError("unhashable type: 'complex'")
        if isinstance(self.default_value, list):
            found = self.type.contained[0] if self.type.kind == "OptionalType" else self.type
            raise RuntimeError(f"unhashable type: '{found.repr_text}'")
        is_shared_type = not self.type_is_own and is_shared(self.type)
        return hash((self.type if is_shared_type else id(self), self._key()))

    def same_default(self, other: Argument) -> bool:
        return self.has_default == other.has_default and same_value(
            self.default_value, other.default_value
        )

    def __str__(self) -> str:
        named = f" {self.name}" if self.name else ""
        return f"{self._declared_type()}{named}{self._default()}"

    def _declared_type(self) -> str:
        """The real type, with the alias annotation before the ``?`` of an optional."""
        real, alias = self.real_type, self.alias_info
        mark = ""
        if real.kind == "OptionalType":
            real, mark = real.contained[0], "?"
        if real.kind == "ListType":
            inner = alias.contained[0] if alias is not None and alias.contained else ""
            size = "" if self.N is None else self.N
            text = f"{real.contained[0].text}{inner}[{size}]"
        else:
            text = real.text
        outer = alias if alias is not None and alias.before else ""
        return f"{text}{outer}{mark}"

    def _default(self) -> str:
        if not self.has_default:
            return ""
        value, real = self.default_value, self.real_type
        if isinstance(value, str):
            inner = real.contained[0] if real.kind == "OptionalType" else real
            return f"={quote(value) if inner.kind == 'StringType' else value}"
        is_int_list = real.kind == "ListType" and real.contained[0].kind == "IntType"
        if is_int_list and len(value) > 1 and all(item == value[0] for item in value):
            return f"={value[0]}"
        return f"={show(value)}"

    # --- compatibility ------------------------------------------------------------------------

    def is_backward_compatible_with(self, old: Argument) -> bool:
        """Whether every call that suited ``old`` suits this argument."""
        return (
            self._same_declaration(old)
            and is_subtype(old.type, self.type)
            and (not old.has_default or self.same_default(old))
        )

    def is_forward_compatible_with(self, old: Argument) -> bool:
        """Whether every call that suits this argument suited ``old``."""
        return (
            self._same_declaration(old)
            and is_subtype(self.type, old.type)
            and (not old.has_default or self.same_default(old))
            and not (self.has_default and not old.has_default)
        )

    def _same_declaration(self, old: Argument) -> bool:
        return (
            self.name == old.name
            and self.N == old.N
            and self.alias_info == old.alias_info
            and not (self.kwarg_only and not old.kwarg_only)
        )


def is_shared(tested: Type) -> bool:
    """Whether all of torch has one such type: simple types, classes, and optionals of them."""
    if tested.kind == "OptionalType":
        return is_shared(tested.contained[0])
    return tested.kind == "ClassType" or (
        not tested.contained and tested.kind not in ("VarType", "TupleType")
    )


@dataclass(frozen=True, eq=False)
class FunctionSchema:
    """A schema.  ``name`` is ``aten::add``, ``overload_name`` is ``Tensor`` or empty.

    RuntimeError if a positional argument without default follows one that has a default.
    """

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    is_vararg: bool = False
    is_varret: bool = False

    def __post_init__(self) -> None:
        seen_default = False
        for argument in self.arguments:
            if argument.has_default:
                seen_default = True
            elif seen_default and not argument.kwarg_only and argument.type.kind != "ListType":
                raise RuntimeError(
                    internal_assert("!seen_default_arg || arg.kwarg_only()", "checkSchema")
                    + "Non-default positional argument follows default argument. Parameter "
                    + f"{argument.name} in {self}"
                )

    @cached_property
    def is_mutable(self) -> bool:
        return any(argument.is_write for argument in self.arguments)

    @property
    def full_name(self) -> str:
        """``aten::add.Tensor``."""
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name

    def index_of(self, name: str) -> int | None:
        """``argumentIndexWithName``."""
        for index, argument in enumerate(self.arguments):
            if argument.name == name:
                return index
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionSchema):
            return NotImplemented
        return (
            self.name == other.name
            and self.overload_name == other.overload_name
            and self.arguments == other.arguments
            and self.returns == other.returns
            and self.is_vararg == other.is_vararg
            and self.is_varret == other.is_varret
        )

    def __hash__(self) -> int:
        return hash((self.name, self.overload_name, self.arguments, self.returns))

    def identity_hash(self) -> int:
        """As torch hashes it: of two parses of one text alike only where no type was made."""
        parts = (*self.arguments, None, *self.returns)
        hashes = tuple(part and part.identity_hash() for part in parts)
        return hash((self.name, self.overload_name, hashes, self.is_vararg, self.is_varret))

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        arguments = [str(argument) for argument in self.arguments]
        keyword = next((i for i, a in enumerate(self.arguments) if a.kwarg_only), None)
        if keyword is not None:
            arguments.insert(keyword, "*")
        if self.is_vararg:
            arguments.append("...")
        return f"{self.full_name}({', '.join(arguments)}) -> {self._printed_returns()}"

    def _printed_returns(self) -> str:
        returns = [str(argument) for argument in self.returns]
        if self.is_varret:
            returns.append("...")
        text = ", ".join(returns)
        # A single return that itself opens with a bracket would be read as a list of returns.
        alone = len(returns) == 1 and (self.is_varret or not text.startswith("("))
        return text if alone else f"({text})"

    # --- compatibility ------------------------------------------------------------------------

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Whether every call that suited ``old`` suits this schema."""
        if not self._same_shape(old) or len(self.arguments) < len(old.arguments):
            return False
        if not all(
            mine.is_backward_compatible_with(theirs)
            for mine, theirs in zip(old.returns, self.returns, strict=True)
        ):
            return False
        old_out, new_out = _first_out(old), _first_out(self)
        for index in range(old_out):
            if not self.arguments[index].is_backward_compatible_with(old.arguments[index]):
                return False
        if not all(argument.has_default for argument in self.arguments[old_out:new_out]):
            return False
        return all(
            self._at(index - old_out + new_out).is_backward_compatible_with(old.arguments[index])
            for index in range(old_out, len(old.arguments))
        )

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Whether every call that suits this schema suited ``old``; if not, why."""
        if not self._same_shape(old):
            return False, ""
        old_out, new_out = _first_out(old), _first_out(self)
        if len(old.arguments) - old_out != len(self.arguments) - new_out:
            return False, "Function schema should have the same number of out arguments"
        for index in range(min(old_out, new_out)):
            argument = self.arguments[index]
            if not argument.is_forward_compatible_with(old.arguments[index]):
                why = "is not forward compatible with the older version of the schema"
                return False, f"'{argument.name}' {why}"
        for argument in self.arguments[old_out:new_out]:
            new = f"'{argument.name}' of type {argument.type.text}"
            why = f"Function schema is not forward compatible since the new argument {new}"
            if not argument.has_default:
                return False, f"{why} did not provide a default value."
            if isinstance(argument.default_value, list):
                return False, f"{why} has a container type as its default value."
        for index in range(old_out, len(old.arguments)):
            argument = self._at(index - old_out + new_out)
            if not argument.is_forward_compatible_with(old.arguments[index]):
                why = "is not FC with the older version of the schema"
                return False, f"Out argument ''{self._at(index).name} {why}"  # sic: not shifted
        return True, ""

    def _same_shape(self, old: FunctionSchema) -> bool:
        return (
            self.name == old.name
            and self.overload_name == old.overload_name
            and self.is_vararg == old.is_vararg
            and self.is_varret == old.is_varret
            and len(self.returns) == len(old.returns)
        )

    def _at(self, index: int) -> Argument:
        """``arguments().at(index)``, whose refusal leaves C++ as an IndexError."""
        if index >= len(self.arguments):
            raise IndexError(
                f"vector::_M_range_check: __n (which is {index}) >= this->size() "
                f"(which is {len(self.arguments)})"
            )
        return self.arguments[index]


def _first_out(schema: FunctionSchema) -> int:
    for index, argument in enumerate(schema.arguments):
        if argument.is_out:
            return index
    return len(schema.arguments)


def find_schema_differences(left: FunctionSchema, right: FunctionSchema) -> str | None:
    """Where two schemas differ in number or type of arguments and returns; None if nowhere.

    Mirrors ``findSchemaDifferences`` in ``aten/src/ATen/core/op_registration/infer_schema.cpp``.
    """
    sides = (
        ("argument", left.arguments, right.arguments),
        ("return", left.returns, right.returns),
    )
    for what, ours, theirs in sides:
        if len(ours) != len(theirs):
            return f"The number of {what}s is different. {len(ours)} vs {len(theirs)}."
    for what, ours, theirs in sides:
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True), 1):
            if not equal(one.real_type, other.real_type):
                return (
                    f"Type mismatch in {what} {place}: {one.real_type.text} vs "
                    f"{other.real_type.text}."
                )
    return None
