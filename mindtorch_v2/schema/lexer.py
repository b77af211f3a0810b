"""Tokens of the schema language, which are those of TorchScript.

Mirrors ``torch/csrc/jit/frontend/lexer.h``.  C++ lexes one token ahead of its parser, so a text
that does not lex may be refused for another reason first: here a bad token ends the list of
tokens and is raised when the parser comes to it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from mindtorch_v2.schema.source_range import highlight

EOF: Final = "eof"
IDENT: Final = "ident"
NUMBER: Final = "number"
STRING: Final = "string_literal"
NEWLINE: Final = "newline"
ERROR: Final = "error"

_AGAIN: Final = "again"
"""Not a kind: a token stands here that the fast path takes."""
_NO_TOKENS: Final = frozenset(("whitespace", "whitespace_eof", _AGAIN))

_KEYWORDS: Final = {
    word: word
    for word in [
        "def",
        "if",
        "else",
        "elif",
        "while",
        "return",
        "is",
        "True",
        "False",
        "None",
        "and",
        "or",
        "not",
        "global",
        "for",
        "in",
        "raise",
        "assert",
        "break",
        "continue",
        "del",
        "pass",
        "class",
        "import",
        "with",
        "as",
        "Ellipsis",
        "NoneType",
    ]
} | {"is not": "is not", "not in": "not in"}

_NAMED: Final = {
    "<=>": "equivalent",
    "!=": "ne",
    "==": "eq",
    "<=": "le",
    ">=": "ge",
    "//": "floordiv",
    "**": "pow operator",
    "->": "arrow",
    "...": "dots",
    "# type:": "type comment",
}
_PLAIN: Final = [
    "<<",
    ">>",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "|=",
    "&=",
    "^=",
    "<<=",
    ">>=",
    "**=",
    *"+-*/%@()[]:,={}><.?!&^|~",
]
_OPERATORS: Final = _NAMED | {sign: sign for sign in _PLAIN}
_FIXED: Final = _KEYWORDS | _OPERATORS
_QUOTES: Final = frozenset("'\"")
_NESTING: Final = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)

_HEX: Final = r"0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
_DECIMAL: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BLANKS: Final = re.compile(r"[ \t\v\f\r]*")


@cache
def _token() -> re.Pattern[str]:
    """Any token but a string; compiled when there is a text."""
    signs = "|".join(re.escape(sign) for sign in sorted(_OPERATORS, key=len, reverse=True))
    number, word = rf"(?:{_HEX}|{_DECIMAL})j?", "is not|not in|[A-Za-z_][A-Za-z0-9_]*"
    return re.compile(rf"[ \t\v\f\r]*(?:({number})|({word}|{signs}))")


@cache
def _string(opening: str) -> re.Pattern[str]:
    """A string between one quote or three; between one it ends with its line."""
    plain = rf"(?!{opening})[^\\]" if len(opening) > 1 else rf"[^{opening}\n\\]"
    return re.compile(rf"{opening}(?:\\.|{plain})*{opening}", re.DOTALL)


class Tokens:
    """Kinds as messages name them, and where each token starts and ends.

    The last is ``eof``, or ``error`` with the exception in ``error``.
    """

    __slots__ = ("ends", "error", "kinds", "starts")

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.error: RuntimeError | None = None


def expected(what: str, found: str, text: str, start: int, end: int) -> RuntimeError:
    excerpt = highlight(text, start, end)
    return RuntimeError(f"expected {what} but found '{found}' here:\n{excerpt}")


def tokenize(text: str, *, ends_at_zero: bool) -> Tokens:
    """The tokens of ``text``.

    ``ends_at_zero``: in some releases an iterator that was moved to the end of the text says it
    is at 0.  It is moved so by numbers and strings: one that ends the text ends at 0, and the
    ``eof`` after it is at 0.
    """
    return _Lexer(text, ends_at_zero).run()


class _Lexer:
    __slots__ = ("counted", "ends_at_zero", "indents", "nesting", "text", "tokens")

    def __init__(self, text: str, ends_at_zero: bool) -> None:
        self.text = text
        self.ends_at_zero = ends_at_zero
        self.nesting = self.counted = 0
        self.indents: list[int] = []
        self.tokens = Tokens()

    def run(self) -> Tokens:
        tokens = self.tokens
        kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
        match, named, text = _token().match, _FIXED.get, self.text
        try:
            _, start, position = self.slow(0, whitespace=True)
            self.indents.append(position - start)
            while True:
                found = match(text, position)
                if found is None:
                    kind, start, position = self.slow(position)
                    if kind in _NO_TOKENS:
                        self.indent(kind, start, position)
                        continue
                else:
                    group = found.lastindex
                    start, position = found.span(group)  # type: ignore[arg-type]
                    kind = NUMBER if group == 1 else named(found[2], IDENT)
                kinds.append(kind)
                starts.append(start)
                ends.append(position)
                if kind == EOF:
                    break
        except RuntimeError as error:
            tokens.error = error
            kinds.append(ERROR)
            starts.append(0)
            ends.append(0)
        self.mind_the_end()
        return tokens

    def mind_the_end(self) -> None:
        tokens = self.tokens
        if self.ends_at_zero and len(tokens.kinds) > 1 and tokens.kinds[-1] == EOF:
            last_kind, last_end = tokens.kinds[-2], tokens.ends[-2]
            if last_kind in (NUMBER, STRING) and last_end == len(self.text):
                tokens.ends[-2] = tokens.starts[-1] = tokens.ends[-1] = 0

    def slow(self, position: int, *, whitespace: bool = False) -> tuple[str, int, int]:
        """``SharedParserData::match``, where blanks, comments, lines, strings or errors stand."""
        text, before = self.text, position
        size = len(text)
        while True:
            start = position
            position = _BLANKS.match(text, position).end()  # type: ignore[union-attr]
            here = text[position : position + 1]
            if here == "#" and not text.startswith("# type:", position):
                found = text.find("\n", position)
                position = size if found < 0 else found
            elif here == "\\" and text[position + 1 : position + 2] == "\n" and not whitespace:
                position += 2
            elif here == "\n":
                position += 1
                whitespace = not self.is_nested()
            else:
                break
        if whitespace:
            return "whitespace" if here else "whitespace_eof", start, position
        if not here:
            return EOF, position, position
        return self.token(before, position)

    def is_nested(self) -> bool:
        """Whether a bracket is open; they are counted where a line ends, which few texts have."""
        kinds = self.tokens.kinds
        self.nesting += sum(_NESTING.get(kind, 0) for kind in kinds[self.counted :])
        self.counted = len(kinds)
        return self.nesting != 0

    def token(self, before: int, position: int) -> tuple[str, int, int]:
        """The token at ``position``; ``before`` is where the one before it ended."""
        text = self.text
        if _token().match(text, position) is not None:
            return _AGAIN, position, position
        quote = text[position]
        opening = quote * 3 if text.startswith(quote * 3, position) else quote
        string = _string(opening).match(text, position) if quote in _QUOTES else None
        if string is None:
            raise expected("a valid token", text[before], text, position, position + 1)
        return STRING, position, string.end()

    def indent(self, kind: str, start: int, end: int) -> None:
        """Queue what a new line at nesting 0 means."""
        if kind == _AGAIN:
            return
        tokens, indents = self.tokens, self.indents
        depth = indents[0] if kind == "whitespace_eof" else end - start
        made = [NEWLINE]
        if depth > indents[-1]:
            indents.append(depth)
            made = ["indent"]
        while depth != indents[-1]:
            indents.pop()
            made.append("dedent")
            if not indents:
                excerpt = highlight(self.text, start, end)
                raise RuntimeError(f"invalid indent level {depth}:\n{excerpt}")
        tokens.kinds += made
        tokens.starts += [start] * len(made)
        tokens.ends += [end] * len(made)
