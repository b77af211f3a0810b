"""The order of a ``std::unordered_map`` with string keys, which torch's messages show.

A message about keyword arguments lists them as libstdc++ iterates over its hash table
(``bits/hashtable.h``), with the hash of ``libsupc++/hash_bytes.cc``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

_MASK: Final = (1 << 64) - 1
_MULTIPLIER: Final = (0xC6A4A793 << 32) + 0x5BD1E995
_SEED: Final = 0xC70F6907

_FIRST_SIZE: Final = 13
"""Buckets of a map that has its first element; it has as many elements before it grows."""
_PRIMES: Final = (29, 59, 127, 257, 541, 1109)
"""Buckets after that: each at least twice as many."""


def iteration_order(keys: Iterable[str]) -> list[str]:
    """``keys`` in the order in which a map iterates that they were inserted into, one by one.

    A bucket's elements follow each other.  A new element goes to the front of its bucket; that of
    an empty bucket, to the front of all.
    """
    order: list[str] = []
    size = _FIRST_SIZE
    for key in dict.fromkeys(keys):
        if len(order) == size:
            size = _PRIMES[bisect_left(_PRIMES, 2 * size)]
            order = _inserted(order, size)
        _insert(order, key, size)
    return order


def _inserted(keys: Iterable[str], size: int) -> list[str]:
    order: list[str] = []
    for key in keys:
        _insert(order, key, size)
    return order


def _insert(order: list[str], key: str, size: int) -> None:
    bucket = _hash(key) % size
    buckets = (_hash(other) % size for other in order)
    first = next((at for at, other in enumerate(buckets) if other == bucket), 0)
    order.insert(first, key)


def _hash(key: str) -> int:
    return hash_bytes(key.encode("utf-8", "surrogateescape"))


def hash_bytes(data: bytes) -> int:
    """``std::hash<std::string>``, 64 bits: MurmurHash64A, little-endian."""
    value = _SEED ^ (len(data) * _MULTIPLIER & _MASK)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little")
        value ^= _mixed(block * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
        value = value * _MULTIPLIER & _MASK
    if whole < len(data):
        value ^= int.from_bytes(data[whole:], "little")
        value = value * _MULTIPLIER & _MASK
    return _mixed(_mixed(value) * _MULTIPLIER & _MASK)


def _mixed(value: int) -> int:
    return value ^ value >> 47
