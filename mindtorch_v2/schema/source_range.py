"""Excerpts of a source text in error messages, the place marked ``~~~ <--- HERE``.

Mirrors ``SourceRange::print_with_context`` of ``torch/csrc/jit/frontend/source_range.cpp``, and
``ErrorReport`` of ``error_report.cpp``.  Texts are UTF-8 bytes as Latin-1, one character a byte.
"""

from __future__ import annotations

from typing import Final

CONTEXT: Final = 3
"""Line ends at which an excerpt stops, on either side: two whole lines are shown."""


def highlight(text: str, start: int, end: int) -> str:
    """The lines around ``text[start:end]``, a line of tildes under the range.

    A range may end before it starts: see :func:`mindtorch_v2.schema.lexer.tokenize`.
    """
    size = len(text)
    if end - start == size:
        return text
    range_end = min(size, end)
    if start > size:
        return ""
    begin_context = _lines_before(text, text.rfind("\n", 0, start) + 1)
    end_context = _lines_after(text, _end_of_line(text, range_end))
    out = [text[begin_context:start]]
    line_start = line_end = start
    while line_start < range_end:
        line_end = _end_of_line(text, line_end)
        line = text[line_start : line_end + 1]
        out.append(line if line.endswith("\n") else line + "\n")
        out.append(_tildes(text, start, range_end, line_start, line_end))
        line_end += 1
        line_start = line_end
    if line_end <= size:
        rest = text[line_end:end_context] if end_context >= line_end else text[line_end:]
        out.append(rest if not rest or rest.endswith("\n") else rest + "\n")
    return "".join(out)


def _tildes(text: str, start: int, range_end: int, line_start: int, line_end: int) -> str:
    """The line that marks what of one line is in the range."""
    begin = text.rfind("\n", 0, line_start) + 1
    found = text.find("\n", line_start, range_end)
    end = range_end if found < 0 else found
    empty = 0
    while begin + empty < end and (text[begin + empty] == " " or begin + empty < start):
        empty += 1
    marked = end - begin - empty
    if marked <= 0:
        return ""
    # C++ looks one character past the range, at the end of the text at its closing NUL.
    following = text[line_end : range_end + 1] + ("\0" if range_end == len(text) else "")
    more_lines = any(character not in "\n " for character in following)
    mark = "\n" if more_lines and line_end != range_end else " <--- HERE\n"
    return " " * empty + "~" * marked + mark


def _end_of_line(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found


def _lines_before(text: str, position: int) -> int:
    lines = 0
    while position > 0:
        lines += text[position - 1] == "\n"
        if lines >= CONTEXT:
            break
        position -= 1
    return position


def _lines_after(text: str, position: int) -> int:
    lines = 0
    while position < len(text):
        lines += text[position] == "\n"
        if lines >= CONTEXT:
            break
        position += 1
    return position


def error_report(message: str, text: str, start: int, end: int) -> RuntimeError:
    """What ``throw ErrorReport(range) << message`` becomes."""
    return RuntimeError(f"\n{message}:\n{highlight(text, start, end)}")
