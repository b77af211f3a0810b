"""Operators of strings, which C++ takes byte by byte: ``aten::upper``, ``aten::split.str`` …

Mirrors ``stringOpGenArgs`` of ``torch/csrc/jit/runtime/register_prim_ops.cpp``.  What is no text in
UTF-8 any more is a UnicodeDecodeError, as of every string that comes back from C++.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from mindtorch_v2.kernels.interpreter.values import Operation, normalized

_LINE_ENDS: Final = frozenset(b"\n\r\v\f\x1c\x1d\x1e" + b"\x85\xe2\x80\xa8\xa9")
_NOT_FOUND: Final = "ValueError: substring not found"
_ONE_FILL: Final = "TypeError: The fill character must be exactly one character long"


def _raw(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return [_raw(each) for each in value] if isinstance(value, list) else value


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tuple):
        return tuple(map(_text, value))
    return list(map(_text, value)) if isinstance(value, list) else value


def on_bytes(function: Callable[..., Any]) -> Operation:
    """An operation on texts by a function of their bytes."""

    @wraps(function)
    def run(*stack: Any) -> Any:
        return _text(function(*map(_raw, stack)))

    return run


def at(text: bytes, index: int) -> bytes:
    """``std::string::at``, with an index from the end as Python has it."""
    place = normalized(index, len(text))
    if not 0 <= place < len(text):
        raise IndexError(
            f"basic_string::at: __n (which is {place % 2**64}) >= this->size() "
            f"(which is {len(text)})"
        )
    return text[place : place + 1]


def sliced(values: Any, start: int | None, end: int | None, step: int) -> Any:
    """``slice_indices_adjust``, whose rules are Python's own."""
    if step == 0:
        raise RuntimeError("List slice should have non-zero step")
    if step < -sys.maxsize:
        raise RuntimeError("List slice step is out of bounds")
    if start == sys.maxsize:  # which is what C++ has for None
        start = None
    return values[start:end:step]


def _span(text: bytes, start: int, end: int) -> tuple[int, int]:
    """From where to where is meant; here -1 is the end itself."""
    if start < 0:
        start = max(0, len(text) + start)
    if end < 0:
        end = max(0, len(text) + end + 1)
    return start, end


def _part(text: bytes, start: int, end: int) -> bytes:
    """``text.substr(start, end - start)``: to the end if that is negative.  IndexError."""
    start, end = _span(text, start, end)
    if start > len(text):
        raise IndexError(
            f"basic_string::substr: __pos (which is {start}) > this->size() (which is {len(text)})"
        )
    return text[start:end] if end >= start else text[start:]


def _find(text: bytes, part: bytes, start: int, end: int, *, reverse: bool = False) -> int:
    start, end = _span(text, start, end)
    searched = b""
    if end > start:
        searched = _part(text, start, end)
    place = searched.rfind(part) if reverse else searched.find(part)
    return place + start if place >= 0 else -1


def _rfind(text: bytes, part: bytes, start: int, end: int) -> int:
    return _find(text, part, start, end, reverse=True)


def _index(text: bytes, part: bytes, start: int, end: int) -> int:
    place = _find(text, part, start, end)
    if place < 0:
        raise RuntimeError(_NOT_FOUND)
    return place


def _rindex(text: bytes, part: bytes, start: int, end: int) -> int:
    place = _rfind(text, part, start, end)
    if place < 0:
        raise RuntimeError(_NOT_FOUND)
    return place


def _count(text: bytes, part: bytes, start: int, end: int) -> int:
    if start > len(text):
        return 0
    start, end = _span(text, start, end)
    found = 0
    place = text.find(part, start)
    while 0 <= place < end:
        found += 1
        place = text.find(part, place + max(1, len(part)))
    return found


def _startswith(text: bytes, part: bytes, start: int, end: int) -> bool:
    return _part(text, start, end).startswith(part)


def _endswith(text: bytes, part: bytes, start: int, end: int) -> bool:
    return _part(text, start, end).endswith(part)


def _split(text: bytes, separator: bytes | None, count: int) -> list[bytes]:
    if separator is None:
        return text.split()
    if not separator:
        raise RuntimeError("ValueError: empty separator")
    return text.split(separator, count)


def _splitlines(text: bytes, keepends: bool) -> list[bytes]:
    """An end that is kept is a line of its own."""
    found = []
    begin = 0
    for place, byte in enumerate(text):
        if byte in _LINE_ENDS:
            found.append(text[begin:place])
            if keepends:
                found.append(text[place : place + 1])
            begin = place + 1
    if begin != len(text):
        found.append(text[begin:])
    return found


def _partition(text: bytes, separator: bytes) -> tuple[bytes, bytes, bytes]:
    return text.partition(separator) if separator else (b"", b"", text)


