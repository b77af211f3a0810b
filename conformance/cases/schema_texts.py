"""Pieces of schemas, and ways to spoil a schema: what the areas of schemas are made from.

What is left out on purpose: alias sets of three names or more, whose order in C++ depends on what
the process has seen before; and lengths that would make torch build a list of gigabytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

C: Final = "xp._C"

# fmt: off (the pools are read as lists of words)
BASE_TYPES: Final = (
    "Tensor",
    "Generator",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Storage",
    "QScheme",
    "Quantizer",
    "ConstQuantizerPtr",
    "Device",
    "DeviceIndex",
    "Stream",
    "Scalar",
    "str",
    "float",
    "complex",
    "int",
    "SymInt",
    "SymBool",
    "bool",
    "None",
    "NoneType",
    "Capsule",
    "Any",
    "AnyClassType",
    "AnyEnumType",
    "Dimname",
    "t",
)
COMPOUND_TYPES: Final = (
    "(int, Tensor)",
    "(Tensor, Tensor?)",
    "()",
    "((int, str), t[])",
    "Future(int)",
    "Future(t)",
    "Await(Tensor)",
    "RRef(t)",
    "Dict(str, int)",
    "Dict(int, t)",
    "Dict(Tensor, Tensor[])",
    "Union(int, str)",
    "Union(int, float, complex)",
    "Union(int, float)",
    "Union(Tensor, None)",
    "Union(Tensor[], int[], None)",
    "__torch__.torch.classes.rnn.CellParamsBase",
)
TYPES: Final = (*BASE_TYPES, *COMPOUND_TYPES)
SUFFIXES: Final = ("", "?", "[]", "[3]", "[]?", "?[]", "[2]?", "[][]", "??", "[][2]")
ALIASES: Final = (
    "(a)",
    "(a!)",
    "(*)",
    "(*!)",
    "(a|b)",
    "(a|b!)",
    "(a -> b)",
    "(a! -> b)",
    "(a -> *)",
    "(* -> a)",
    "(a! -> a|b)",
    "(a|b -> c|d)",
    "(a|*)",
    "(*|a)",
    "(*|*)",
    "(a|a)",
    "!",
    "()",
    "(!)",
    "(a",
    "(a|)",
    "(|a)",
    "(a -> )",
    "(-> a)",
    "(a b)",
    "(a!!)",
    "(a,b)",
    "(1)",
    "!!",
    "(a)(b)",
)
DEFAULTS: Final = (
    "1",
    "0",
    "-1",
    "--1",
    "-x",
    "+1",
    "007",
    "1.5",
    ".5",
    "5.",
    "-0.0",
    "1e3",
    "1E3",
    "1e-3",
    "1e20",
    "1e308",
    "1e309",
    "1e-320",
    "0x10",
    "0xfp2",
    "1j",
    "2.5j",
    "12j",
    "1_000",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "0.1",
    "0.3333333333333333",
    "1e22",
    "123456789012345678",
    "1.",
    "True",
    "False",
    "None",
    "true",
    "none",
    "long",
    "float",
    "complex",
    "strided",
    "Mean",
    "contiguous_format",
    "int",
    "float32",
    "bfloat16",
    "half",
    "bool",
    "sum",
    "x",
    "inf",
    "nan",
    "[]",
    "[1]",
    "[1,2]",
    "[1,1]",
    "[1.5,2]",
    "[True]",
    "[True,False]",
    "[None]",
    "['a']",
    "[1j]",
    "[12j]",
    "[[1]]",
    "[1,]",
    "[,1]",
    "[1",
    "'a'",
    '"b"',
    "''",
    '""',
    "'''t'''",
    "'''",
    "'cpu'",
    "'cuda:1'",
    "'cpu:300'",
    "'foo'",
    "'CPU'",
    "1a",
    "a1",
    "...",
    "*",
    "=1",
)
STRINGS: Final = (
    r"'it\'s'",
    r'"say \"x\""',
    r"'\\'",
    r"'\n\t\a\b\f\v'",
    r"'\r'",
    r"'\x41'",
    r"'\u0041'",
    r"'\101\060'",
    r"'\377'",
    r"'\400'",
    r"'\12'",
    r"'\1'",
    r"'\9'",
    r"'\q'",
    r"'\'",
    r"'a' 'b'",
    "'é'",
    "'→ 日本 🙂'",
    "'''a\nb'''",
    "'a\nb'",
    "'a\\\nb'",
    "'\x01\x7f'",
    "'a\x00b'",
    '"""a"b"""',
    "''''''",
    "''a''",
)
NAMES: Final = (
    "f",
    "f.x",
    "aten::f",
    "aten::f.x",
    "a::b.c_d1",
    "a::b::c",
    "a:b",
    "::",
    "::f",
    "f::",
    "f.",
    ".x",
    "f.default",
    "f.__x",
    "f._x",
    "f.x.y",
    "f.1",
    "1f",
    "f1",
    "_",
    "__f__",
    "def",
    "f.def",
    "is",
    "f-g",
    "f::1",
    "None",
    "True",
    "f.None",
    "prim::x.y",
    "ns::default",
    "é",
    "f.é",
    "f$",
    "$f",
    "a::é",
    "a.b::c",
    "default.f",
)
TOKENS: Final = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "::",
    ".",
    "...",
    "*",
    "?",
    "!",
    "|",
    "&",
    "^",
    "~",
    "@",
    "%",
    "/",
    "//",
    "**",
    "+",
    "-",
    "->",
    "=>",
    "<",
    ">",
    "<=",
    ">=",
    "==",
    "!=",
    "=",
    "<=>",
    "+=",
    ">>=",
    "<<",
    "#",
    "$",
    ";",
    "`",
    "\\",
    "'",
    '"',
    "0",
    "1",
    "3.5",
    ".5",
    "1e9",
    "0x1F",
    "2j",
    "a",
    "b",
    "x",
    "self",
    "Tensor",
    "int",
    "str",
    "t",
    "float",
    "Scalar",
    "SymInt",
    "Dict",
    "Future",
    "Union",
    "Await",
    "RRef",
    "None",
    "NoneType",
    "True",
    "False",
    "__torch__",
    "torch",
    "classes",
    "def",
    "if",
    "else",
    "is",
    "not",
    "in",
    "is-not",
    "and",
    "or",
    "for",
    "while",
    "return",
    "lambda",
    "del",
    "pass",
    "class",
    "import",
    "with",
    "as",
    "Ellipsis",
    "raise",
    "assert",
    "global",
    "break",
    "continue",
    "\n",
    "\t",
    "\r",
    "é",
    "日",
    "\x00",
    "\x7f",
    "Foo",
    "double",
    "int64_t",
    "type:",
    "default",
    "__x",
)

