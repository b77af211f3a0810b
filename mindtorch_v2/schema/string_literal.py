"""String literals: what stands between the quotes, escapes resolved.

Mirrors ``torch/csrc/jit/frontend/parse_string_literal.h``.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "v": "\v", "t": "\t"} | {
    character: character for character in "\\'\"\n"
}
_ESCAPE: Final = re.compile(r"\\(?:[0-3][0-7][0-7]|(.))", re.DOTALL)


class MalformedLiteralError(ValueError):
    """An escape that torch does not take; the message is torch's."""


def parse_string_literal(literal: str) -> str:
    """The text of a literal with its quotes."""
    width = 3 if literal[:3] == literal[0] * 3 else 1
    return _ESCAPE.sub(_resolve, literal[width : len(literal) - width])


def _resolve(escape: re.Match[str]) -> str:
    character = escape[1]
    if character is None:
        return chr(int(escape[0][1:], 8))
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character == "x":
        raise MalformedLiteralError("unsupported hex specifier")
    if character in "uU":
        raise MalformedLiteralError("unsupported unicode specifier")
    raise MalformedLiteralError(" ill formed octal specifier")
