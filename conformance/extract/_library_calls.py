"""Libraries, operators and calls by which the facts of ``torch.library`` are found out."""

from collections.abc import Callable
from typing import Any

import torch
from torch import library
from torch._library import simple_registry

NAMESPACE = "nosuch_library"
SCHEMA = "(Tensor x) -> Tensor"


def fake_impl_holder() -> type:
    """The class that keeps an operator's fake implementation."""
    entry = simple_registry.singleton.find(f"{NAMESPACE}::f")
    return type(entry.abstract_impl)


def scoped(call: Callable[[library.Library], object]) -> Callable[[], object]:
    """A call with a library that has ``f`` and is destroyed afterwards."""

    def run() -> object:
        with library._scoped_library(NAMESPACE, "FRAGMENT") as made:
            made.define(f"f{SCHEMA}")
            return call(made)

    return run


def custom_op(**options: Any) -> Any:
    """A custom operator's packet."""
    options = {"mutates_args": (), "schema": SCHEMA, **options}
    library.custom_op(f"{NAMESPACE}::g", lambda x: x, **options)
    return getattr(torch.ops, NAMESPACE).g


def py_impl(key: Any) -> Callable[[library.Library], object]:
    return lambda made: getattr(torch.ops, NAMESPACE).f.default.py_impl(key)(lambda x: x)