# fmt: on

#: The tokens of a schema, roughly: what mutations take as one piece.
_PIECES: Final = re.compile(r"->|::|\.\.\.|\w+|\s+|.", re.DOTALL)
_UNORDERED: Final = re.compile(r"\|[^|()]*\|")
_LONG: Final = re.compile(r"\[\s*[0-9a-fA-FxX.]*[0-9]{4,}")


def settled(text: str) -> bool:
    """Whether torch answers alike in every process, and soon."""
    return not _UNORDERED.search(text) and not _LONG.search(text)


def parse(text: str) -> str:
    """The call that parses ``text``, as text."""
    return f"{C}.parse_schema({literal(text)})"


def literal(text: str) -> str:
    return repr(text)


def pieces(text: str) -> list[str]:
    return _PIECES.findall(text)


def sample(schemas: Sequence[str], count: int, seed: str) -> list[str]:
    """So many of the schemas, the same ones every time."""
    return random.Random(seed).sample(list(schemas), min(count, len(schemas)))


def truncations(text: str) -> Iterator[str]:
    for end in range(len(text)):
        yield text[:end]


def spoil(text: str, chance: random.Random) -> str:
    """``text`` with one thing wrong, or with one thing else."""
    parts = pieces(text)
    at = chance.randrange(len(parts))
    kind = chance.choice(("delete", "double", "swap", "replace", "insert", "cut", "letter"))
    if kind == "delete":
        del parts[at]
    elif kind == "double":
        parts.insert(at, parts[at])
    elif kind == "swap":
        other = chance.randrange(len(parts))
        parts[at], parts[other] = parts[other], parts[at]
    elif kind == "replace":
        parts[at] = chance.choice(TOKENS)
    elif kind == "insert":
        parts.insert(at, chance.choice(TOKENS))
    elif kind == "cut":
        del parts[at : at + chance.randrange(1, 6)]
    else:
        place = chance.randrange(len(text))
        return text[:place] + chance.choice("()[]|!?*.,=-'\"\\#\n 09aZ_") + text[place + 1 :]
    return "".join(parts)
