"""Alias annotations: which sets of tensors a value may share memory with, and what is written.

Mirrors ``ATen/core/alias_info.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WILDCARD: Final = "*"
"""The set that may alias anything."""


@dataclass(frozen=True, slots=True, eq=False)
class AliasInfo:
    """``(a! -> a|b)``: the sets before the call, whether it is written to, the sets after.

    The sets are in the order in which C++ iterates over them, newest first; that order is no
    part of what they are.  ``contained`` belongs to the elements of a list.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    is_write: bool = False
    contained: tuple[AliasInfo, ...] = ()

    @property
    def before_set(self) -> frozenset[str]:
        return frozenset(self.before)

    @property
    def after_set(self) -> frozenset[str]:
        return frozenset(self.after)

    @property
    def is_wildcard_after(self) -> bool:
        return WILDCARD in self.after

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AliasInfo):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.is_write, self.before_set, self.after_set, self.contained

    def __str__(self) -> str:
        written = "!" if self.is_write else ""
        after = ""
        if self.before_set != self.after_set:
            after = f" -> {'|'.join(self.after)}"
        return f"({'|'.join(self.before)}{written}{after})"
