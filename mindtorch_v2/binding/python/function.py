"""Python's face of a bound function or method, with CPython's own errors about receivers.

Mirrors ``PyMethodDef`` and the method descriptors of ``Objects/descrobject.c``.  The classes say
that they are CPython's own to who asks by ``isinstance``, as :mod:`inspect` does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import BuiltinFunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType
from typing import Any, Final, NoReturn, Protocol

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.called_unbound import called_unbound
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.slot_called import SlotCalled
from mindtorch_v2.tensor.made_in_c import FromC, check_count, lacking
from mindtorch_v2.tensor.tensor import Tensor

Implementation = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Takes the receiver (None for a function), the positional and the keyword arguments."""

BASE: Final = "TensorBase"
"""The class that torch's methods are defined in, below ``torch.Tensor``."""


def _of_module(module: str, name: str) -> Any:
    """A function of one of torch's modules, which are this package's."""
    return getattr(import_module(module.replace("torch", _PACKAGE, 1)), name)


_PACKAGE: Final = __name__.partition(".")[0]

OWNERS: Final[dict[str, type]] = {}
"""The classes whose attributes C's functions are, by name: pickles look them up there."""


class Entry:
    """What bound functions run that are one function: ``front`` takes every call.

    As soon as there is a ``usual`` function, most calls go there instead.  It takes what Python
    hands over, of a method the receiver first, and passes on to ``otherwise`` what it does not
    know.
    """

    usual: Callable[..., Any] | None = None
    is_forgiving = False
    """Whether it answers NotImplemented in place of a TypeError."""
    reads: Callable[[Any], Any] | None = None
    """Of a method: what answers calls that nobody observes, with nothing but a plain tensor."""

    def __init__(self, front: Implementation) -> None:
        self.front = front
        self._faces: tuple[_Face, ...] = ()

    def __call__(self, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.usual is None:
            return self.front(receiver, args, kwargs)
        return self.usual(*(args if receiver is None else (receiver, *args)), **kwargs)

    @classmethod
    def of(cls, call: Implementation) -> Entry:
        return call if isinstance(call, Entry) else Entry(call)

    def show(self, face: _Face) -> None:
        """Have calls of a face come here."""
        self._faces += (face,)
        face.serve(self.usual or self.otherwise)

    @property
    def is_shown(self) -> bool:
        return bool(self._faces)

    def take_before(self, usual: Callable[..., Any]) -> None:
        """Have a function take the calls of all faces from now on."""
        self.usual = usual
        for face in self._faces:
            face.serve(usual)

    @property
    def otherwise(self) -> Callable[..., Any]:
        """Hands the calls of a face to ``front``."""
        hand_on = self._faces[0].hand_on
        return hand_on if self.reads is None else _reading(self.reads, hand_on)


def _reading(read: Callable[[Any], Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) is Tensor and not (kwargs or OBSERVERS.count):
            return read(args[0])
        return otherwise(*args, **kwargs)

    return run


class _Face(Protocol):
    """What Python has of an entry."""

    def serve(self, run: Callable[..., Any]) -> None:
        """Have calls run this function from now on."""

    @property
    def hand_on(self) -> Callable[..., Any]:
        """Hands a call to the entry's front."""


class builtin_function_or_method(SlotCalled):  # noqa: N801 (CPython's name)
    """A function of torch, as C defines it: of a class that stands for ``torch``, of one of its
    modules, or with no module for its ``owner`` a static method of tensors."""

    def __init__(self, name: str, call: Implementation, owner: str | None) -> None:
        of_class = {"torch": "_VariableFunctionsClass.", None: f"{BASE}."}.get(owner, "")
        self.__name__, self.__qualname__ = name, of_class + name
        self.__module__: str | None = owner  # type: ignore[assignment]
        self.__doc__ = None
        self._owner = owner
        self.call = Entry.of(call)
        self.call.show(self)

    __class__ = property(lambda self: BuiltinFunctionType)
    __dict__ = lacking("__dict__")
    __text_signature__ = None

    @property
    def __self__(self) -> Any:
        """The module; a static method has nothing."""
        if self.__name__ != self.__qualname__ or self._owner is None:
            return None
        return import_module(self._owner.replace("torch", _PACKAGE, 1))

    def serve(self, run: Callable[..., Any]) -> None:
        self.__call__ = run

    def hand_on(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.call.front(None, args, kwargs)

    def __repr__(self) -> str:
        if self.__name__ == self.__qualname__:
            return f"<built-in function {self.__name__}>"
        return f"<built-in method {self.__name__} of type object at {id(self):#x}>"

    def __reduce__(self) -> Any:
        owner, _, name = self.__qualname__.rpartition(".")
        return (getattr, (OWNERS[owner], name)) if owner else (_of_module, (self.__module__, name))


builtin_function_or_method.__module__ = "builtins"


def module_function(
    name: str, call: Callable[..., Any], count: int | None = None, module: str = "torch._C"
) -> builtin_function_or_method:
    """A function of one of torch's modules, which no argument overrides.

    ``count`` is how many arguments CPython lets through, none or one; without it all are the
    function's own business.
    """

    def run(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if count is not None and (kwargs or len(args) != count):
            check_count(f"{module}.{name}", count, args, kwargs)
        return call(*args, **kwargs)

    made = builtin_function_or_method(name, run, "torch._C")
    made.__module__ = module
    return made


def method(name: str, call: Implementation, *, flags: str) -> Any:
    """A method of tensors.  ``flags`` are those of the C function: ``METH_NOARGS``, ``METH_O``,
    or else all arguments are its own business."""
    count = 0 if "METH_NOARGS" in flags else 1 if "METH_O" in flags else None
    return method_descriptor(name, call, count)


class BoundMethod(metaclass=FromC):
    """A method of one tensor, which messages name after the tensor's own class.

    Calls that name the method need none: see :func:`called_unbound`.
    """

    __slots__ = ("__qualname__", "__self__", "_method")

    def __init__(self, method: method_descriptor, receiver: Any, qualname: str) -> None:
        self._method, self.__self__, self.__qualname__ = method, receiver, qualname

    __module__ = property(lambda self: None)
    __class__ = property(lambda self: BuiltinFunctionType)
    __text_signature__ = None
    __name__ = property(lambda self: self._method.__name__)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        self._method._check_count(self.__qualname__, args, kwargs)
        return self._method(self.__self__, *args, **kwargs)

    def __repr__(self) -> str:
        owner = type_name(self.__self__)
        return f"<built-in method {self.__name__} of {owner} object at {id(self.__self__):#x}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundMethod):
            return NotImplemented
        is_same = self.__self__ is other.__self__
        return is_same and self._method._call is other._method._call

    def __hash__(self) -> int:
        return hash((id(self.__self__), id(self._method._call)))

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__name__)


@called_unbound
class method_descriptor(SlotCalled, metaclass=FromC):  # noqa: N801 (CPython's name)
    """A method of tensors, of whose arguments CPython may check the number: none, or one."""

    def __init__(self, name: str, call: Implementation, count: int | None) -> None:
        self.__name__ = name
        self.__qualname__ = f"{BASE}.{name}"
        self.__doc__ = None
        self._call, self._count = Entry.of(call), count
        self._call.show(self)

    __module__ = lacking("__module__")
    __class__ = property(lambda self: MethodDescriptorType)
    __dict__ = lacking("__dict__")
    __objclass__ = property(lambda self: OWNERS[BASE])
    __text_signature__ = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return BoundMethod(self, instance, f"{type(instance).__qualname__}.{self.__name__}")

    def serve(self, run: Callable[..., Any]) -> None:
        self.__call__ = run

    def hand_on(self, /, *args: Any, **kwargs: Any) -> Any:
        """Has the entry take a call; TypeError if there is no tensor whose method it is."""
        if not args:
            raise TypeError(f"unbound method {self.__qualname__}() needs an argument")
        receiver, given = args[0], args[1:]
        if not isinstance(receiver, Tensor):
            raise TypeError(
                f"descriptor '{self.__name__}' for 'torch._C.{BASE}' objects doesn't apply to a "
                f"'{type_name(receiver)}' object"
            )
        self._check_count(self.__qualname__, given, kwargs)
        return self._call.front(receiver, given, kwargs)

    def _check_count(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """TypeError for more or fewer than CPython lets through; ``name`` is what it calls it."""
        if self._count is not None:
            check_count(name, self._count, args, kwargs)

    def __repr__(self) -> str:
        return f"<method '{self.__name__}' of 'torch._C.{BASE}' objects>"

    def __reduce__(self) -> Any:
        return getattr, (OWNERS[BASE], self.__name__)


@called_unbound
class wrapper_descriptor(metaclass=FromC):  # noqa: N801 (CPython's name)
    """A slot of tensors as a method: ``wrapperdescr_call`` and the wrappers of
    ``Objects/typeobject.c``, each of which takes ``count`` arguments."""

    def __init__(self, name: str, call: Implementation, count: int) -> None:
        self.__name__ = name
        self.__qualname__ = f"{BASE}.{name}"
        self.__doc__ = None
        self._call, self._count = call, count

    __module__ = lacking("__module__")
    __class__ = property(lambda self: WrapperDescriptorType)
    __dict__ = lacking("__dict__")
    __objclass__ = property(lambda self: OWNERS[BASE])

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 + self._count or kwargs or not isinstance(args[0], Tensor):
            self._refuse(args, kwargs)
        return self._call(args[0], args[1:], {})

    def _refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        """TypeError for other arguments than a tensor and as many more as the slot takes."""
        name = self.__name__
        if not args:
            raise TypeError(f"descriptor '{name}' of 'torch._C.{BASE}' object needs an argument")
        if not isinstance(args[0], Tensor):
            raise TypeError(
                f"descriptor '{name}' requires a 'torch._C.{BASE}' object but received a "
                f"'{type_name(args[0])}'"
            )
        if kwargs:
            raise TypeError(f"wrapper {name}() takes no keyword arguments")
        start = " " if self._count > 1 else ""  # of PyArg_UnpackTuple, which has no name here
        s = "" if self._count == 1 else "s"
        raise TypeError(f"{start}expected {self._count} argument{s}, got {len(args) - 1}")

    def __repr__(self) -> str:
        return f"<slot wrapper '{self.__name__}' of 'torch._C.{BASE}' objects>"

    def __reduce__(self) -> Any:
        return getattr, (OWNERS[BASE], self.__name__)


def with_one_argument(name: str, call: Implementation) -> Implementation:
    """A function with METH_O."""

    def checked(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        check_count(name, 1, args, kwargs)
        return call(receiver, args, kwargs)

    return checked


def not_implemented_on_type_error(call: Implementation) -> Implementation:
    """``TypeError_to_NotImplemented_``: for Python's operators, which then ask the other side.

    An entry is changed in its place.
    """
    if isinstance(call, Entry):
        call.front, call.is_forgiving = not_implemented_on_type_error(call.front), True
        return call

    def forgiving(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return call(receiver, args, kwargs)
        except TypeError:
            return NotImplemented

    return forgiving
