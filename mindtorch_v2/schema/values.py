"""Default values: which Python value stands for an ``IValue``, when two are equal, how one prints.

None, bool, int, float, complex, str, device and list; a str holds bytes that are not UTF-8 as
``surrogateescape`` does.  Mirrors ``operator<<`` and ``equals`` of ``ATen/core/ivalue.cpp`` and
``printQuotedString`` of ``c10/util/StringUtil.h``.
"""

from __future__ import annotations

from typing import Any, Final

Value = Any

_QUOTED: Final = {
    ord("\\"): "\\\\",
    ord("'"): "\\'",
    ord('"'): '\\"',
    ord("\a"): "\\a",
    ord("\b"): "\\b",
    ord("\f"): "\\f",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord("\v"): "\\v",
}
_INT64: Final = 1 << 63


def same_value(left: Value, right: Value) -> bool:
    """Whether two IValues are equal: 1, 1.0 and True are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same_value, left, right))
    return bool(left == right)


def hash_key(value: Value) -> object:
    """Something hashable; alike where C++ hashes alike, as it does None, 0, 0.0 and False."""
    if isinstance(value, list):
        return tuple(map(hash_key, value))
    if not value and not isinstance(value, (str, complex)):
        return 0
    return value, isinstance(value, float)


def show(value: Value) -> str:
    """The value as C++ prints it."""
    if isinstance(value, float):
        return show_double(value)
    if isinstance(value, complex):
        sign = "+" if value.imag >= 0 else "-"
        return f"{show_double(value.real)}{sign}{show_double(abs(value.imag))}j"
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    return str(value)


def show_double(value: float) -> str:
    """A whole number as ``1.``, any other with 17 digits."""
    if value == 0:
        return "0."
    if -_INT64 <= value < _INT64 and value.is_integer():
        return f"{int(value)}."
    return f"{value:.17g}"


def quote(text: str) -> str:
    """A string in double quotes; what is not printable ASCII becomes three octal digits."""
    raw = text.encode("utf-8", "surrogateescape")
    return f'"{"".join(_QUOTED.get(byte) or _printed(byte) for byte in raw)}"'


def _printed(byte: int) -> str:
    if 0x1F < byte < 0x7F:
        return chr(byte)
    # C++ divides a signed char, towards zero: beyond ASCII the "digits" are below '0'.
    rest = byte - 256 if byte > 0x7F else byte
    digits = []
    for _ in range(2):
        quotient = int(rest / 8)
        digits.append(chr(ord("0") + rest - 8 * quotient))
        rest = quotient
    return "\\" + chr(ord("0") + rest) + digits[1] + digits[0]
