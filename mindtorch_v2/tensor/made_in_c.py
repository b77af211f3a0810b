"""Classes that torch names in C, as CPython's own messages call them: ``'torch.Size'``.

See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

_stored_name: Final = vars(type)["__name__"]
_PACKAGE: Final = __name__.partition(".")[0]


class MadeInC(type):
    """The metaclass of such classes: ``__name__`` is short, the stored name has torch's module.

    A subclass that a program writes is an ordinary class again.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        package, _, below = cls.__module__.partition(".")
        if package == _PACKAGE:
            _stored_name.__set__(cls, ".".join(filter(None, ("torch", below, name))))

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        name: str = _stored_name.__get__(cls)
        return name.rpartition(".")[2]


MadeInC.__qualname__ = "type"  # which torch's classes are instances of
MadeInC.__module__ = "builtins"
_stored_name.__set__(MadeInC, "type")


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
