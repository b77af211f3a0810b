"""The grammar of cases: what Python a case may be, and what it may name.

Cases travel: in recordings, ledgers, example databases and report links.  So a text is parsed
and checked before anything of it runs, and what is refused names the node and the column::

    >>> parse("xp.os", vocabulary)
    CaseRefused: line 1, column 4: attribute 'os' is not on the list of names a case may reach

**Why this holds.**  Python reaches a thing by a name in the text, by a name in a string, or by
being handed it.

1. *Names in the text.*  Each node of the syntax tree is of a kind listed here.  A free name is
   ``xp``, a listed builtin, a helper of the harness, or bound by the case itself.  An attribute
   name is on the list of the vocabulary, on whatever object it stands: aliases, containers and
   lambdas do not hide one.  Names with two leading underscores are all but a few refused, which
   takes with it classes, globals, code, subclasses and pickling.  A class may define listed names
   only, so it answers to no protocol (``__array_interface__``, ``_pybind11_conduit_v1_``,
   ``__reduce__``).  Annotations are refused: some functions evaluate those that are strings, so a
   case has them from a list of the harness (:mod:`conformance.annotated`).
2. *Names in strings.*  ``getattr``, ``setattr``, ``vars``, ``dir``, ``format`` and
   ``operator.attrgetter`` are not nameable, nor are ``str.format`` and f-strings; ``%`` looks up
   no attribute.  Of what is listed, some look up operators by a string, and ``type`` of a storage
   imports a module: these may only be called on the spot, with literals that are checked
   (`vocabulary.LITERAL_CALLS`).
3. *What one is handed.*  ``type(x)``, ``x.__init__`` and ``super(X, x)`` would hand out, or run
   again, the constructors of torch's internal classes, one of which looks up operators by
   string.  So ``type(x)`` (and the attribute ``type``, where it is not called) is only looked at
   on the spot: compared, printed, its ``__name__`` read, or returned as the case's value;
   ``__init__`` and ``__new__`` are said of ``super()`` alone; and a base is a class, for Python
   calls the type of a base that is none.  A traceback or a frame that an ``__exit__`` or a
   generator is handed has no attribute on the list.

With that the static list is the whole defence, and the globals of `namespace` are no second one:
they hold the listed builtins only so that a case cannot see a name by accident.

**What this does not promise.**  Torch's kernels do not check everything they are given
(``x._indices()[0, 0] = 10**9`` on a sparse tensor, then ``x.to_dense()``), so a hostile case can
corrupt the memory of its worker with public names alone.  Nor are loops, sizes and powers
bounded.  Both are the worker's business: its process, deadline and limits.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from conformance.admission import Check
from conformance.names import DECORATORS
from conformance.syntax import (
    FILENAME,
    MAX_DEPTH,
    MAX_LENGTH,
    CaseRefused,
    compile_tree,
    syntax_tree,
)
from conformance.vocabulary import ROOT, Vocabulary

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "CaseRefused", "ParsedCase", "compiled", "namespace", "parse"]


@dataclass(frozen=True, slots=True)
class ParsedCase:
    """A text that has been checked, compiled."""

    text: str
    #: All statements, in one piece or two, less the last one where that is an expression.
    statements: tuple[CodeType, ...]
    #: The last statement, where it is an expression: its value is the case's.
    expression: CodeType | None

    def run(self, globals: dict[str, Any]) -> Any:
        """Run in ``globals`` (see `namespace`) and answer the case's value, None without one."""
        for statements in self.statements:
            exec(statements, globals)
        return None if self.expression is None else eval(self.expression, globals)


def parse(text: str, vocabulary: Vocabulary) -> ParsedCase:
    """Check ``text`` and compile it; `CaseRefused` if it is no case.

    Cases come with others that begin with the same statements, which are checked once.
    """
    beginning = _beginnings.of(text) if len(text) <= MAX_LENGTH else ""
    if beginning:
        with suppress(CaseRefused):  # as a whole it may be one, and may have another word for it
            return _continued(text, beginning, vocabulary)
    tree = syntax_tree(text)
    Check(text, vocabulary).case(tree)
    return _compiled_tree(text, tree)


