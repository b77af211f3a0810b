"""Parses schemas and operator names.

Mirrors ``torch/csrc/jit/frontend/function_schema_parser.cpp``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.alias_info import AliasInfo
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.schema.lexer import EOF, IDENT, NEWLINE, NUMBER, STRING
from mindtorch_v2.schema.number_text import stod, stoll
from mindtorch_v2.schema.string_literal import MalformedLiteralError, parse_string_literal
from mindtorch_v2.schema.type_parser import TypeParser
from mindtorch_v2.schema.types import ListType, OptionalType, Type
from mindtorch_v2.schema.values import Value

_DTYPES: Final[dict[str, int]] = profile.active().schema_language["dtypes"]
_CONSTANTS: Final = {
    "float": 6,
    "complex": 9,
    "long": 4,
    "strided": 0,
    "Mean": 1,
    "contiguous_format": 0,
}
"""Names that any default may have: C++ enum values."""

_ONLY_NONE: Final = frozenset(("TensorType", "GeneratorType", "QuantizerType"))
_ANY_CONSTANT: Final = frozenset(
    ["StringType", "OptionalType", "NumberType", "IntType", "BoolType", "FloatType", "ComplexType"]
)
_LITERALS: Final = {"True": True, "False": False, "None": None}
_NAMESPACES_WITH_VARIABLES: Final = ("aten::", "prim::")

OperatorName = tuple[str, str]
"""Name and overload name."""


def parse_schema(text: str, allow_typevars: bool = True) -> FunctionSchema:
    """The schema that ``text`` declares; RuntimeError, as torch words it, if it declares none."""
    parsed = parse_schema_or_name(text, allow_typevars)
    if not isinstance(parsed, FunctionSchema):
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    return parsed


@lru_cache(maxsize=1 << 13)
def parse_known_schema(text: str, allow_typevars: bool = True) -> FunctionSchema:
    """The same, kept: layers ask for those of a profile's operators, and programs define theirs
    again and again."""
    return parse_schema(text, allow_typevars)


@lru_cache(maxsize=1 << 13)
def parse_printed_schema(text: str) -> FunctionSchema:
    """The schema that prints as ``text``, as those of a profile do.

    Not the schema that torch would parse from it: printing and parsing again turns ``(a|b)``
    into ``(b|a)``.
    """
    parsed = _SchemaParser(text, True, printed=True).parse_only_declaration()
    assert isinstance(parsed, FunctionSchema)
    return parsed


@lru_cache(maxsize=1 << 12)
def parse_name(text: str) -> OperatorName:
    """The operator name that ``text`` is; RuntimeError if it is none."""
    parsed = parse_schema_or_name(text)
    if isinstance(parsed, FunctionSchema):
        raise RuntimeError("Tried to parse an operator name but function schema was given")
    return parsed


def parse_schema_or_name(text: str, allow_typevars: bool = True) -> FunctionSchema | OperatorName:
    """A schema, or an operator name without arguments."""
    variables = allow_typevars or text.startswith(_NAMESPACES_WITH_VARIABLES)
    # C++ sees bytes: an excerpt may cut a character in two, and an escape may be half of one.
    raw = _as_latin_1(text)
    try:
        return _SchemaParser(raw, variables).parse_only_declaration()
    except RuntimeError as error:
        message = str(error)
        if message.isascii():
            raise
        c_string = message.partition("\0")[0]
        raise RuntimeError(c_string.encode("latin-1").decode("utf-8")) from None


def _as_latin_1(text: str) -> str:
    """The UTF-8 bytes of ``text``, one character a byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


