"""The base of all types, and the types without parts.

Types are frozen and interned: two types spelled alike are one object.  ``str(t)`` is torch's
annotation text (``number``), ``t.text`` is how schemas spell it (``Scalar``).  Mirrors the
singletons of ``ATen/core/jit_type.h``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, TypeVar

_Self = TypeVar("_Self", bound="Type")
_interned: Final[dict[tuple[Any, ...], Type]] = {}


class Type:
    """A type.  ``kind`` is torch's name for its class, ``contained`` the types it is made of."""

    __slots__ = ("annotation", "contained", "text")

    kind: ClassVar[str] = ""

    #: How a schema spells it.
    text: str
    #: How Python's annotations spell it.
    annotation: str
    contained: tuple[Type, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a type is frozen: {name!r} cannot be set")

    def __str__(self) -> str:
        return self.annotation

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text}>"

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, memo: object) -> _Self:
        return self

    @property
    def has_free_variables(self) -> bool:
        """Whether a type variable stands somewhere in it."""
        return any(inner.has_free_variables for inner in self.contained)

    @property
    def repr_text(self) -> str:
        """``repr_str``: how messages spell it, for all but classes as Python does."""
        return self.annotation


def intern(
    cls: type[_Self], key: tuple[Any, ...], text: str, annotation: str, *contained: Type
) -> _Self:
    """The one type of ``cls`` for ``key``, made at the first call."""
    made = _interned.get((cls, *key))
    if made is None:
        made = object.__new__(cls)
        object.__setattr__(made, "text", text)
        object.__setattr__(made, "annotation", annotation)
        object.__setattr__(made, "contained", contained)
        made = _interned.setdefault((cls, *key), made)
    return made  # type: ignore[return-value]


class _Simple(Type):
    """A type without parts: calling the class answers its one instance."""

    __slots__ = ()

    _text: ClassVar[str]
    _annotation: ClassVar[str | None] = None

    def __new__(cls: type[_Self]) -> _Self:
        spelled = cls._text  # type: ignore[attr-defined]
        return intern(cls, (), spelled, cls._annotation or spelled)  # type: ignore[attr-defined]


class NumberType(_Simple):
    """``Scalar``: an int, a float or a complex; a bool too, where values are checked."""

    __slots__ = ()
    kind = "NumberType"
    _text = "Scalar"
    _annotation = "number"


class IntType(NumberType):
    __slots__ = ()
    kind = "IntType"
    _text = _annotation = "int"


class FloatType(NumberType):
    __slots__ = ()
    kind = "FloatType"
    _text = _annotation = "float"


class ComplexType(NumberType):
    __slots__ = ()
    kind = "ComplexType"
    _text = _annotation = "complex"


class AnyType(_Simple):
    __slots__ = ()
    kind = "AnyType"
    _text = "Any"


class AnyEnumType(_Simple):
    __slots__ = ()
    kind = "AnyEnumType"
    _text = "AnyEnumType"


class AnyClassType(_Simple):
    __slots__ = ()
    kind = "AnyClassType"
    _text = "AnyClassType"


class TensorType(_Simple):
    __slots__ = ()
    kind = "TensorType"
    _text = "Tensor"


class StorageType(_Simple):
    __slots__ = ()
    kind = "StorageType"
    _text = "Storage"


class BoolType(_Simple):
    __slots__ = ()
    kind = "BoolType"
    _text = "bool"


class StringType(_Simple):
    __slots__ = ()
    kind = "StringType"
    _text = "str"


class NoneType(_Simple):
    __slots__ = ()
    kind = "NoneType"
    _text = "NoneType"


class GeneratorType(_Simple):
    __slots__ = ()
    kind = "GeneratorType"
    _text = "Generator"


class QuantizerType(_Simple):
    __slots__ = ()
    kind = "QuantizerType"
    _text = "Quantizer"


class QSchemeType(_Simple):
    __slots__ = ()
    kind = "QSchemeType"
    _text = "QScheme"


class DeviceObjType(_Simple):
    __slots__ = ()
    kind = "DeviceObjType"
    _text = "Device"


class StreamObjType(_Simple):
    __slots__ = ()
    kind = "StreamObjType"
    _text = "Stream"


class CapsuleType(_Simple):
    __slots__ = ()
    kind = "CapsuleType"
    _text = "Capsule"


class PyObjectType(_Simple):
    __slots__ = ()
    kind = "PyObjectType"
    _text = "PyObject"


class SymIntType(_Simple):
    __slots__ = ()
    kind = "SymIntType"
    _text = "SymInt"
    _annotation = "int"


class SymBoolType(_Simple):
    __slots__ = ()
    kind = "SymBoolType"
    _text = "SymBool"
    _annotation = "bool"


class ScalarTypeType(_Simple):
    __slots__ = ()
    kind = "ScalarTypeType"
    _text = "ScalarType"


class LayoutType(_Simple):
    __slots__ = ()
    kind = "LayoutType"
    _text = "Layout"


class MemoryFormatType(_Simple):
    __slots__ = ()
    kind = "MemoryFormatType"
    _text = "MemoryFormat"
