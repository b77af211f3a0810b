"""The syntax of cases: Python's, less what a person would misread.

Whatever Python's tokenizer, parser or compiler complains of becomes a :class:`CaseRefused` that
says where.
"""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

#: Characters of a text, and levels of its syntax tree.  Python's parser recurses in C before
#: there is a tree: no text of this length overflowed 1 MB of stack (Python 3.10 to 3.13).
MAX_LENGTH: Final = 20_000
MAX_DEPTH: Final = 60

FILENAME: Final = "<case>"


class CaseRefused(ValueError):  # noqa: N818 (it says what happened to the case)
    """A text is no case.  Says which node, where (both counted from 1), and why."""

    def __init__(self, reason: str, node: str, line: int, column: int) -> None:
        super().__init__(reason, node, line, column)
        self.reason = reason
        self.node = node
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


def syntax_tree(text: str) -> ast.Module:
    if len(text) > MAX_LENGTH:
        raise CaseRefused(f"the text is longer than {MAX_LENGTH:,} characters", "Text", 1, 1)
    if not text.isascii():
        _refuse_other_letters(text)
    tree = _compile_or_refuse(text, text, "exec", ast.PyCF_ONLY_AST)
    if not tree.body:
        raise CaseRefused("the text has no statement", "Module", 1, 1)
    return tree  # type: ignore[no-any-return]


def compile_tree(text: str, tree: ast.Module | ast.Expression) -> CodeType:
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    return _compile_or_refuse(text, tree, mode)  # type: ignore[no-any-return]


def _compile_or_refuse(text: str, source: Any, mode: str, flags: int = 0) -> Any:
    """``compile``, whose every complaint becomes a `CaseRefused`, and whose warnings count not."""
    try:
        return compile(source, FILENAME, mode, flags, dont_inherit=True, optimize=0)
    except SyntaxError:
        return _compile_without_warnings(source, mode, flags)
    except (MemoryError, RecursionError):
        raise CaseRefused("nested too deep for Python's parser", "Text", 1, 1) from None
    except ValueError as error:  # null bytes; surrogates are refused earlier
        line, column = _position(text, max(text.find("\0"), 0))
        raise CaseRefused(f"syntax error: {error}", "Text", line, column) from None


def _compile_without_warnings(source: Any, mode: str, flags: int) -> Any:
    """Compile once more: where a process makes errors of warnings, it may have been one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, FILENAME, mode, flags, dont_inherit=True, optimize=0)
    except SyntaxError as error:
        line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        raise CaseRefused(f"syntax error: {error.msg}", "SyntaxError", line, column) from None


def _refuse_other_letters(text: str) -> None:
    """Refuse letters beyond ASCII outside of strings and comments.

    Python reads ``ｏｓ`` as ``os``.  The tree has the name it reads, so the check would see through
    it; a person would not.
    """
    for index, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise CaseRefused("the text holds half a character", "Text", *_position(text, index))
    for token in _tokens(text):
        if not token.string.isascii() and token.type not in (tokenize.STRING, tokenize.COMMENT):
            line, column = token.start
            reason = f"{token.string!r} is not in ASCII letters"
            raise CaseRefused(reason, "Name", line, column + 1)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text, up to the first that is none: Python's own parser says it better."""
    # of a line that CPython 3.12's tokenizer cuts through a character, a UnicodeDecodeError
    with contextlib.suppress(tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        yield from tokenize.generate_tokens(io.StringIO(text).readline)


def _position(text: str, index: int) -> tuple[int, int]:
    """Line and column of a character, both from 1."""
    before = text[:index]
    return before.count("\n") + 1, index - before.rfind("\n")
