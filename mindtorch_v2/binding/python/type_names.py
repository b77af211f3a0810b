"""``Py_TYPE(object)->tp_name``: how messages from C++ call the type of a value.

A type that a ``class`` statement made has its bare name there; one made in C has its module's
name before it, ``numpy.int64`` or ``torch.dtype``, unless it is a builtin.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.pybind.classes import tp_name
from mindtorch_v2.tensor.made_in_c import NamedAsInC

_HEAP_TYPE: Final = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: made at run time."""


def type_name(value: object) -> str:
    """The name that torch's C++ prints for the type of ``value``."""
    return name_of_type(type(value))


def name_of_type(cls: type) -> str:
    stored = tp_name(cls)
    if isinstance(cls, NamedAsInC):
        return stored
    if "." in stored:
        return stored
    if cls.__flags__ & _HEAP_TYPE or cls.__module__ == "builtins":
        return stored
    return f"{cls.__module__}.{stored}"
