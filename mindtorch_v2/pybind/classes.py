"""Classes and enums as pybind11 makes them.

Mirrors ``pybind11_type`` in ``pybind11/detail/class.h`` and ``enum_base`` in
``pybind11/pybind11.h``.

Note [tp_name]
    A pybind11 class has two names: ``__name__`` is ``DispatchKeySet``, while CPython's own
    messages ("'torch._C.DispatchKeySet' object has no attribute 'x'") print the type's C-level
    ``tp_name``.  In Python both are the one ``__name__`` of a class, so the metaclass stores
    the long name and answers ``__name__`` with the short one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from mindtorch_v2.pybind.cast import Loader, load_object, register_class
from mindtorch_v2.pybind.function import (
    Implementation,
    Overload,
    Overloads,
    cpp_constructor,
    cpp_function,
    instancemethod,
    overloads_of,
)
from mindtorch_v2.pybind.signature import Signature, parse_docstring

_MODULE: Final = "mindtorch_v2._C"
"""Where all bound classes are defined; some are renamed afterwards, their methods are not."""

_stored_name: Final = vars(type)["__name__"]


def tp_name(cls: type) -> str:
    """The name that CPython's own messages print; see the note above."""
    name: str = _stored_name.__get__(cls)
    return name


class pybind11_type(type):  # noqa: N801 (pybind11's name)
    """The metaclass of bound classes."""

    _slot = ""
    """The attribute of an instance that keeps what C++ constructed, if the class is bound ..."""
    _owner: pybind11_type
    """... by the constructor of this class, the nearest that is."""

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], cpp_name: str = ""
    ) -> None:
        super().__init__(name, bases, namespace)
        if cpp_name:
            _stored_name.__set__(cls, cpp_name)

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], cpp_name: str = ""
    ) -> pybind11_type:
        return super().__new__(mcs, name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance; TypeError if a subclass made one without the bound ``__init__``."""
        instance = super().__call__(*args, **kwargs)
        if cls._slot and not hasattr(instance, cls._slot):
            name = tp_name(cls._owner)
            raise TypeError(f"{name}.__init__() must be called when overriding __init__")
        return instance

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return tp_name(cls).rpartition(".")[2]

    @property
    def __members__(cls) -> dict[str, Any]:
        """The members of an enum, in the order in which C++ listed them."""
        entries = cls.__dict__.get("_entries")
        if entries is None:
            raise AttributeError(f"type object '{tp_name(cls)}' has no attribute '__members__'")
        return {name: getattr(cls, name) for name in entries}


pybind11_type.__module__ = "pybind11_builtins"


def bind_methods(
    cls: pybind11_type,
    docs: Mapping[str, str],
    implementations: Mapping[str, Implementation | ForSignature],
    *,
    slot: str,
    loaders: Mapping[str, Loader] | None = None,
) -> None:
    """Give ``cls`` those of the implementations that this release's class has.

    ``slot`` is the attribute that keeps what the ``__init__`` implementation returns; ``loaders``
    is for parameters whose C++ type the signature does not tell.
    """
    cls._slot, cls._owner = slot, cls
    for name, implementation in implementations.items():
        if name not in docs:
            continue
        special = dict(loaders or {})
        if name == "__init__":
            special["self"] = load_object  # there is nothing in it yet
        overloads = partial(_overloads, docs[name], implementation, special)
        if name == "__init__":
            method: cpp_function = cpp_constructor(overloads, docs[name], cls, slot)
        else:
            method = cpp_function(name, overloads, docs[name])
        method.__module__ = _MODULE
        setattr(cls, name, instancemethod(method))
    if "__eq__" in docs and "__hash__" not in docs:
        cls.__hash__ = None  # type: ignore[assignment]


def _overloads(
    doc: str, implementation: Implementation | ForSignature, loaders: Mapping[str, Loader]
) -> Overloads:
    if isinstance(implementation, ForSignature):
        return tuple(implementation.overload(each, loaders) for each in parse_docstring(doc))
    return overloads_of(doc, implementation, loaders)


class ForSignature(NamedTuple):
    """The implementation of a method whose overloads do not all do the same."""

    overload: Callable[[Signature, Mapping[str, Loader]], Overload]


class Enum(metaclass=pybind11_type):
    """The base of bound enums: a value without order or arithmetic, true whatever it is.

    Any value in range makes an instance; one that is no member's prints as ``???``.
    """

    __slots__ = ("_value",)

    _entries: Mapping[str, int]
    _extensions: Mapping[str, int]
    _value: int

    @classmethod
    def from_cpp(cls, value: int) -> Enum:
        self = cls.__new__(cls)
        self._value = int(value)
        return self


def _name(self: Enum) -> str:
    cls = type(self)
    if not isinstance(cls, pybind11_type):  # the methods take any object, as in pybind11
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '__entries'")
    for names in (cls._entries, cls._extensions):
        for name, value in names.items():
            if value == self._value:
                return name
    return "???"


def _value(self: Enum) -> int:
    return self._value


def _itself(value: int) -> int:
    return value


def _comparison(*, equal: bool) -> ForSignature:
    """``==`` of an enum, or ``!=``.

    One overload takes any two objects, or there are several: one takes two values of the enum,
    or what converts to them, the next may take a number, and the last takes what is left, which
    is equal to none.
    """

    def of_objects(self: Enum, other: Enum) -> bool:
        return (type(self) is type(other) and self._value == other._value) is equal

    def of_values(self: int, other: int) -> bool:
        return (self == other) is equal

    def of_another(self: int, other: object) -> bool:
        return not equal

    def overload(signature: Signature, loaders: Mapping[str, Loader]) -> Overload:
        own, other = (parameter.type for parameter in signature.parameters)
        if other == "object":
            return Overload(signature, of_objects if own == "object" else of_another)
        is_number = other != own
        return Overload(signature, of_values, {"other": loaders["value"]} if is_number else None)

    return ForSignature(overload)


ENUM_METHODS: Final[Mapping[str, Implementation | ForSignature]] = {
    "__init__": _itself,
    "__repr__": lambda self: f"<{type(self).__name__}.{_name(self)}: {self._value}>",
    "__str__": lambda self: f"{type(self).__name__}.{_name(self)}",
    "__eq__": _comparison(equal=True),
    "__ne__": _comparison(equal=False),
    "__hash__": _value,
    "__int__": _itself,
    "__index__": _itself,
    "__getstate__": _value,
}


def make_enum(
    cpp_name: str,
    module: str,
    docs: Mapping[str, Any],
    entries: Mapping[str, int],
    value_loader: Loader,
    extensions: Mapping[str, int] | None = None,
) -> type[Enum]:
    """A bound enum, a number to C++.  ``extensions`` are further values: attributes, no members."""
    name = cpp_name.rpartition(".")[2]
    namespace = {
        "__slots__": (),
        "__module__": module,
        "__qualname__": name,
        "__doc__": docs["doc"],
        "_entries": entries,
        "_extensions": extensions or {},
    }
    cls: type[Enum] = pybind11_type(name, (Enum,), namespace, cpp_name=cpp_name)  # type: ignore[assignment]
    bind_methods(cls, docs["methods"], ENUM_METHODS, slot="_value", loaders={"value": value_loader})
    cls.name = property(_name)  # type: ignore[attr-defined]
    cls.value = property(_value)  # type: ignore[attr-defined]
    for entry, value in {**entries, **(extensions or {})}.items():
        setattr(cls, entry, cls.from_cpp(value))
    register_class(cpp_name, cls, _value, cls.from_cpp)
    return cls
