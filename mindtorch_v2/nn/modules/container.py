"""Modules that hold others.

Mirrors ``torch/nn/modules/container.py``.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from mindtorch_v2.nn.modules.module import Module, indented, type_name

__all__ = ["ModuleList", "Sequential"]

Self = TypeVar("Self", bound="_Row")


class _Row(Module):
    """Modules one after the other, named by their places unless they have names."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _name_at(self, index: Any) -> str:
        place = operator.index(index)
        size = len(self)
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of range")
        return list(self._modules)[place % size]

    def _add(self, module: Module) -> None:
        self.add_module(str(len(self)), module)

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def append(self: Self, module: Module) -> Self:
        """Add a module at the end."""
        self._add(module)
        return self

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        for module in modules:
            self._add(module)
        return self


class Sequential(_Row):
    """Modules of which each computes from what the one before answers."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = list(args[0].items())
        else:
            named = [(str(place), module) for place, module in enumerate(args)]
        for name, module in named:
            if not isinstance(module, Module):
                raise TypeError(f"{type_name(module)} is not a Module subclass")
            self.add_module(name, module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(_Row):
    """Modules in a list, for others to call."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name_at(index)]

    def __repr__(self) -> str:
        """Those that follow each other and look alike are shown once."""
        shown = [repr(module) for module in self]
        if not shown:
            return f"{self._get_name()}()"
        lines, start = [], 0
        for place, text in enumerate(shown):
            if place + 1 < len(shown) and shown[place + 1] == text:
                continue
            count = place - start + 1
            name = f"({start}): " if count == 1 else f"({start}-{place}): {count} x "
            lines.append(name + indented(text))
            start = place + 1
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)"
