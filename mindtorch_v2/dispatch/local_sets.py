"""What a thread includes and excludes, as one value, and what guards make of it.

Mirrors the two sets of ``c10::impl::LocalDispatchKeySet`` and the constructors and destructors of
the guards in ``c10/core/impl/LocalDispatchKeySet.cpp``.

The same few values come again and again, and each is one object.  It keeps what guards have made of
it, so that a guard costs a look-up; and where calls go is kept by it.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import BACKEND_MASK, PYTHON_KEYS, difference, functionality_bit

_FACTS: Final = profile.active().keys

DEFAULT_INCLUDED: Final = _FACTS.default_included
DEFAULT_EXCLUDED: Final = _FACTS.default_excluded

_PYTHON: Final = functionality_bit(DispatchKey.Python)

_MOST_KEPT: Final = 1000
"""So many values are kept; then all are forgotten."""


class LocalSets:
    """The included and the excluded set; they never change."""

    __slots__ = (
        *("excluded", "excludes_python", "excluding", "included", "including"),
        *("is_default", "modeless"),
    )

    def __init__(self, included: int, excluded: int) -> None:
        self.included = included
        self.excluded = excluded
        self.excludes_python = bool(excluded & _PYTHON)
        #: Whether calls go where they go by default: backend bits that are excluded change nothing.
        self.is_default = included == DEFAULT_INCLUDED and not (
            (excluded ^ DEFAULT_EXCLUDED) & ~BACKEND_MASK
        )
        #: What has been made of it by :meth:`include` and :meth:`exclude`.
        self.including: dict[int, Change] = {}
        self.excluding: dict[int, Change] = {}
        #: The same in a thread without modes, once somebody has asked for it.
        self.modeless: LocalSets | None = None

    def include(self, mask: int) -> Change:
        """What IncludeDispatchKeyGuard does who finds these sets."""
        change = self.including.get(mask)
        if change is None:
            change = self.including[mask] = Inclusion(self, mask)
        return change

    def exclude(self, mask: int) -> Change:
        """What ExcludeDispatchKeyGuard does."""
        change = self.excluding.get(mask)
        if change is None:
            change = self.excluding[mask] = Exclusion(self, mask)
        return change

    def without_modes(self) -> LocalSets:
        """Without what is included while there are modes."""
        if self.modeless is None:
            self.modeless = self.with_included(self.included & ~PYTHON_KEYS)
        return self.modeless

    def with_included(self, included: int) -> LocalSets:
        return local_sets(included, self.excluded)

    def with_excluded(self, excluded: int) -> LocalSets:
        return local_sets(self.included, excluded)


class Change:
    """What a guard does to the sets that it has found, and how it takes that back."""

    __slots__ = ("_found", "_mask", "after", "unusual", "within")

    def __init__(self, found: LocalSets, mask: int) -> None:
        self._found, self._mask = found, mask
        #: What the guard leaves to its block.
        self.within = self._made(found)
        #: What comes after the block, if it has left the sets as they were.
        self.after = self.undone(self.within)
        #: ``within`` if a storage that has it is watched for sure; see Note [Watched storages].
        self.unusual = None if self.within.is_default else self.within

    def _made(self, found: LocalSets) -> LocalSets:
        raise NotImplementedError

    def undone(self, now: LocalSets) -> LocalSets:
        """What comes after the block, whatever it has left."""
        raise NotImplementedError

    def _left(self, now: int, found: int) -> int:
        """What closing the guard leaves of a set, which it had found otherwise.

        Older releases take out what it brought, functionalities only: a backend bit that came in
        with one stays.  Newer ones put back the whole set as it was.
        """
        if _FACTS.guards_restore_sets:
            return found
        return difference(now, difference(self._mask, found))


class Inclusion(Change):
    """``IncludeDispatchKeyGuard``."""

    __slots__ = ()

    def _made(self, found: LocalSets) -> LocalSets:
        return found.with_included(found.included | difference(self._mask, found.included))

    def undone(self, now: LocalSets) -> LocalSets:
        return now.with_included(self._left(now.included, self._found.included))


class Exclusion(Change):
    """``ExcludeDispatchKeyGuard``."""

    __slots__ = ()

    def _made(self, found: LocalSets) -> LocalSets:
        return found.with_excluded(found.excluded | difference(self._mask, found.excluded))

    def undone(self, now: LocalSets) -> LocalSets:
        return now.with_excluded(self._left(now.excluded, self._found.excluded))


DEFAULT: Final = LocalSets(DEFAULT_INCLUDED, DEFAULT_EXCLUDED)
"""What every thread starts with."""

_kept: Final[dict[tuple[int, int], LocalSets]] = {}


def local_sets(included: int, excluded: int) -> LocalSets:
    """The value of these two sets."""
    if included == DEFAULT_INCLUDED and excluded == DEFAULT_EXCLUDED:
        return DEFAULT
    kept = _kept.get((included, excluded))
    if kept is None:
        if len(_kept) >= _MOST_KEPT:
            _forget()
        kept = _kept.setdefault((included, excluded), LocalSets(included, excluded))
    return kept


def _forget() -> None:
    """Keep nothing but the defaults; a value that is in use may have a twin then."""
    _kept.clear()
    DEFAULT.including.clear()
    DEFAULT.excluding.clear()