class _SchemaParser(TypeParser):
    __slots__ = ()

    def parse_only_declaration(self) -> FunctionSchema | OperatorName:
        declared = self._parse_declaration()
        self.next_if(NEWLINE)
        self.expect(EOF)
        return declared

    def _parse_declaration(self) -> FunctionSchema | OperatorName:
        name = self._parse_name()
        if self.kind != "(":
            return name
        arguments, is_vararg = self._parse_arguments()
        self.expect("arrow")
        returns, is_varret = self._parse_returns()
        try:
            return FunctionSchema(*name, tuple(arguments), tuple(returns), is_vararg, is_varret)
        except RuntimeError as error:  # it shows the schema, as text: bytes again, like the rest
            raise RuntimeError(_as_latin_1(str(error))) from None

    def _parse_name(self) -> OperatorName:
        name = self.expect_text(IDENT)
        if self.next_if(":"):
            self.expect(":")
            name = f"{name}::{self.expect_text(IDENT)}"
        overload = self.expect_text(IDENT) if self.next_if(".") else ""
        if overload == "default" or overload.startswith("__"):
            raise RuntimeError(f"{overload} is not a legal overload name for aten operators")
        return name, overload

    def _parse_arguments(self) -> tuple[list[Argument], bool]:
        arguments: list[Argument] = []
        kwarg_only = is_vararg = False

        def item() -> None:
            nonlocal kwarg_only, is_vararg
            if is_vararg:
                raise self.refusal("... must be the last element of the argument list")
            if self.next_if("*"):
                kwarg_only = True
            elif self.next_if("dots"):
                is_vararg = True
            else:
                arguments.append(self._parse_argument(kwarg_only=kwarg_only))

        self.parse_list("(", ")", item)
        if is_vararg and any(argument.has_default for argument in arguments):
            raise self.refusal("schemas with vararg (...) can't have default value args")
        return arguments, is_vararg

    def _parse_returns(self) -> tuple[list[Argument], bool]:
        returns: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                raise self.refusal("... must be the last element of the return list")
            if self.next_if("dots"):
                is_varret = True
            else:
                returns.append(self._parse_return())

        if self.next_if("dots"):
            is_varret = True
        elif self.kind == "(":
            self.parse_list("(", ")", item)
        else:
            returns.append(self._parse_return())
        return returns, is_varret

    # --- arguments ----------------------------------------------------------------------------

    def _parse_argument(self, *, kwarg_only: bool) -> Argument:
        fake, real, size, alias = self._parse_declared_type()
        is_own = self.made_optional
        name = self.expect_text(IDENT)
        if not self.next_if("="):
            return Argument(name, fake, real, size, None, False, kwarg_only, alias, is_own)
        default = self._parse_default(fake, real, size)
        return Argument(name, fake, real, size, default, True, kwarg_only, alias, is_own)

    def _parse_return(self) -> Argument:
        fake, real, size, alias = self._parse_declared_type()
        name = ""
        if self.kind == IDENT:
            name = self.token_text(self.index)
            self.advance()
        return Argument(name, fake, real, size, alias_info=alias, type_is_own=self.made_optional)

    def _parse_declared_type(self) -> tuple[Type, Type, int | None, AliasInfo | None]:
        """A type, and the ``[N]`` that only an argument may have."""
        self.made_optional = False
        fake, real, alias = self.parse_type()
        if not self.next_if("["):
            return fake, real, None, alias
        size = _as_int32(stoll(self.expect_text(NUMBER)))
        self.expect("]")
        alias = self.container_alias(alias)
        fake, real = ListType(fake), ListType(real)
        if self.next_if("?"):
            fake, real = OptionalType(fake), OptionalType(real)
        return fake, real, size, alias

    # --- defaults -----------------------------------------------------------------------------

    def _parse_default(self, fake: Type, real: Type, size: int | None) -> Value:
        kind, start = fake.kind, self.index
        if kind in _ANY_CONSTANT:
            return self._parse_constant(fake, real)
        if kind in _ONLY_NONE:
            self.expect("None")
            return None
        if kind == "ListType":
            return self._parse_list_default(fake.contained[0], real.contained[0], size)
        if kind == "DeviceObjType":
            return _device(self._literal(self.expect(STRING)))
        raise self.refusal("unexpected type, file a bug report", start)

    def _parse_list_default(self, fake: Type, real: Type, size: int | None) -> Value:
        start = self.index
        if self.kind == IDENT:
            self.expect("None")
        if size is not None and self.kind != "[":
            value = self._parse_constant(fake, real)
            if size < 0:
                raise ValueError("cannot create std::vector larger than max_size()")
            return self._as_list(fake, [value] * size, start)
        self.expect("[")
        values: list[Value] = []
        if self.kind != "]":
            values.append(self._parse_constant(fake, real))
            while self.next_if(","):
                values.append(self._parse_constant(fake, real))
        self.expect("]")
        return self._as_list(fake, values, start)

    def _as_list(self, element: Type, values: list[Value], start: int) -> list[Value]:
        convert = _CONVERSIONS.get(element.kind)
        if convert is None:
            raise self.refusal("lists are only supported for float, int and complex types", start)
        return [convert(value) for value in values]

    def _parse_constant(self, fake: Type, real: Type) -> Value:
        kind = self.kind
        if kind in _LITERALS:
            self.advance()
            return _LITERALS[kind]
        if kind == STRING:
            index = self.index
            self.advance()
            literal = self._literal(index)
            return literal.encode("latin-1").decode("utf-8", "surrogateescape")
        if kind == IDENT:
            return self._parse_named_constant(real)
        sign = "-" if self.next_if("-") else ""
        return _number(sign + self.expect_text(NUMBER), fake)

    def _parse_named_constant(self, real: Type) -> int:
        name = self.token_text(self.index)
        self.advance()
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if _is_possibly_optional_scalar_type(real) and name in _DTYPES:
            return _DTYPES[name]
        raise self.refusal("invalid numeric default value")  # at the token after it, as in torch

    def _literal(self, index: int) -> str:
        try:
            return parse_string_literal(self.token_text(index))
        except MalformedLiteralError as error:
            raise self.refusal(str(error), index) from None


