"""Section ``bindings.json.xz``: what pybind11 shows of torch._C.

The docstrings hold the signature lines that pybind11 prints in its TypeErrors, so they are kept
as they are.  Only what pybind11 made and what stands directly in torch._C is listed, and what its
module of autograd has for saved tensors: builtin functions that torch defines with a PyMethodDef
word their errors through CPython instead.
"""

from collections.abc import Iterable
from typing import Any

import torch

C: Any = torch._C


def extract() -> dict[str, Any]:
    """Functions and classes, each sorted by name."""
    # The rest of that module is the profiler, whose docstrings print addresses.
    saved = (name for name in dir(C._autograd) if "saved" in name.lower())
    return {**bound(C, dir(C)), "autograd": bound(C._autograd, saved)}


def bound(module: Any, names: Iterable[str]) -> dict[str, Any]:
    """What pybind11 made of those names of a module."""
    values = {name: getattr(module, name) for name in sorted(names)}
    return {
        "functions": {n: v.__doc__ or "" for n, v in values.items() if is_function(v)},
        "classes": {n: describe_class(v) for n, v in values.items() if is_class(v)},
    }


def is_function(value: Any) -> bool:
    """A builtin function whose ``__self__`` is pybind11's record of it."""
    owner = type(getattr(value, "__self__", None)).__name__
    is_builtin = type(value).__name__ == "builtin_function_or_method"
    return is_builtin and (owner == "PyCapsule" or owner.startswith("pybind11_"))


def is_method(value: Any) -> bool:
    return type(value).__name__ == "instancemethod"


def is_class(value: Any) -> bool:
    return type(value).__name__ == "pybind11_type"


def describe_class(cls: Any) -> dict[str, Any]:
    """One class: its own attributes, in the order in which torch defined them."""
    own = vars(cls)
    return {
        "name": f"{cls.__module__}.{cls.__qualname__}",
        # Where an instance's docstring is a property, the class has none of its own.
        "doc": cls.__doc__ if isinstance(cls.__doc__, str) else None,
        "base": f"{cls.__base__.__module__}.{cls.__base__.__qualname__}",
        "methods": {n: v.__doc__ or "" for n, v in own.items() if is_method(v)},
        "static_methods": {
            n: v.__func__.__doc__ or "" for n, v in own.items() if isinstance(v, staticmethod)
        },
        "properties": {n: describe_property(v) for n, v in own.items() if isinstance(v, property)},
        "members": {n: int(v) for n, v in getattr(cls, "__members__", {}).items()},
        # Set to None by pybind11 for a class that has __eq__ and no __hash__.
        "hashable": cls.__hash__ is not None,
    }


def describe_property(value: property) -> dict[str, Any]:
    """A property; those of the class itself are pybind11's own subclass."""
    static = type(value).__name__ == "pybind11_static_property"
    facts = {"doc": value.__doc__, "settable": value.fset is not None}
    return {**facts, "static": True} if static else facts
