"""Which Python values a C++ parameter takes, and what Python sees of a C++ result.

Mirrors the type casters of ``pybind11/cast.h`` and torch's own for ``DispatchKey`` in
``torch/csrc/utils/pybind.h``.  A loader returns the C++ value or raises :class:`NoMatch`, upon
which the call is refused; whatever else a loader raises leaves the call at once, before the
arguments to its right are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Final, NamedTuple

from mindtorch_v2.dispatch.key import DispatchKey, parse_dispatch_key
from mindtorch_v2.numpy_later import np

Loader = Callable[[object], Any]
Caster = Callable[[Any], Any]


class NoMatch(Exception):  # noqa: N818 (no error: the next overload is tried)
    """The value does not convert."""


class PybindTypeError(Exception):
    """``pybind11::type_error``: a TypeError where pybind11 catches it, and a RuntimeError where
    a function of torch's own binding does."""


class Null:
    """What None loads as where C++ takes a class: refused once every argument has loaded."""


NULL: Final = Null()


class BoundClass(NamedTuple):
    """The Python side of a C++ class: how to get at what an instance holds, and back."""

    python_class: type
    unwrap: Callable[[Any], Any]
    wrap: Callable[[Any], Any]


_classes: Final[dict[str, BoundClass]] = {}
"""By the name that pybind11 prints."""


def _itself(value: Any) -> Any:
    return value


def register_class(
    name: str,
    cls: type,
    unwrap: Callable[[Any], Any] = _itself,
    wrap: Callable[[Any], Any] = _itself,
) -> None:
    """Make ``cls`` the Python side of the C++ class that pybind11 prints as ``name``."""
    _classes[name] = BoundClass(cls, unwrap, wrap)


def bound_class(name: str) -> BoundClass | None:
    """The Python side of a C++ class, if it has one by now."""
    return _classes.get(name)


# --- loaders ----------------------------------------------------------------------------------


def load_object(value: object) -> object:
    """``py::object``: anything."""
    return value


def load_function(value: object) -> object:
    """``py::function``: whatever can be called."""
    if not callable(value):
        raise NoMatch
    return value


def load_bool(value: object) -> bool:
    """``bool``: None is false, and whatever has a truth value of its own has that."""
    if value is True or value is False:
        return value
    if value is None:
        return False
    # NumPy's text has the method, but not the slot that C looks at.
    if not hasattr(type(value), "__bool__") or isinstance(value, np.character):
        raise NoMatch
    try:
        return bool(value)
    except BaseException as error:  # pybind11 clears whatever it was
        raise NoMatch from error


def load_string(value: object) -> str:
    """``std::string``: text that has a UTF-8 form, or bytes."""
    if type(value) is str and value.isascii():
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "surrogateescape")
    if not isinstance(value, str) or not _has_utf8(value):
        raise NoMatch
    return value


def load_c_string(value: object) -> str | None:
    """``const char*``: as a string that ends at the first NUL, or None for a null pointer."""
    return None if value is None else load_string(value).partition("\0")[0]


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unsigned_loader(bits: int) -> Loader:
    """An unsigned C++ integer of so many bits: no floats, no strings, nothing out of range."""
    return _integer_loader(range(1 << bits))


def signed_loader(bits: int) -> Loader:
    """A signed C++ integer of so many bits."""
    return _integer_loader(range(-(1 << bits - 1), 1 << bits - 1))


def _integer_loader(numbers: range) -> Loader:
    def load(value: object) -> int:
        if isinstance(value, float):
            raise NoMatch
        number = _as_int(value)
        if number not in numbers:
            raise NoMatch
        return number

    return load


def _as_int(value: object) -> int:
    """``__index__`` first, then ``__int__``; text has neither."""
    try:
        return index(value)  # type: ignore[arg-type]
    except Exception:
        if isinstance(value, (str, bytes, bytearray)) or not hasattr(type(value), "__int__"):
            raise NoMatch from None
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]
    except Exception as error:
        raise NoMatch from error


def load_dispatch_key(value: object) -> int | Null:
    """``c10::DispatchKey``: a key, or the name of one (RuntimeError if there is none)."""
    bound = _classes["torch._C.DispatchKey"]
    if isinstance(value, bound.python_class):
        key: int = bound.unwrap(value)
        return key
    if isinstance(value, DispatchKey):
        return value
    if value is None:
        return NULL
    if not isinstance(value, str):
        raise NoMatch
    if not _has_utf8(value):
        raise RuntimeError(_UNCASTABLE.format(type(value)))
    return parse_dispatch_key(value)


_UNCASTABLE: Final = (
    "Unable to cast Python instance of type {} to C++ type '?' "
    "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
)


def class_loader(name: str) -> Loader:
    """A C++ class by value or reference: an instance of its Python class."""

    def load(value: object) -> Any:
        if value is None:
            return NULL
        bound = _classes[name]
        if not isinstance(value, bound.python_class):
            raise NoMatch
        return bound.unwrap(value)

    return load


_LOADERS: Final[dict[str, Loader]] = {
    "object": load_object,
    "tuple": load_object,
    "handle": load_object,
    "Callable": load_function,
    "collections.abc.Callable": load_function,
    "bool": load_bool,
    "str": load_string,
    "c10::DispatchKey": load_dispatch_key,
    "c10::DispatchKeySet": class_loader("torch._C.DispatchKeySet"),
    "torch._C.DispatchKey": load_dispatch_key,
}


def loader_for(type_name: str) -> Loader:
    """The loader of a type as a signature names it."""
    return _LOADERS.get(type_name) or class_loader(type_name)


# --- casters ----------------------------------------------------------------------------------


def caster_for(type_name: str) -> Caster | None:
    """What makes a Python value of a C++ result; None where the two are the same."""
    if type_name == "c10::DispatchKey":
        type_name = "torch._C.DispatchKey"
    for opening, closing in (("Optional[", "]"), ("", " | None")):
        if type_name.startswith(opening) and type_name.endswith(closing):
            return _optional(caster_for(type_name[len(opening) : -len(closing)]))
    if type_name.startswith(("list[", "List[")):
        return _list_of(caster_for(type_name[len("list[") : -1]))
    if type_name.startswith("torch._C."):
        return lambda value: _classes[type_name].wrap(value)
    return None


def _optional(item: Caster | None) -> Caster | None:
    return item and (lambda value: None if value is None else item(value))


def _list_of(item: Caster | None) -> Caster | None:
    return item and (lambda values: [item(value) for value in values])
