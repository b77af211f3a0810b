"""Calls: arguments are loaded left to right, and a refused call says what it would have taken.

Mirrors ``cpp_function::dispatcher`` in ``pybind11/pybind11.h``.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from ctypes import py_object, pythonapi
from functools import cache, partial
from typing import Any, Final

from mindtorch_v2.messages import FUNCTION_OWNER
from mindtorch_v2.pybind.cast import (
    NULL,
    Caster,
    Loader,
    NoMatch,
    PybindTypeError,
    caster_for,
    loader_for,
)
from mindtorch_v2.pybind.signature import Parameter, Signature, parse_docstring

Implementation = Callable[..., Any]
"""What C++ does with loaded arguments; NoMatch has the call go on to the next overload."""

_MISSING_HEADER: Final = """

Did you forget to `#include <pybind11/stl.h>`? Or <pybind11/complex.h>,
<pybind11/functional.h>, <pybind11/chrono.h>, etc. Some automatic
conversions are optional and require extra headers to be included
when compiling your pybind11 module."""

_MISSING: Final = object()
_OWNER: Final = FUNCTION_OWNER.rpartition(".")[2]
"""The type whose name CPython writes before that of a function: of the record that is its self."""


class Overload:
    """One signature with its loaders, bound to what it calls."""

    __slots__ = ("_usual_count", "cast", "implementation", "loaders", "signature")

    def __init__(
        self,
        signature: Signature,
        implementation: Implementation,
        loaders: Mapping[str, Loader] | None = None,
        cast: Caster | None = None,
    ) -> None:
        """``loaders`` names those parameters whose C++ type the signature's text does not tell."""
        special = loaders or {}
        self.signature = signature
        self.implementation = implementation
        self.loaders = tuple(
            special.get(parameter.name) or loader_for(parameter.type)
            for parameter in signature.parameters
        )
        self.cast = cast or caster_for(signature.returns)
        #: How many arguments by position are neither too few nor too many; none is variadic.
        self._usual_count = -1 if signature.is_variadic else len(self.loaders)

    def load(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The C++ values of a call's arguments; NoMatch if this overload does not take them.

        What ``*args, **kwargs`` take are the last two values.
        """
        if not kwargs and len(args) == self._usual_count:
            return self._loaded(args)
        parameters = self.signature.parameters
        if self.signature.is_variadic:
            count = len(parameters)
            return [*self._loaded(args[:count]), args[count:], kwargs]
        if len(args) > len(parameters):
            raise NoMatch
        values = list(args)
        if kwargs or len(args) < len(parameters):
            remaining = dict(kwargs)
            values += [_argument(parameter, remaining) for parameter in parameters[len(args) :]]
            if remaining:
                raise NoMatch
        return self._loaded(values)

    def _loaded(self, values: Sequence[Any]) -> list[Any]:
        if len(values) < len(self.loaders):
            raise NoMatch
        try:
            loaded = [load(value) for load, value in zip(self.loaders, values, strict=True)]
        except RuntimeError as error:
            raise as_python_sees(error) from None
        for value in loaded:
            if value is NULL:
                raise NoMatch
        return loaded


Overloads = tuple[Overload, ...]


def overloads_of(
    doc: str,
    implementation: Implementation,
    loaders: Mapping[str, Loader] | None = None,
    cast: Caster | None = None,
) -> Overloads:
    """One for each signature that a docstring lists; the rest as :class:`Overload` takes it."""
    signatures = parse_docstring(doc)
    return tuple(Overload(each, implementation, loaders, cast) for each in signatures)


_literal: Final = cache(literal_eval)
"""A default as pybind11 keeps it, made once: CPython's parser does not bear threads everywhere."""


def _argument(parameter: Parameter, kwargs: dict[str, Any]) -> Any:
    """The keyword's value, or the default (pybind11 prints defaults by repr)."""
    value = kwargs.pop(parameter.name, _MISSING) if parameter.takes_keyword else _MISSING
    if value is not _MISSING:
        return value
    if parameter.default is None:
        raise NoMatch
    return _literal(parameter.default)


#: How a class keeps what is called with an instance first: CPython's type for functions of C, which
#: a look-up on an instance binds at once.
instancemethod: Final[Callable[[Any], Any]] = pythonapi.PyInstanceMethod_New
instancemethod.argtypes, instancemethod.restype = [py_object], py_object  # type: ignore[attr-defined]


class cpp_function:  # noqa: N801 (pybind11's name)
    """A bound C++ function; as an ``instancemethod`` in a class, a method.

    There are more of them than any program calls, so their overloads are made at the first call.
    """

    __text_signature__ = None

    def __init__(self, name: str, make_overloads: Callable[[], Overloads], doc: str) -> None:
        self.__name__, self.__qualname__ = name, f"{_OWNER}.{name}"
        self.__doc__ = doc
        #: Whoever puts it into a module or a class says so; others are in none.
        self.__module__: str | None = None  # type: ignore[assignment]
        self._make_overloads = make_overloads
        self._made: Overloads | None = None

    @classmethod
    def documented(
        cls,
        name: str,
        doc: str,
        implementation: Implementation,
        loaders: Mapping[str, Loader] | None = None,
        cast: Caster | None = None,
    ) -> cpp_function:
        """One that takes what its docstring says."""
        return cls(name, partial(overloads_of, doc, implementation, loaders, cast), doc)

    def _overloads(self) -> Overloads:
        if self._made is None:
            self._made = self._make_overloads()
        return self._made

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        for overload in self._made or self._overloads():
            try:
                result = _call(overload.implementation, overload.load(args, kwargs))
            except NoMatch:
                continue
            return result if overload.cast is None else overload.cast(result)
        raise TypeError(self._refusal(args, kwargs))

    def __repr__(self) -> str:
        return f"<built-in method {self.__name__} of {FUNCTION_OWNER} object at {id(self):#x}>"

    def _refusal(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        lines = [overload.signature.text for overload in self._overloads()]
        return refusal(self.__name__, "function", lines, args, kwargs)


def pass_for_builtin(cls: type) -> None:
    """Have a class show itself as that of every function that C made."""
    cls.__module__ = "builtins"
    cls.__name__ = cls.__qualname__ = "builtin_function_or_method"


pass_for_builtin(cpp_function)


class cpp_constructor(cpp_function):  # noqa: N801 (as above)
    """``__init__`` of a bound class; ``slot`` of the instance keeps what C++ constructed."""

    def __init__(
        self, make_overloads: Callable[[], Overloads], doc: str, owner: type, slot: str
    ) -> None:
        super().__init__("__init__", make_overloads, doc)
        self._owner = owner
        self._slot = slot

    def __call__(self, /, *args: Any, **kwargs: Any) -> None:
        if not args or not isinstance(args[0], self._owner):
            raise TypeError("__init__(self, ...) called with invalid or missing `self` argument")
        instance, *rest = args
        if hasattr(instance, self._slot):
            return  # C++ objects are constructed once: pybind11 ignores a second __init__
        for overload in self._made or self._overloads():
            try:
                loaded = overload.load(args, kwargs)
            except NoMatch:
                continue
            setattr(instance, self._slot, _call(overload.implementation, loaded[1:]))
            return
        lines = [overload.signature.constructor_text for overload in self._overloads()]
        raise TypeError(refusal("__init__", "constructor", lines, tuple(rest), kwargs))


pass_for_builtin(cpp_constructor)


def _call(implementation: Implementation, arguments: list[Any]) -> Any:
    """Call into C++, so to speak: the message of its exception is a C string.

    No name of this frame is left with the exception: each would keep the other, and with them the
    arguments, until the collector comes by.
    """
    try:
        return implementation(*arguments)
    except PybindTypeError as error:
        raise TypeError(str(error)) from None
    except RuntimeError as error:
        if is_seen_as_it_is(error):
            raise
        raise as_python_sees(error) from None


def is_seen_as_it_is(error: RuntimeError) -> bool:
    """Whether Python sees the very message: it may have raised the exception on the way."""
    return _what(error) == str(error)


def as_python_sees(error: RuntimeError) -> RuntimeError:
    """``error`` with the message that Python sees of it."""
    return type(error)(_what(error))


def _what(error: RuntimeError) -> str:
    """``what()`` is a C string, so it ends at the first NUL; and Python decodes it, so bytes that
    are no UTF-8 make a UnicodeDecodeError of it."""
    return str(error).encode("utf-8", "surrogateescape").partition(b"\0")[0].decode()


def refusal(
    name: str, kind: str, signatures: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    """The message of a call that no overload takes."""
    listed = "".join(f"    {number}. {text}\n" for number, text in enumerate(signatures, 1))
    invoked = ", ".join(_shown(value) for value in args)
    if kwargs:
        named = ", ".join(f"{key}={_shown(value)}" for key, value in kwargs.items())
        invoked += f"{'; ' if args else ''}kwargs: {named}"
    message = (
        f"{name}(): incompatible {kind} arguments. "
        f"The following argument types are supported:\n{listed}\nInvoked with: {invoked}"
    )
    return message + _MISSING_HEADER if "std::" in message else message


def _shown(value: object) -> str:
    """``py::repr`` as C++ text; what it raises is cleared, whatever it is."""
    try:
        text = repr(value)
        text.encode()
    except BaseException:
        return "<repr raised Error>"
    return text
