"""Parses types and alias annotations.

Mirrors ``torch/csrc/jit/frontend/schema_type_parser.cpp``, without the shapes of tensor types,
which schemas do not take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.schema import base_types, types
from mindtorch_v2.schema.alias_info import WILDCARD, AliasInfo
from mindtorch_v2.schema.lexer import EOF, ERROR, IDENT, expected, tokenize
from mindtorch_v2.schema.source_range import error_report
from mindtorch_v2.schema.types import Type

_FACTS: Final = profile.active().schema_language
_BASE_TYPES: Final[dict[str, Type]] = {
    name: getattr(base_types, kind)() for name, kind in _FACTS["base_types"].items()
}
_CLASSES: Final = frozenset(_FACTS["classes"])
_ENDS_AT_ZERO: Final[bool] = _FACTS["ends_at_zero"]
_DOTTED_NAMES: Final[bool] = _FACTS["dotted_names"]

_INT: Final = base_types.IntType()
_TENSOR: Final = base_types.TensorType()
_SHOWN_AS_INT: Final = frozenset(("ScalarTypeType", "MemoryFormatType", "LayoutType", "SymIntType"))
"""Kinds that calls are checked for as ``int``: the fake type."""

_HINTS: Final = {
    "double": (
        "Use `float` instead of `double` in an operator's schema string. "
        "`float` in schema corresponds to the double type in C++"
    ),
    "int64_t": (
        "Use `SymInt` or `int` instead of `int64_t` in an operator's schema string. "
        "`SymInt` corresponds to c10::SymInt in C++ while `int` in schema corresponds "
        "to the int64_t type in C++."
    ),
}
_UNKNOWN: Final = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, "
    "Scalar; for a full list, please see "
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)

Parsed = tuple[Type, Type, AliasInfo | None]
"""Fake type, real type, alias annotation."""


class TypeParser:
    """A place in a list of tokens, and the rules for types from there."""

    __slots__ = (
        "_error",
        "_fresh",
        "_printed",
        "_typevars",
        "ends",
        "index",
        "kind",
        "kinds",
        "made_optional",
        "starts",
        "text",
    )

    def __init__(self, text: str, allow_typevars: bool, printed: bool = False) -> None:
        tokens = tokenize(text, ends_at_zero=_ENDS_AT_ZERO)
        self.text = text
        self.kinds = tokens.kinds
        self.starts = tokens.starts
        self.ends = tokens.ends
        self._error = tokens.error
        self._typevars = allow_typevars
        #: Whether the text was printed: its alias sets are in the order of iteration already.
        self._printed = printed
        #: Alias sets made so far for ``Tensor!``, which names none.
        self._fresh = 0
        #: Whether a union has come down to an optional since the last declared type began.
        self.made_optional = False
        self.index = 0
        #: The kind of the current token.
        self.kind = self.kinds[0]
        if self.kind == ERROR:
            raise tokens.error or AssertionError

    # --- tokens -------------------------------------------------------------------------------

    def advance(self) -> None:
        if self.kind != EOF:
            self.index += 1
            self.kind = self.kinds[self.index]
            if self.kind == ERROR:
                raise self._error or AssertionError

    def next_if(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> int:
        """Pass the current token, which must be of this kind; answers its index."""
        index = self.index
        if self.kind != kind:
            start, end = self.starts[index], self.ends[index]
            raise expected(kind, self.kind, self.text, start, end)
        self.advance()
        return index

    def token_text(self, index: int) -> str:
        """The text of a token; that of one which ends at 0 goes on to the end."""
        return self.text[self.starts[index] : self.ends[index] or None]

    def expect_text(self, kind: str) -> str:
        return self.token_text(self.expect(kind))

    def refusal(self, message: str, index: int | None = None) -> RuntimeError:
        """What refuses the text at a token, by default the current one."""
        at = self.index if index is None else index
        return error_report(message, self.text, self.starts[at], self.ends[at])

    def parse_list(self, opening: str, closing: str, item: Callable[[], None]) -> None:
        self.expect(opening)
        if self.kind != closing:
            item()
            while self.next_if(","):
                item()
        self.expect(closing)

    # --- types --------------------------------------------------------------------------------

    def parse_type(self) -> Parsed:
        """A type, fake and real, with what follows it: an annotation, ``[]`` and ``?``."""
        fake, real, alias = self._parse_element()
        while True:
            if self.kind == "[" and self._following() == "]":
                self.advance()
                self.advance()
                real = types.ListType(real)
                fake = types.ListType(fake)
                alias = self.container_alias(alias)
            elif self.next_if("?"):
                fake = types.OptionalType(fake)
                real = types.OptionalType(real)
            else:
                return fake, real, alias

    def _following(self) -> str:
        """The kind of the token after the current one."""
        following = self.kinds[self.index + 1]
        if following == ERROR:
            raise self._error or AssertionError
        return following

    def container_alias(self, element: AliasInfo | None) -> AliasInfo | None:
        """The annotation after a list's brackets, with that of its elements inside."""
        container = self.parse_alias_annotation()
        if element is None:
            return container
        if container is None:
            return AliasInfo(is_write=element.is_write, contained=(element,))
        return AliasInfo(container.before, container.after, container.is_write, (element,))

    def _parse_element(self) -> Parsed:
        if self.kind == "(":
            return self._plain(self._parse_tuple())
        if self.kind == IDENT:
            index = self.index
            word = self.text[self.starts[index] : self.ends[index]]
            if word == "Tensor":
                self.advance()
                return _TENSOR, _TENSOR, self.parse_alias_annotation()
            if word in _COMPOUND:
                parse_parts, make = _COMPOUND[word]
                self.advance()
                parts = parse_parts(self)
                # The annotation is read before the type is made, which may be refused.
                alias = self.parse_alias_annotation() if word in _ANNOTATED else None
                made = make(*parts)
                if word == "Union" and made.kind == "OptionalType":
                    self.made_optional = True
                return made, made, alias
        real = self._parse_base_type()
        fake = _INT if real.kind in _SHOWN_AS_INT else real
        return fake, real, self.parse_alias_annotation()

    @staticmethod
    def _plain(made: Type) -> Parsed:
        return made, made, None

    def _inner(self) -> Type:
        """A type inside another: only its fake type counts, and no annotation of it."""
        return self.parse_type()[0]

    def _parse_tuple(self) -> Type:
        elements: list[Type] = []
        self.parse_list("(", ")", lambda: elements.append(self._inner()))
        return types.TupleType(*elements)

    def _parse_one(self) -> tuple[Type, ...]:
        self.expect("(")
        inner = self._inner()
        self.expect(")")
        return (inner,)

    def _parse_two(self) -> tuple[Type, ...]:
        self.expect("(")
        key = self._inner()
        self.expect(",")
        value = self._inner()
        self.expect(")")
        return key, value

    def _parse_some(self) -> tuple[Type, ...]:
        self.expect("(")
        members = [self._inner()]
        while self.kind != ")":
            self.expect(",")
            members.append(self._inner())
        self.expect(")")
        return tuple(members)

    def _parse_class_name(self) -> tuple[str]:
        for wanted in ("torch", "classes"):
            self.expect(".")
            index = self.expect(IDENT)
            found = self.token_text(index)
            if found != wanted:
                raise self.refusal(f"Expected classes namespace but got {found}", index)
        self.expect(".")
        namespace = self.expect_text(IDENT)
        self.expect(".")
        index = self.expect(IDENT)
        short = f"{namespace}.{self.token_text(index)}"
        name = f"__torch__.torch.classes.{short}"
        if name not in _CLASSES:
            why = "Please ensure it is registered."
            raise self.refusal(f"Unknown custom class type {short}. {why}", index)
        return (name,)

    def _parse_base_type(self) -> Type:
        index = self.index
        if not self.next_if("None") and not self.next_if("NoneType"):
            self.expect(IDENT)
        text = self.token_text(index)
        while _DOTTED_NAMES and self.kind == "." and self._following() == IDENT:
            self.advance()
            text = f"{text}.{self.expect_text(IDENT)}"
        found = _BASE_TYPES.get(text)
        if found is not None:
            return found
        if self._typevars and "a" <= text[0] <= "z":
            return types.VarType(text)
        raise self.refusal(_HINTS.get(text, _UNKNOWN), index)

    # --- alias annotations --------------------------------------------------------------------

    def parse_alias_annotation(self) -> AliasInfo | None:
        if self.kind == "!":
            made = f"${self._fresh}"
            self._fresh += 1
            self.advance()
            return AliasInfo(before=(made,), is_write=True)
        if self.kind != "(":
            return None
        self.advance()
        before = self._parse_alias_sets()
        is_write = self.next_if("!")
        if self.next_if("arrow"):
            after = self._parse_alias_sets()
        else:
            after = tuple(reversed(before))
        self.expect(")")
        return AliasInfo(before, after, is_write)

    def _parse_alias_sets(self) -> tuple[str, ...]:
        """``a|b``; what follows a ``*`` must be another ``*`` and adds nothing."""
        sets: list[str] = []
        while True:
            if self.next_if("*") or WILDCARD in sets:
                name = WILDCARD
            else:
                name = self.expect_text(IDENT)
            if name not in sets:
                sets.insert(len(sets) if self._printed else 0, name)
            if not self.next_if("|"):
                return tuple(sets)


_COMPOUND: Final[dict[str, tuple[Callable[[TypeParser], Iterable[Any]], Callable[..., Type]]]] = {
    "Future": (TypeParser._parse_one, types.FutureType),
    "Await": (TypeParser._parse_one, types.AwaitType),
    "RRef": (TypeParser._parse_one, types.RRefType),
    "Dict": (TypeParser._parse_two, types.DictType),
    "Union": (TypeParser._parse_some, types.make_union),
    "__torch__": (TypeParser._parse_class_name, types.ClassType),
}
_ANNOTATED: Final = frozenset(("Dict", "Union"))
