"""Modules that hold others.

Mirrors ``torch/nn/modules/container.py``.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import Any, TypeVar

from mindtorch_v2.nn.modules.module import Module, indented

__all__ = ["ModuleDict", "ModuleList", "Sequential"]

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

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._modules = OrderedDict(
            (str(place), module) for place, module in enumerate(self._modules.values())
        )

    def append(self: Self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Take a module out, or a slice of them."""
        found = self[key]  # type: ignore[index]
        del self[key]
        return found

    def _put(self, index: int, module: Module) -> None:
        """Have a module at a place, and those from there one place on."""
        for place in range(len(self), index, -1):
            self._modules[str(place)] = self._modules[str(place - 1)]
        self._modules[str(index)] = module


class Sequential(_Row):
    """Modules of which each computes from what the one before answers."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        is_named = len(args) == 1 and isinstance(args[0], OrderedDict)
        named = args[0].items() if is_named else ((str(n), each) for n, each in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def insert(self: Self, index: int, module: Module) -> Self:
        """Put a module before that of an index; IndexError if there is no such place."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        self._put(index + size if index < 0 else index, module)
        return self

    def extend(self: Self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        self._expect_sequential(other)
        return Sequential().extend(self).extend(other)

    def __iadd__(self: Self, other: Any) -> Self:
        self._expect_sequential(other)
        return self.extend(other)  # type: ignore[no-any-return]

    def _expect_sequential(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )

    def __mul__(self, other: int) -> Sequential:
        self._expect_factor(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self: Self, other: int) -> Self:
        self._expect_factor(other)
        return self.extend(list(self) * (other - 1))  # type: ignore[no-any-return]

    def _expect_factor(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(_Row):
    """Modules in a list, for others to call."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name_at(index)]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before that of an index."""
        self._put(index, module)

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; TypeError if there are none to take."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        offset = len(self)
        for place, module in enumerate(modules):
            self.add_module(str(offset + place), module)
        return self

    def __iadd__(self: Self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)  # type: ignore[no-any-return]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

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


class ModuleDict(Module):
    """Modules under names, for others to call."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        found = self[key]
        del self[key]
        return found

    def keys(self) -> KeysView[str]:
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules, of a dictionary or in pairs with their names; TypeError or ValueError."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        if isinstance(modules, (ModuleDict, Mapping)):
            for key, module in modules.items():
                self[key] = module
            return
        for place, pair in enumerate(modules):
            element = f"ModuleDict update sequence element #{place}"
            if not isinstance(pair, Iterable):
                raise TypeError(f"{element} should be Iterable; is{type(pair).__name__}")
            if len(pair) != 2:  # type: ignore[arg-type]
                raise ValueError(f"{element} has length {len(pair)}; 2 is required")  # type: ignore[arg-type]
            self[pair[0]] = pair[1]  # type: ignore[index]
