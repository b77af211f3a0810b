"""What an operator has besides its kernels: fake implementations, rules of ``__torch_dispatch__``.

Mirrors ``torch/_library/simple_registry.py``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2._library.fake_impl import FakeImplHolder
from mindtorch_v2._library.release import does
from mindtorch_v2._library.utils import RegistrationHandle, parse_namespace
from mindtorch_v2.torch_dispatch_rules import RULES, Rule, find_torch_dispatch_rule

__all__ = [
    "SimpleLibraryRegistry",
    "SimpleOperatorEntry",
    "find_torch_dispatch_rule",
    "singleton",
]


class GenericTorchDispatchRuleHolder:
    """An operator's rules by the class whose ``__torch_dispatch__`` they stand for."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname

    def register(self, torch_dispatch_class: type, func: Rule) -> RegistrationHandle:
        """RuntimeError if the class has a rule already."""
        if self.find(torch_dispatch_class):
            raise RuntimeError(
                f"{torch_dispatch_class} already has a `__torch_dispatch__` rule registered for "
                f"{self.qualname}"
            )
        RULES[self.qualname, torch_dispatch_class] = func
        return RegistrationHandle(lambda: RULES.__delitem__((self.qualname, torch_dispatch_class)))

    def find(self, torch_dispatch_class: type) -> Rule | None:
        return RULES.get((self.qualname, torch_dispatch_class))


class SimpleOperatorEntry:
    """What is registered for one operator, by its full name."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.fake_impl = FakeImplHolder(qualname)
        self.torch_dispatch_rules = GenericTorchDispatchRuleHolder(qualname)

    @property
    def abstract_impl(self) -> FakeImplHolder:
        return self.fake_impl


class SimpleLibraryRegistry:
    """The entries; one is made when it is first asked for."""

    def __init__(self) -> None:
        self._data: dict[str, SimpleOperatorEntry] = {}

    def find(self, qualname: str) -> SimpleOperatorEntry:
        """The entry of a full name; ValueError, in newer releases, for what is none."""
        if qualname not in self._data:
            if does("an operator's entry checks its name"):
                parse_namespace(qualname)
            self._data[qualname] = SimpleOperatorEntry(qualname)
        return self._data[qualname]

    def get(self, qualname: str) -> SimpleOperatorEntry | None:
        return self._data.get(qualname)


singleton: Final = SimpleLibraryRegistry()