def _is_possibly_optional_scalar_type(real: Type) -> bool:
    if real.kind == "OptionalType":
        return _is_possibly_optional_scalar_type(real.contained[0])
    return real.kind == "ScalarTypeType"


def _number(text: str, fake: Type) -> Value:
    """A number of the type that its text looks like, or that the argument asks for."""
    if fake.kind == "ComplexType" or "j" in text:
        return complex(0, stod(text[:-1]))
    if fake.kind == "FloatType" or "." in text or "e" in text:
        return stod(text)
    return stoll(text)


def _as_int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _device(text: str) -> Value:
    # A device belongs to the tensors, which come after schemas; no schema of torch has one.
    from mindtorch_v2.tensor.device import Device

    return Device._made(text)


# --- elements of lists ------------------------------------------------------------------------

_TAGS: Final = {type(None): "None", bool: "Bool", int: "Int", float: "Double", str: "String"}


def _to_double(value: Value) -> float:
    if type(value) is not float:
        raise RuntimeError(f"{internal_assert('0', 'toDouble')}expected double")
    return value


def _to_int(value: Value) -> int:
    if type(value) is not int:
        raise RuntimeError(f"{internal_assert('0', 'toInt')}expected int")
    return value


def _to_bool(value: Value) -> bool:
    if type(value) is not bool:
        raise RuntimeError(f"{internal_assert('0', 'toBool')}expected bool")
    return value


def _to_complex(value: Value) -> complex:
    if type(value) is not complex:
        where = internal_assert("isComplexDouble()", "toComplexDouble")
        raise RuntimeError(f"{where}Expected ComplexDouble but got {_TAGS[type(value)]}")
    return value


_CONVERSIONS: Final = {
    "ComplexType": _to_complex,
    "FloatType": _to_double,
    "IntType": _to_int,
    "BoolType": _to_bool,
}
