"""Classes that torch names in C, as CPython's own messages call them: ``'torch.Size'``.

See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`.
"""

from __future__ import annotations

from typing import Any, Final

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
