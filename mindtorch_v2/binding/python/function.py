"""Python's face of a bound function or method, with CPython's own errors about receivers.

Mirrors ``PyMethodDef`` and the method descriptors of ``Objects/descrobject.c``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.tensor.tensor import Tensor

Implementation = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Takes the receiver (None for a function), the positional and the keyword arguments."""

BASE: Final = "TensorBase"
"""The class that torch's methods are defined in, below ``torch.Tensor``."""


class builtin_function_or_method:  # noqa: N801 (CPython's name)
    """A function of torch, as C defines it."""

    def __init__(self, name: str, call: Implementation) -> None:
        self.__name__ = name
        self.__qualname__ = f"_VariableFunctionsClass.{name}"
        self.__doc__ = None
        self._call = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(None, args, kwargs)

    def __repr__(self) -> str:
        return f"<built-in method {self.__name__} of type object at {id(self):#x}>"


builtin_function_or_method.__module__ = "builtins"


def method(name: str, call: Implementation, *, flags: str) -> Callable[..., Any]:
    """A method of tensors.  ``flags`` are those of the C function: ``METH_NOARGS``, ``METH_O``,
    or else all arguments are its own business."""
    if "METH_NOARGS" in flags:
        call = _without_arguments(f"{BASE}.{name}", call)
    elif "METH_O" in flags:
        call = with_one_argument(f"{BASE}.{name}", call)

    def bound(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"unbound method {BASE}.{name}() needs an argument")
        receiver = args[0]
        if not isinstance(receiver, Tensor):
            raise TypeError(
                f"descriptor '{name}' for 'torch._C.{BASE}' objects doesn't apply to a "
                f"'{type_name(receiver)}' object"
            )
        return call(receiver, args[1:], kwargs)

    bound.__name__ = name
    bound.__qualname__ = f"{BASE}.{name}"
    return bound


def slot_wrapper(name: str, call: Implementation, count: int) -> Callable[..., Any]:
    """A slot of tensors as a method: ``wrapperdescr_call`` and the wrappers of
    ``Objects/typeobject.c``, each of which takes ``count`` arguments."""

    def bound(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"descriptor '{name}' of 'torch._C.{BASE}' object needs an argument")
        receiver, *given = args
        if not isinstance(receiver, Tensor):
            raise TypeError(
                f"descriptor '{name}' requires a 'torch._C.{BASE}' object but received a "
                f"'{type_name(receiver)}'"
            )
        if kwargs:
            raise TypeError(f"wrapper {name}() takes no keyword arguments")
        if len(given) != count:
            start = " " if count > 1 else ""  # of PyArg_UnpackTuple, for a function without name
            s = "" if count == 1 else "s"
            raise TypeError(f"{start}expected {count} argument{s}, got {len(given)}")
        return call(receiver, tuple(given), {})

    bound.__name__ = name
    bound.__qualname__ = f"{BASE}.{name}"
    return bound


def _without_arguments(name: str, call: Implementation) -> Implementation:
    def checked(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        _refuse_keywords(name, kwargs)
        if args:
            raise TypeError(f"{name}() takes no arguments ({len(args)} given)")
        return call(receiver, args, kwargs)

    return checked


def with_one_argument(name: str, call: Implementation) -> Implementation:
    def checked(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        _refuse_keywords(name, kwargs)
        if len(args) != 1:
            raise TypeError(f"{name}() takes exactly one argument ({len(args)} given)")
        return call(receiver, args, kwargs)

    return checked


def _refuse_keywords(name: str, kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise TypeError(f"{name}() takes no keyword arguments")


def not_implemented_on_type_error(call: Implementation) -> Implementation:
    """``TypeError_to_NotImplemented_``: for Python's operators, which then ask the other side."""

    def forgiving(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return call(receiver, args, kwargs)
        except TypeError:
            return NotImplemented

    return forgiving
