"""Operators as the objects of ``torch.ops``, which are what Python is shown of a call.

Mirrors ``getTorchApiFunction`` in ``torch/csrc/utils/python_dispatch.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Operator

Find = Callable[[str, "str | None"], Any]
"""From an operator's qualified name and its overload's, None for the packet, to the object."""

_find: Final[list[Find]] = []


def find_api_functions(find: Find) -> None:
    """Have ``find`` look them up: ``torch.ops`` lies above whoever asks for one."""
    _find[:] = [find]


def api_function(operator: Operator) -> Any:
    """The overload that is an operator, by its name without aliases."""
    name, _, overload_name = operator.canonical.partition(".")
    return _find[0](name, overload_name)


def api_function_named(name: str, overload_name: str | None) -> Any:
    """An overload, or a packet, by the name that a user typed."""
    return _find[0](name, overload_name)
