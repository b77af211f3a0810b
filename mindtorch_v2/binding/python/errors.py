"""``torch::TypeError``, which older releases format into a buffer of fixed length.

Mirrors ``formatMessage`` in ``torch/csrc/Exceptions.cpp``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.errors import c_string

_BUFFER: Final[int | None] = profile.active().argument_parser["message_buffer"]
"""Bytes of the buffer, the final NUL included; None for no limit."""


def type_error(message: str) -> TypeError:
    """A TypeError as Python gets it: cut at the buffer's end.

    UnicodeDecodeError where the cut halves a character.
    """
    if _BUFFER is None:
        return TypeError(c_string(message))
    data = message.encode("utf-8", "surrogateescape").partition(b"\0")[0]
    return TypeError(data[: _BUFFER - 1].decode())