def _rpartition(text: bytes, separator: bytes) -> tuple[bytes, bytes, bytes]:
    return text.rpartition(separator) if separator else (text, b"", b"")


def _check_fill(fill: bytes) -> None:
    if len(fill) != 1:
        raise RuntimeError(_ONE_FILL)


def _center(text: bytes, width: int, fill: bytes) -> bytes:
    _check_fill(fill)
    if len(text) > width:
        return text
    padding = width - len(text)
    left, right = padding // 2, (padding + 1) // 2
    if width % 2:
        left, right = right, left
    return fill * left + text + fill * right


def _ljust(text: bytes, width: int, fill: bytes) -> bytes:
    _check_fill(fill)
    return text.ljust(max(width, 0), fill)


def _rjust(text: bytes, width: int, fill: bytes) -> bytes:
    _check_fill(fill)
    return text.rjust(max(width, 0), fill)


def _zfill(text: bytes, width: int) -> bytes:
    """In front of a sign too."""
    return text.rjust(max(width, 0), b"0")


def _expandtabs(text: bytes, tabsize: int) -> bytes:
    """Counted from the beginning of the text, whatever lines there are."""
    found = bytearray()
    for byte in text:
        if byte != 0x09:
            found.append(byte)
        elif tabsize > 0:
            found += b" " * (tabsize - len(found) % tabsize)
    return bytes(found)


def _isidentifier(text: bytes) -> bool:
    """By its letters and digits alone; that it warns on stderr is torch's logging, left out."""
    return bool(text) and not text[:1].isdigit() and text.isalnum()


def _istitle(text: bytes) -> bool:
    found = previous = False
    for place in range(len(text)):
        letter = text[place : place + 1]
        if letter != (letter.lower() if previous else letter.upper()):
            return False
        found = found or (not previous and letter.isalpha())
        previous = letter.isalpha()
    return found


def _isprintable(text: bytes) -> bool:
    return all(0x20 <= byte < 0x7F for byte in text)


def _ord(text: bytes) -> int:
    if len(text) != 1:
        raise RuntimeError(f"String for ord() must be 1 character, found {len(text)}")
    return text[0]


def _chr(value: int) -> bytes:
    if not 0 <= value < 1114111:
        raise RuntimeError(f"chr() arg not in range(0x110000), found {value}")
    return bytes((value & 0xFF,))


def _join(text: bytes, values: list[bytes]) -> bytes:
    return text.join(values)


def _list(text: bytes) -> list[bytes]:
    return [text[place : place + 1] for place in range(len(text))]


_COMPARED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add,
    "eq": operator.eq,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
    "ne": operator.ne,
}

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f"aten::{name}.str": function for name, function in _COMPARED.items()},
    "aten::__getitem__.str": at,
    "aten::bin": bin,
    "aten::capitalize": bytes.capitalize,
    "aten::center": _center,
    "aten::chr": _chr,
    "aten::count": _count,
    "aten::endswith": _endswith,
    "aten::expandtabs": _expandtabs,
    "aten::find": _find,
    "aten::hex": hex,
    "aten::index.str": _index,
    "aten::isalnum": bytes.isalnum,
    "aten::isalpha": bytes.isalpha,
    "aten::isdecimal": bytes.isdigit,
    "aten::isdigit": bytes.isdigit,
    "aten::isidentifier": _isidentifier,
    "aten::islower": bytes.islower,
    "aten::isnumeric": bytes.isdigit,
    "aten::isprintable": _isprintable,
    "aten::isspace": bytes.isspace,
    "aten::istitle": _istitle,
    "aten::isupper": bytes.isupper,
    "aten::join": _join,
    "aten::len.str": len,
    "aten::list": _list,
    "aten::ljust": _ljust,
    "aten::lower": bytes.lower,
    "aten::lstrip": bytes.lstrip,
    "aten::oct": oct,
    "aten::ord": _ord,
    "aten::partition": _partition,
    "aten::replace": bytes.replace,
    "aten::rfind": _rfind,
    "aten::rindex": _rindex,
    "aten::rjust": _rjust,
    "aten::rpartition": _rpartition,
    "aten::rsplit": bytes.rsplit,
    "aten::rstrip": bytes.rstrip,
    "aten::slice.str": sliced,
    "aten::split.str": _split,
    "aten::splitlines": _splitlines,
    "aten::startswith": _startswith,
    "aten::strip": bytes.strip,
    "aten::swapcase": bytes.swapcase,
    "aten::title": bytes.title,
    "aten::upper": bytes.upper,
    "aten::zfill": _zfill,
    "prim::StringIndex": at,
}

OPERATIONS: Final[dict[str, Operation]] = {
    name: on_bytes(function) for name, function in _FUNCTIONS.items()
}
