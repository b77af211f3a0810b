"""Classes that torch names in C, as CPython's own messages call them: ``'torch.Size'``.

See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import GetSetDescriptorType, MethodWrapperType
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from mindtorch_v2.slot_called import SlotCalled

_stored_name: Final = vars(type)["__name__"]
_PACKAGE: Final = __name__.partition(".")[0]


def tp_name(cls: type) -> str:
    """The stored name."""
    name: str = _stored_name.__get__(cls)
    return name


class NamedAsInC(type):
    """The metaclass of classes that have two names, though torch writes them in Python.

    ``__name__`` is short, the stored name has torch's module.  A subclass that a program writes is
    an ordinary class again.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        package, _, below = cls.__module__.partition(".")
        if package == _PACKAGE:
            _stored_name.__set__(cls, ".".join(filter(None, ("torch", below, name))))

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return tp_name(cls).rpartition(".")[2]


_final: Final[set[type]] = set()
"""Classes without C's ``Py_TPFLAGS_BASETYPE``."""


class MadeInC(NamedAsInC):
    """The metaclass of classes of C, whose properties are C's."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        for base in bases:
            if base in _final:
                raise TypeError(f"type '{tp_name(base)}' is not an acceptable base type")
        if cls.__module__.partition(".")[0] != _PACKAGE:
            return
        for attribute, member in namespace.items():
            if type(member) is property and not attribute.startswith("__"):
                setattr(cls, attribute, _read_only(cls, attribute, member))


AnyClass = TypeVar("AnyClass", bound=type)


def final(cls: AnyClass) -> AnyClass:
    """A class of C that may have no subclass: TypeError where a program writes one."""
    _final.add(cls)
    return cls


for _metaclass in (NamedAsInC, MadeInC):
    _metaclass.__qualname__ = "type"  # which torch's classes are instances of
    _metaclass.__module__ = "builtins"
    _stored_name.__set__(_metaclass, "type")


# --- attributes -------------------------------------------------------------------------------


class FromC(type):
    """The type of classes whose instances have another ``__module__`` than the class, or none."""

    __module__ = property(lambda cls: "builtins")


def lacking(name: str) -> Any:
    """For a class: what its instances do not have, though Python gave it to them."""

    def refuse(self: Any) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    return property(refuse)


class method_wrapper(SlotCalled, metaclass=FromC):  # noqa: N801 (CPython's name)
    """CPython's ``method-wrapper``: what a slot of an object is as a method."""

    __slots__ = ("__name__", "__objclass__", "__qualname__", "__self__")

    def __init__(self, slot: Callable[..., Any], name: str, instance: Any, of: type) -> None:
        self.__call__, self.__self__ = slot, instance
        self.__name__, self.__qualname__ = name, f"{of.__name__}.{name}"
        self.__objclass__ = of

    __module__ = lacking("__module__")
    __class__ = property(lambda self: MethodWrapperType)  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind, address = self.__objclass__.__name__, id(self.__self__)
        return f"<method-wrapper '{self.__name__}' of {kind} object at {address:#x}>"

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__name__)


method_wrapper.__name__ = method_wrapper.__qualname__ = "method-wrapper"


class getset_descriptor(property):  # noqa: N801 (CPython's name)
    """A property as C defines it."""

    __name__: str
    __qualname__: str
    __objclass__: type
    __class__ = property(lambda self: GetSetDescriptorType)  # type: ignore[assignment]

    def belongs_to(self, owner: type, name: str) -> None:
        """Tell the class that defines it, and its name there."""
        self.__name__, self.__qualname__ = name, f"{owner.__qualname__}.{name}"
        self.__objclass__ = owner
        for slot in ("__get__", "__set__", "__delete__"):  # which else would be a property's
            of = GetSetDescriptorType
            vars(self)[slot] = method_wrapper(getattr(super(), slot), slot, self, of)

    def __repr__(self) -> str:
        return f"<attribute '{self.__name__}' of '{tp_name(self.__objclass__)}' objects>"


getset_descriptor.__module__ = "builtins"


def _read_only(owner: type, name: str, member: property) -> getset_descriptor:
    def refuse(*args: Any) -> None:
        raise AttributeError(f"attribute '{name}' of '{tp_name(owner)}' objects is not writable")

    found = getset_descriptor(member.fget, refuse, refuse)
    found.belongs_to(owner, name)
    return found


# --- methods ----------------------------------------------------------------------------------

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
Method = Callable[Concatenate[Any, Given], Returned]


def check_count(name: str, count: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """TypeError for keywords, or for another number of arguments than none or one."""
    if kwargs:
        raise TypeError(f"{name}() takes no keyword arguments")
    if len(args) != count:
        takes = "exactly one argument" if count else "no arguments"
        raise TypeError(f"{name}() takes {takes} ({len(args)} given)")


def _counted(method: Method[Given, Returned], count: int) -> Method[Given, Returned]:
    @wraps(method)
    def checked(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Returned:
        if kwargs or len(args) != count:
            check_count(method.__qualname__, count, args, kwargs)
        return method(self, *args, **kwargs)

    return checked


def METH_NOARGS(method: Method[Given, Returned]) -> Method[Given, Returned]:  # noqa: N802 (CPython's)
    """A method that takes nothing, and says so as CPython does."""
    return _counted(method, 0)


def METH_O(method: Method[Given, Returned]) -> Method[Given, Returned]:  # noqa: N802 (CPython's)
    """A method of one argument, without a name."""
    return _counted(method, 1)
