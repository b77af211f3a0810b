"""Classes that torch makes in C, as CPython's own messages call them: ``'torch.Size'``.

See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`.
"""

from __future__ import annotations

from typing import Any, Final

_stored_name: Final = vars(type)["__name__"]


class MadeInC(type):
    """The metaclass of such classes: ``__name__`` is short, the stored name is not."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        _stored_name.__set__(cls, f"torch.{name}")

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        name: str = _stored_name.__get__(cls)
        return name.rpartition(".")[2]


MadeInC.__qualname__ = "type"  # which torch's classes are instances of
MadeInC.__module__ = "builtins"
_stored_name.__set__(MadeInC, "type")
