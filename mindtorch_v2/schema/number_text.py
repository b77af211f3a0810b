"""``std::stoll`` and ``std::stod``: the number that a text begins with.

What they refuse leaves C++ as ValueError (no number) or IndexError (out of range), with the name
of the function for a message.
"""

from __future__ import annotations

import math
import re
from typing import Final

_INTEGER: Final = re.compile(r"-?[0-9]+")
_HEX: Final = re.compile(
    r"-?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
)
_DECIMAL: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_SMALLEST_NORMAL: Final = 2.0**-1022
_INT64: Final = 1 << 63
_LONGEST_EXPONENT: Final = 4
"""Digits of an exponent that is worth computing exactly."""


def stoll(text: str) -> int:
    found = _INTEGER.match(text)
    if found is None:
        raise ValueError("stoll")
    value = int(found[0])
    if not -_INT64 <= value < _INT64:
        raise IndexError("stoll")
    return value


def stod(text: str) -> float:
    found = _HEX.match(text)
    if found is not None:
        return _from_hex(found[0])
    found = _DECIMAL.match(text)
    if found is None:
        raise ValueError("stod")
    value = float(found[0])
    if math.isinf(value):
        raise IndexError("stod")
    if abs(value) < _SMALLEST_NORMAL and not _is_exact(found, value):
        raise IndexError("stod")
    return value


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        raise IndexError("stod") from None


def _is_exact(found: re.Match[str], value: float) -> bool:
    """Whether a number this small is exactly what was written, as zero is."""
    mantissa = re.split("[eE]", found[0])[0]
    if not mantissa.strip("-.0"):
        return True
    from fractions import Fraction  # as numbers this small hardly ever come

    exponent = (found[1] or "0").lstrip("+-0")
    return len(exponent) <= _LONGEST_EXPONENT and Fraction(found[0].rstrip(".")) == value
