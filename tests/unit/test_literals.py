"""Text among the bytes of a library: what a compiler makes of literals, and what is read there."""

import re
import struct

import pytest

from conformance.extract._literals import literals
from mindtorch_v2 import profile

SIGNATURE = re.compile(r"\w+\([^()]*\)")
BLOCK = 16
TEXT = "ask(Tensor x, *, bool twice=False)"


def library(text: str, *, distance: int = 0) -> bytes:
    """A library whose code copies ``text``: whole blocks of 16, and its last characters.

    ``distance`` is how far the code is off.
    """
    at = len(text) // BLOCK * BLOCK
    rest = text[len(text) - 4 :].encode()
    stored = b"\0" * 8 + text[:at].encode() + b"another\0"
    last = at - BLOCK
    back = 8 + last - (len(stored) + 8) + distance
    copied = b"\x66\x0f\x6f\x05" + struct.pack("<i", back) + b"\x0f\x11\x40" + bytes([last])
    return stored + copied + b"\xc7\x40" + bytes([len(text) - 4]) + rest


def found(data: bytes) -> list[str]:
    return literals("ask(", data, SIGNATURE)


def test_a_literal_ends_in_a_zero_byte() -> None:
    assert found(b"\0" + TEXT.encode() + b"\0") == [TEXT]


def test_a_literal_in_two_halves_is_joined() -> None:
    text = "ask(Tensor x, int)"
    assert found(b"\0" + text[:16].encode() + text[-16:].encode() + b"\0") == [text]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("x", "xy"), TEXT.replace("x", "xyz")])
def test_the_rest_of_a_literal_is_read_from_the_code_that_copies_it(text: str) -> None:
    assert found(library(text)) == [text]


def test_code_that_copies_something_else_ends_no_literal() -> None:
    assert found(library(TEXT, distance=1)) == []


def test_what_stands_behind_printable_text_is_no_literal() -> None:
    assert found(b"t" + TEXT.encode() + b"\0") == []


@pytest.mark.parametrize("release", profile.known())
def test_a_method_has_as_many_signatures_in_every_release(release: str) -> None:
    """Of those that have a parser: one without signatures was not found in the library."""
    methods = profile.load(release).signatures["manual"]["Tensor"]
    first = profile.load(profile.known()[0]).signatures["manual"]["Tensor"]
    parsed = {name for name, method in first.items() if method["signatures"]}
    missing = {name for name in parsed & set(methods) if not methods[name]["signatures"]}
    assert missing == set()
