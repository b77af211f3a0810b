"""Python's face of a bound function or method, with CPython's own errors about receivers.

Mirrors ``PyMethodDef`` and the method descriptors of ``Objects/descrobject.c``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import MethodType
from typing import Any, Final

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.call_site import is_method_call
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


def method(name: str, call: Implementation, *, flags: str) -> Any:
    """A method of tensors.  ``flags`` are those of the C function: ``METH_NOARGS``, ``METH_O``,
    or else all arguments are its own business."""
    if "METH_NOARGS" in flags:
        return method_descriptor(name, call, 0)
    if "METH_O" in flags:
        return method_descriptor(name, call, 1)

    def bound(*args: Any, **kwargs: Any) -> Any:
        return call(_receiver(name, args), args[1:], kwargs)

    bound.__name__ = name
    bound.__qualname__ = f"{BASE}.{name}"
    return bound


def _receiver(name: str, args: tuple[Any, ...]) -> Tensor:
    """The tensor whose method is called; TypeError if there is none."""
    if not args:
        raise TypeError(f"unbound method {BASE}.{name}() needs an argument")
    receiver = args[0]
    if not isinstance(receiver, Tensor):
        raise TypeError(
            f"descriptor '{name}' for 'torch._C.{BASE}' objects doesn't apply to a "
            f"'{type_name(receiver)}' object"
        )
    return receiver


class method_descriptor:  # noqa: N801 (CPython's name)
    """A method whose number of arguments CPython checks: none, or one.

    Looked up on a tensor it is another function than looked up on the class, since their errors
    name it differently.
    """

    def __init__(self, name: str, call: Implementation, count: int) -> None:
        self.__name__ = name
        self.__qualname__ = f"{BASE}.{name}"
        self.__doc__ = None

        def unbound(*args: Any, **kwargs: Any) -> Any:
            receiver = _receiver(name, args)
            check_count(f"{BASE}.{name}", count, args[1:], kwargs)
            return call(receiver, args[1:], kwargs)

        def on_tensor(receiver: Any, /, *args: Any, **kwargs: Any) -> Any:
            if kwargs or len(args) != count:
                named = is_method_call(sys._getframe(1))
                owner = BASE if named else type(receiver).__qualname__
                check_count(f"{owner}.{name}", count, args, kwargs)
            return call(receiver, args, kwargs)

        for function in (unbound, on_tensor):
            function.__name__, function.__qualname__ = name, f"{BASE}.{name}"
        self._unbound, self._on_tensor = unbound, on_tensor

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._unbound if instance is None else MethodType(self._on_tensor, instance)


def check_count(name: str, count: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """TypeError for keywords, or for another number of arguments than none or one."""
    if kwargs:
        raise TypeError(f"{name}() takes no keyword arguments")
    if len(args) != count:
        takes = "exactly one argument" if count else "no arguments"
        raise TypeError(f"{name}() takes {takes} ({len(args)} given)")


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


def with_one_argument(name: str, call: Implementation) -> Implementation:
    """A function with METH_O."""

    def checked(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        check_count(name, 1, args, kwargs)
        return call(receiver, args, kwargs)

    return checked


def not_implemented_on_type_error(call: Implementation) -> Implementation:
    """``TypeError_to_NotImplemented_``: for Python's operators, which then ask the other side."""

    def forgiving(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return call(receiver, args, kwargs)
        except TypeError:
            return NotImplemented

    return forgiving