def _continued(text: str, beginning: str, vocabulary: Vocabulary) -> ParsedCase:
    """The same of a text of which the first lines are statements that have been checked.

    If these are a module by themselves, and the others too, then both are one after the other: what
    is open at the end of a line, a string, a bracket or a block, is no module, and neither is what
    goes on with it.
    """
    check, statements = _begun(beginning, vocabulary)
    tree = syntax_tree("\n" * beginning.count("\n") + text[len(beginning) :])
    check.continued(text).case(tree)
    rest = _compiled_tree(text, tree)
    return ParsedCase(text, (statements, *rest.statements), rest.expression)


@lru_cache(maxsize=16)
def _begun(text: str, vocabulary: Vocabulary) -> tuple[Check, CodeType]:
    tree, check = syntax_tree(text), Check(text, vocabulary)
    check.beginning(tree)
    return check, compile_tree(text, tree)


class _Beginnings:
    """Remembers how the text before began."""

    least: Final = 200
    """Characters: to take a shorter text apart is not worth it."""

    def __init__(self) -> None:
        self._text = self._beginning = ""

    def of(self, text: str) -> str:
        """The lines that a text has in common with those before; empty if it is hardly any."""
        common = _common_lines(self._text, text)
        is_longer = len(common) > 2 * len(self._beginning)
        if is_longer or not text.startswith(self._beginning):
            self._beginning = common if len(common) >= self.least else ""
        self._text = text
        return self._beginning


def _common_lines(one: str, other: str) -> str:
    """The lines with which both begin, up to one that is within no block."""
    same, different = 0, min(len(one), len(other)) + 1
    while different - same > 1:
        middle = (same + different) // 2
        if one.startswith(other[:middle]):
            same = middle
        else:
            different = middle
    end = other.rfind("\n", 0, same) + 1
    while end and other[end : end + 1].isspace():
        end = other.rfind("\n", 0, end - 1) + 1
    return other[:end]


_beginnings: Final = _Beginnings()


def compiled(text: str) -> ParsedCase:
    """The same of a text that was let in before, which is not checked again.

    A last line that is an expression, behind lines that are whole without it, is the last
    statement.  So most texts need no tree, and those with the same beginning are compiled in part.
    """
    beginning, newline, last = text.rpartition("\n")
    if not last[:1].isspace():
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            expression = _compiled("\n" * beginning.count("\n") + newline + last, "eval")
            return ParsedCase(text, (_beginning(beginning),) if newline else (), expression)
    return _compiled_tree(text, syntax_tree(text))


@lru_cache(maxsize=256)
def _beginning(text: str) -> CodeType:
    return _compiled(text, "exec")


def _compiled(text: str, mode: str) -> CodeType:
    code: CodeType = compile(text, FILENAME, mode, 0, dont_inherit=True, optimize=0)
    return code


def _compiled_tree(text: str, tree: ast.Module) -> ParsedCase:
    *statements, last = tree.body
    if not isinstance(last, ast.Expr):
        return ParsedCase(text, (compile_tree(text, tree),), None)
    expression = compile_tree(text, ast.Expression(last.value))
    if not statements:
        return ParsedCase(text, (), expression)
    return ParsedCase(text, (compile_tree(text, ast.Module(statements, [])),), expression)


def namespace(xp: Any, vocabulary: Vocabulary, helpers: Mapping[str, Any]) -> dict[str, Any]:
    """The globals a case runs in: ``xp``, the helpers, and no builtin but those listed."""
    unknown = helpers.keys() - vocabulary.helpers
    if unknown:
        raise ValueError(f"helpers the vocabulary does not have: {', '.join(sorted(unknown))}")
    builtins = _builtins(vocabulary.builtins).copy()
    return {"__builtins__": builtins, "__name__": "case", ROOT: xp, **helpers}


@lru_cache(maxsize=16)
def _builtins(names: frozenset[str]) -> dict[str, Any]:
    return {name: _BUILTINS[name] for name in names} | _UNSPOKEN


_BUILTINS: Final[Mapping[str, Any]] = vars(__import__("builtins"))

#: What no text can name, but class statements need, and C++ that imports a module of its own:
#: ``PyImport_Import`` takes ``__import__`` from the globals of whoever called.
_UNSPOKEN: Final = {
    name: _BUILTINS[name] for name in ("__build_class__", "__import__", *sorted(DECORATORS))
}
