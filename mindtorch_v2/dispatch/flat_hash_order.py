"""In which order a ``ska::flat_hash_map`` of dispatch keys is walked (c10/util/flat_hash_map.h).

An operator's kernels are in such a map.  Where several do not suit a schema that comes later, torch
names the first that it meets; which that is follows from the keys and from all that the map ever
held, since it grows and never shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FIBONACCI: Final = 11400714819323198485
"""2**64 divided by the golden ratio: a key's bucket is in the upper bits of the product."""

_FEWEST_BUCKETS: Final = 4
_FEWEST_LOOKUPS: Final = 4


@dataclass(frozen=True)
class FlatHashOrder:
    """The slots of the map, each a key or None; more than buckets, for what the last displaces.

    No value ever changes: :meth:`added` and :meth:`removed` answer the map that follows.
    """

    buckets: int = 0
    slots: tuple[int | None, ...] = ()

    def __iter__(self) -> Iterator[int]:
        return (key for key in self.slots if key is not None)

    def added(self, key: int) -> FlatHashOrder:
        """With a key; it may be there."""
        return self if key in self.slots else self._emplaced(key)

    def removed(self, key: int) -> FlatHashOrder:
        """Without a key that is there; those that it displaced move up by one."""
        slots = list(self.slots)
        place = slots.index(key)
        while place + 1 < len(slots) and self._distance(slots[place + 1], place + 1) > 0:
            slots[place] = slots[place + 1]
            place += 1
        slots[place] = None
        return FlatHashOrder(self.buckets, tuple(slots))

    def _emplaced(self, key: int) -> FlatHashOrder:
        """With a key that is not there, which takes the slot of one nearer to its bucket."""
        if 2 * (len(list(self)) + 1) > self.buckets:
            return self._grown()._emplaced(key)
        slots = list(self.slots)
        moving: int | None = key
        place = self._bucket(key)
        while moving is not None:
            while self._distance(slots[place], place) >= self._distance(moving, place):
                place += 1
                if self._distance(moving, place) == self._lookups:
                    # The one that finds no slot is added to the larger map after all others.
                    if moving != key:
                        slots[slots.index(key)] = moving
                        moving = key
                    return FlatHashOrder(self.buckets, tuple(slots))._grown()._emplaced(moving)
            slots[place], moving = moving, slots[place]
        return FlatHashOrder(self.buckets, tuple(slots))

    def _grown(self) -> FlatHashOrder:
        """With twice the buckets; the keys are added again in their order."""
        buckets = max(_FEWEST_BUCKETS, 2 * self.buckets)
        empty = FlatHashOrder(buckets)
        larger = FlatHashOrder(buckets, (None,) * (buckets + empty._lookups - 1))
        for key in self:
            larger = larger._emplaced(key)
        return larger

    @property
    def _lookups(self) -> int:
        """How many slots from its bucket on a key may be in."""
        return max(_FEWEST_LOOKUPS, self.buckets.bit_length() - 1)

    def _bucket(self, key: int) -> int:
        return (_FIBONACCI * key & (1 << 64) - 1) >> 64 - (self.buckets.bit_length() - 1)

    def _distance(self, key: int | None, place: int) -> int:
        """How far from its bucket a key is at a place; -1 for no key."""
        return -1 if key is None else place - self._bucket(key)
