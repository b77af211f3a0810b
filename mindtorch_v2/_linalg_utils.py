"""Functions of linear algebra that were removed: called, they say what to call instead.

Mirrors ``torch/_linalg_utils.py``.  Which there are, their parameters and their words are facts of
a release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2 import profile

_REMOVED: Final[Mapping[str, Mapping[str, str]]] = profile.active().messages["removed"]
_DECLARED: Final = profile.active().python_methods


def _refusing(name: str, qualname: str, parameters: str, says: str) -> Callable[..., Any]:
    """A function that takes ``parameters``, as Python checks them, and raises RuntimeError.

    ``{some}`` and ``{mode}`` in its words are the parameter ``some`` and what it is called now.
    """
    scope: dict[str, Any] = {"says": says}
    told = "says"
    if "{some}" in says:
        told = "says.format(some=some, mode='reduced' if some else 'complete')"
    exec(f"def {name}{parameters}: raise RuntimeError({told})", scope)
    made: Callable[..., Any] = scope[name]
    made.__qualname__ = qualname
    return made


def functions() -> dict[str, Callable[..., Any]]:
    """By the names that the package gives them."""
    found = {}
    for name, facts in _REMOVED.items():
        function = facts["function"]
        found[name] = _refusing(function, function, facts["parameters"], facts["says"])
        found[name].__module__ = __name__
    return found


def methods() -> dict[str, Callable[..., Any]]:
    """Those that tensors had as methods."""
    return {
        name: _refusing(name, f"Tensor.{name}", _DECLARED[name], facts["says"])
        for name, facts in _REMOVED.items()
        if name in _DECLARED
    }
