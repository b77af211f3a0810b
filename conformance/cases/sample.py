"""Samples of another area's cases, which stay what they are when cases beside them come and go.

A sample by position would be another one with each case that is added in front: what a recording
holds of it would be lost, and what a run finds would depend on what nobody changed.
"""

from __future__ import annotations

from zlib import crc32


def number_of(text: str) -> int:
    """A number below 2**32 that is a text's own, the same in every process."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def is_sampled(text: str, every: int) -> bool:
    """Whether the text is one of those, of ``every`` so many one, that a sample has."""
    return number_of(text) % every == 0
