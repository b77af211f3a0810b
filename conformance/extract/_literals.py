"""Text among the bytes of a compiled library, as the compiler keeps it.

A literal ends in a zero byte.  But where code copies one it has no need of that, and the compiler
keeps it in pieces of its own: two overlapping halves, or whole blocks of 16 bytes whose rest stands
in the code itself.
"""

import re
import struct
from collections.abc import Iterator
from typing import Final

BLOCK: Final = 16
"""Bytes that an instruction of SSE copies."""

LONGEST_LITERAL: Final = 1024


def literals(prefix: str, data: bytes, pattern: re.Pattern[str]) -> list[str]:
    """The texts in ``data`` that start so and are like ``pattern``, in their order.

    What stands before a text need not be the end of another: it may be a table.
    """
    found = []
    for start in re.finditer(b"(?<![ -~])" + re.escape(prefix.encode()), data):
        readings = (text.decode(errors="replace") for text in _readings(data, start.start()))
        found += next(([text] for text in readings if pattern.fullmatch(text)), [])
    return found


def _readings(data: bytes, start: int) -> Iterator[bytes]:
    """What may be the text that starts at a place, the likeliest first."""
    until_null = data[start : data.index(b"\0", start)]
    yield until_null
    yield joined(data[start : start + 2 * BLOCK])
    yield from completed(until_null[:LONGEST_LITERAL], start, data)


def joined(halves: bytes) -> bytes:
    """A literal of 17 to 31 characters that the compiler copies in two halves of 16.

    The second half ends where the literal does, so it begins with what ends the first:
    ``as_subclass(PyOb`` and ``s(PyObject* cls)`` in the library of 2.11.
    """
    first, second = halves[:BLOCK], halves[BLOCK:]
    shared = next((n for n in range(BLOCK - 1, 0, -1) if first.endswith(second[:n])), 0)
    return first + second[shared:] if shared else b""


#: ``movdqa`` of a block at a distance from the next instruction, ``movups`` of it to its place in
#: the copy, and ``mov`` of one, two or four characters to where they belong.
COPY = re.compile(
    rb"\x66\x0f\x6f[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](?P<distance>.{4})"
    rb"\x0f\x11[\x40-\x7f](?P<block>.)"
    rb"(?:\xc6[\x40-\x47](?P<at1>.)(?P<rest1>.)"
    rb"|\x66\xc7[\x40-\x47](?P<at2>.)(?P<rest2>..)"
    rb"|\xc7[\x40-\x47](?P<at4>.)(?P<rest4>.{4}))",
    re.DOTALL,
)
BEFORE_NEXT: Final = 8
"""Bytes of a ``movdqa`` with a distance."""


def completed(blocks: bytes, start: int, data: bytes) -> Iterator[bytes]:
    """Literals whose last block begins in ``blocks``, with the rest that the code has.

    ``new_tensor(PyObject* data, … bool requires_grad=Fal`` in the libraries of 2.10 and 2.11, where
    ``lse)`` is written over what was copied, from its ``l`` on.  The code is found by the distance
    to what it copies; a library is mapped as it is stored, up to its first page that is written to.
    """
    if len(blocks) < BLOCK:
        return
    for copy in COPY.finditer(data):
        (distance,) = struct.unpack("<i", copy["distance"])
        block = copy["block"][0]
        if copy.start() + BEFORE_NEXT + distance != start + block:
            continue
        size = next(size for size in "124" if copy["at" + size] is not None)
        rest, at = copy["rest" + size], copy["at" + size][0]
        if block < at <= block + BLOCK:
            yield blocks[:at] + rest
