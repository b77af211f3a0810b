"""``torch::TypeError``: formatted by ``vsnprintf`` into a buffer of fixed length.

Mirrors ``formatMessage`` in ``torch/csrc/Exceptions.cpp``.
"""

from __future__ import annotations

from typing import Final

_BUFFER: Final = 1024
"""Bytes of the buffer, the final NUL included."""


def type_error(message: str) -> TypeError:
    """A TypeError as Python gets it: cut at the buffer's end.

    What is returned is UnicodeDecodeError instead if the cut halves a character.
    """
    data = message.encode("utf-8", "surrogateescape").partition(b"\0")[0]
    return TypeError(data[: _BUFFER - 1].decode())
