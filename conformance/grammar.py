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
import contextlib
import io
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from conformance.vocabulary import (
    DECORATORS,
    DEFINABLE,
    FREE_DEPTH,
    LITERAL_CALLS,
    ROOT,
    Vocabulary,
)

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "CaseRefused", "ParsedCase", "namespace", "parse"]

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


@dataclass(frozen=True, slots=True)
class ParsedCase:
    """A text that has been checked, compiled."""

    text: str
    #: All statements, less the last one where that is an expression.
    statements: CodeType | None
    #: The last statement, where it is an expression: its value is the case's.
    expression: CodeType | None

    def run(self, globals: dict[str, Any]) -> Any:
        """Run in ``globals`` (see `namespace`) and answer the case's value, None without one."""
        if self.statements is not None:
            exec(self.statements, globals)
        return None if self.expression is None else eval(self.expression, globals)


def parse(text: str, vocabulary: Vocabulary) -> ParsedCase:
    """Check ``text`` and compile it; `CaseRefused` if it is no case."""
    tree = _syntax_tree(text)
    _Check(text, vocabulary).case(tree)
    *statements, last = tree.body
    if not isinstance(last, ast.Expr):
        return ParsedCase(text, _compile(text, tree), None)
    expression = _compile(text, ast.Expression(last.value))
    if not statements:
        return ParsedCase(text, None, expression)
    return ParsedCase(text, _compile(text, ast.Module(statements, [])), expression)


def namespace(xp: Any, vocabulary: Vocabulary, helpers: Mapping[str, Any]) -> dict[str, Any]:
    """The globals a case runs in: ``xp``, the helpers, and no builtin but those listed."""
    unknown = helpers.keys() - vocabulary.helpers
    if unknown:
        raise ValueError(f"helpers the vocabulary does not have: {', '.join(sorted(unknown))}")
    builtins = {name: _BUILTINS[name] for name in vocabulary.builtins}
    return {"__builtins__": builtins | _UNSPOKEN, "__name__": "case", ROOT: xp, **helpers}


_BUILTINS: Final[Mapping[str, Any]] = vars(__import__("builtins"))

#: What no text can name, but class statements need, and C++ that imports a module of its own:
#: ``PyImport_Import`` takes ``__import__`` from the globals of whoever called.
_UNSPOKEN: Final = {
    name: _BUILTINS[name] for name in ("__build_class__", "__import__", *sorted(DECORATORS))
}


# Text to tree -----------------------------------------------------------------------------------


def _syntax_tree(text: str) -> ast.Module:
    if len(text) > MAX_LENGTH:
        raise CaseRefused(f"the text is longer than {MAX_LENGTH:,} characters", "Text", 1, 1)
    if not text.isascii():
        _refuse_other_letters(text)
    tree = _compile_or_refuse(text, text, "exec", ast.PyCF_ONLY_AST)
    if not tree.body:
        raise CaseRefused("the text has no statement", "Module", 1, 1)
    return tree  # type: ignore[no-any-return]


def _compile(text: str, tree: ast.Module | ast.Expression) -> CodeType:
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
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        yield from tokenize.generate_tokens(io.StringIO(text).readline)


def _position(text: str, index: int) -> tuple[int, int]:
    """Line and column of a character, both from 1."""
    before = text[:index]
    return before.count("\n") + 1, index - before.rfind("\n")


# The check --------------------------------------------------------------------------------------

#: What people write and a case may not, with more help than "is not part of a case".
_HINTS: Final = {
    "Import": "a case imports nothing: what it needs is in xp",
    "ImportFrom": "a case imports nothing: what it needs is in xp",
    "While": "'while' is not part of a case: use 'for' over a range",
    "JoinedStr": "f-strings are not part of a case: use '%'",
    "AnnAssign": "annotations are not part of a case",
    "Global": "'global' is not part of a case: use a list or a dict",
    "Nonlocal": "'nonlocal' is not part of a case: use a list or a dict",
    "Yield": "generator functions are not part of a case: use a generator expression",
    "YieldFrom": "generator functions are not part of a case: use a generator expression",
}

#: What of a class says which it is.
_SAYS_WHICH: Final = frozenset({"__name__", "__qualname__", "__module__"})

#: Builtins that show a value and hand it to nobody.
_PRINTS: Final = frozenset({"str", "repr"})

#: How a value of ``type(x)``, or the attribute ``type``, may be used.
_ON_THE_SPOT: Final = (
    "compared by 'is' or with a literal, in str() or repr(), as the case's value, "
    "or by its __name__"
)


class _Check:
    """One walk over one tree.  Methods named as in ``_CHECKS`` check a node and its children."""

    __slots__ = (
        "attributes",
        "bases",
        "bindings",
        "chains",
        "classes",
        "depth",
        "in_class",
        "known",
        "later",
        "loads",
        "text",
        "vocabulary",
    )

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.attributes = vocabulary.attributes
        self.known = vocabulary.known
        self.depth = 0
        #: Whether a name bound here becomes an attribute of a class.
        self.in_class = False
        #: Free names to find among the bound ones when all are seen.
        self.loads: list[ast.Name] = []
        #: Names the case binds, and how often.
        self.bindings: dict[str, int] = {}
        #: Names bound by ``name = a.b.c``.
        self.chains: dict[str, ast.expr] = {}
        #: Names of base classes, and of what class statements bind: see `base_class`.
        self.bases: list[ast.Name] = []
        self.classes: set[str] = set()
        #: Attributes not on the list, of names that may turn out to be ``xp.ops…``.
        self.later: list[ast.Attribute] = []

    def case(self, tree: ast.Module) -> None:
        *statements, last = tree.body
        for statement in statements:
            self.visit(statement)
        if isinstance(last, ast.Expr):
            self.look(last.value)
        else:
            self.visit(last)
        for node in self.loads:
            if node.id not in self.bindings:
                self.refuse(node, f"name {node.id!r} is not bound by the case, and no builtin")
        for attribute in self.later:
            self.free_attribute(attribute, self.resolve(attribute))
        for base in self.bases:
            self.base_class(base)

    def refuse(self, node: ast.AST, reason: str) -> None:
        """Raise `CaseRefused` at ``node``, or at its attribute name."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            line, offset = node.end_lineno, node.end_col_offset - len(node.attr)
        # The tree counts bytes of UTF-8.
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        column = len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1
        raise CaseRefused(reason, type(node).__name__, line, column)

    def visit(self, node: ast.AST) -> None:
        check = _CHECKS.get(type(node))
        if check is None:
            name = type(node).__name__
            self.refuse(node, _HINTS.get(name, f"{name} is not part of a case"))
        else:
            self.enter(node)
            check(self, node)
            self.depth -= 1

    def enter(self, node: ast.AST) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(node, f"nested deeper than {MAX_DEPTH} levels")

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # Names

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bind(node, node.id)
        elif node.id == "type" or node.id == "super":
            self.refuse(node, f"{node.id!r} may only be called, with its arguments in place")
        elif node.id not in self.known:
            self.loads.append(node)

    def bind(self, node: ast.AST, name: str) -> None:
        if self.in_class:
            if name not in self.attributes or (name.startswith("__") and name not in DEFINABLE):
                self.refuse(node, f"name {name!r} is not on the list of what a class may define")
        elif name.startswith("__"):
            self.refuse(node, f"name {name!r} is Python's own")
        if name in self.vocabulary.reserved:
            self.refuse(node, f"name {name!r} keeps its meaning: a case may not bind it")
        self.bindings[name] = self.bindings.get(name, 0) + 1

    # Attributes

    def attribute(self, node: ast.Attribute) -> None:
        if node.attr in LITERAL_CALLS:
            self.visit(node.value)
            use = f", or be {_ON_THE_SPOT}" if node.attr == "type" else ""
            self.refuse(node, f"{node.attr!r} may only be called on the spot, with literals{use}")
        self.plain_attribute(node)

    def plain_attribute(self, node: ast.Attribute) -> None:
        """An attribute, where `LITERAL_CALLS` has been seen to."""
        name = node.attr
        if name in _SAYS_WHICH and _is_call_of(node.value, "type"):
            self.look(node.value)
        else:
            self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            self.target_attribute(node)
        elif name not in self.attributes:
            self.unlisted_attribute(node)
        elif (name == "__init__" or name == "__new__") and not _is_call_of(node.value, "super"):
            self.refuse(node, f"{name!r} may only be said of super()")

    def target_attribute(self, node: ast.Attribute) -> None:
        """An attribute that is set or deleted."""
        if node.attr not in self.vocabulary.settable:
            self.refuse(node, f"attribute {node.attr!r} is not on the list of what a case may set")
        if _path(node) is not None and _path(node)[0] == ROOT:  # type: ignore[index]
            self.refuse(node, f"what {ROOT} itself holds is not for a case to set")

    def unlisted_attribute(self, node: ast.Attribute) -> None:
        if self.vocabulary.is_free(node.attr):
            return
        path = _path(node)
        if path is not None and path[0] != ROOT and path[0] not in self.known:
            self.later.append(node)
        else:
            self.free_attribute(node, path)

    def free_attribute(self, node: ast.Attribute, path: tuple[str, ...] | None) -> None:
        """An attribute not on the list: refused but after a free root."""
        reason: str | None = f"attribute {node.attr!r} is not on the list of names a case may reach"
        after_root = path is not None and path[0] == ROOT and path[1] in self.vocabulary.free_roots
        if path is not None and after_root and len(path) <= 2 + FREE_DEPTH:
            found = self.vocabulary.free_refusal(path[1:])
            reason = found and f"attribute {node.attr!r} is refused: {found}"
        if reason is not None:
            self.refuse(node, reason)

    def resolve(self, node: ast.expr) -> tuple[str, ...] | None:
        """The path of ``a.b.c`` from xp, where ``a`` is bound once, and to such a path."""
        path = _path(node)
        for _ in range(MAX_DEPTH):
            if path is None or path[0] == ROOT or self.bindings.get(path[0]) != 1:
                return path
            value = self.chains.get(path[0])
            start = None if value is None else _path(value)
            path = None if start is None else start + path[1:]
        return None

    # Calls

    def call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Name):
            if func.id == "type":
                self.refuse(node, f"the value of type() may only be {_ON_THE_SPOT}")
            elif func.id == "super":
                if node.args or node.keywords:
                    self.refuse(node, "super() takes no arguments in a case")
                return
            elif func.id in _PRINTS and len(node.args) == 1 and not node.keywords:
                self.look(node.args[0])
                return
            self.visit(func)
        elif isinstance(func, ast.Attribute) and func.attr in LITERAL_CALLS:
            self.literal_call(node, func)
        else:
            self.visit(func)
        self.visit_all(node.args)
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg.startswith("__"):
                self.refuse(keyword, f"keyword {keyword.arg!r} is Python's own")
            self.visit(keyword.value)

    def literal_call(self, node: ast.Call, func: ast.Attribute) -> None:
        """A call whose strings decide what runs: they stand here, and are checked."""
        self.plain_attribute(func)
        says_no = LITERAL_CALLS[func.attr]
        named = [keyword.value for keyword in node.keywords if keyword.arg is not None]
        for argument in (*node.args, *named):
            if isinstance(argument, ast.Constant):
                reason = says_no(argument.value) if isinstance(argument.value, str) else None
                if reason is not None:
                    self.refuse(argument, reason)
            elif not self.is_fixed(argument):
                self.refuse(argument, f"{func.attr!r} takes literals and what is in {ROOT}")
        if len(named) < len(node.keywords):
            self.refuse(node.keywords[-1], f"{func.attr!r} takes no '**'")

    def is_fixed(self, node: ast.expr) -> bool:
        """Whether ``node`` is ``xp.a.b`` with nothing in it that a case may have set."""
        path = _path(node)
        if path is None or path[0] != ROOT:
            return False
        return not any(name in self.vocabulary.settable or name[:2] == "__" for name in path)

    def look(self, node: ast.expr) -> None:
        """Visit ``node`` where its value is only looked at, so that it may be a class."""
        if isinstance(node, ast.Attribute) and node.attr == "type":
            self.plain_attribute(node)
        elif _is_call_of(node, "type"):
            assert isinstance(node, ast.Call)
            if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
                self.refuse(node, "type() takes exactly one argument in a case")
            self.visit(node.args[0])
        elif isinstance(node, (ast.Tuple, ast.List)):
            self.enter(node)
            for item in node.elts:
                self.look(item)
            self.depth -= 1
        else:
            self.visit(node)

    def compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        by_identity = all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        if by_identity or sum(not isinstance(item, ast.Constant) for item in operands) == 1:
            for item in operands:
                self.look(item)
        else:
            self.visit_all(operands)

    # Displays, comprehensions, and other expressions

    def dict(self, node: ast.Dict) -> None:
        self.visit_all(node.keys)
        self.visit_all(node.values)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self.generators(node.generators)
        self.visit(node.elt)

    def dict_comprehension(self, node: ast.DictComp) -> None:
        self.generators(node.generators)
        self.visit(node.key)
        self.visit(node.value)

    def generators(self, generators: list[ast.comprehension]) -> None:
        for generator in generators:
            if generator.is_async:
                self.refuse(generator.target, "'async' is not part of a case")
            self.visit(generator.target)
            self.visit(generator.iter)
            self.visit_all(generator.ifs)

    def lambda_(self, node: ast.Lambda) -> None:
        self.defaults(node.args)
        outside, self.in_class = self.in_class, False
        self.parameters(node.args)
        self.visit(node.body)
        self.in_class = outside

    # Statements

    def assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Attribute):
            self.chains[target.id] = node.value
        self.visit(node.value)
        self.visit_all(node.targets)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, (ast.Name, ast.Subscript, ast.Attribute)):
                self.refuse(target, "only names, items and attributes are deleted in a case")
            self.visit(target)

    def function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            is_listed = isinstance(decorator, ast.Name) and decorator.id in DECORATORS
            if not (self.in_class and is_listed):
                self.refuse(decorator, "only a method has a decorator: classmethod, staticmethod")
        if node.returns is not None:
            self.refuse(node.returns, "annotations are not part of a case")
        self.refuse_type_parameters(node)
        self.bind(node, node.name)
        self.defaults(node.args)
        outside, self.in_class = self.in_class, False
        self.parameters(node.args)
        self.visit_all(node.body)
        self.in_class = outside

    def parameters(self, arguments: ast.arguments) -> None:
        plain = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*plain, arguments.vararg, arguments.kwarg):
            if argument is not None:
                if argument.annotation is not None:
                    self.refuse(argument.annotation, "annotations are not part of a case")
                self.bind(argument, argument.arg)

    def defaults(self, arguments: ast.arguments) -> None:
        self.visit_all(arguments.defaults)
        self.visit_all(arguments.kw_defaults)

    def class_(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.refuse(decorator, "a class has no decorator in a case")
        for keyword in node.keywords:
            self.refuse(keyword, "a class has no keywords (metaclass) in a case")
        self.refuse_type_parameters(node)
        for base in node.bases:
            self.visit(base)
            path = _path(base)
            if isinstance(base, ast.Name) and base.id != ROOT:
                self.bases.append(base)
            elif path is None or path[0] != ROOT or not self.holds_classes(path):
                self.refuse(base, f"a base class is a name, or in {ROOT}")
        self.bind(node, node.name)
        self.classes.add(node.name)
        outside, self.in_class = self.in_class, True
        self.visit_all(node.body)
        self.in_class = outside

    def holds_classes(self, path: tuple[str, ...]) -> bool:
        """Whether ``xp.a…`` may be a class: operators are objects."""
        return len(path) > 1 and path[1] not in self.vocabulary.free_roots

    def base_class(self, node: ast.Name) -> None:
        """A base that is no class makes Python call its type: with the name, and a dict."""
        bound = self.bindings.get(node.id, 0)
        if bound > (node.id in self.classes) or (not bound and node.id not in self.known):
            self.refuse(node, f"base {node.id!r} is not bound by a class statement alone")

    def refuse_type_parameters(self, node: ast.AST) -> None:
        for parameter in getattr(node, "type_params", ()):  # Python 3.12
            self.refuse(parameter, "type parameters are not part of a case")

    def for_(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self.visit_all(node.body)
        self.visit_all(node.orelse)

    def with_(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            self.visit_all([item.optional_vars])
        self.visit_all(node.body)

    def try_(self, node: ast.Try) -> None:
        self.visit_all(node.body)
        for handler in node.handlers:
            self.visit_all([handler.type])
            if handler.name is not None:
                self.bind(handler, handler.name)
            self.visit_all(handler.body)
        self.visit_all(node.orelse)
        self.visit_all(node.finalbody)


def _is_call_of(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _path(node: ast.expr) -> tuple[str, ...] | None:
    """``("a", "b", "c")`` of ``a.b.c``; None of anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def _nothing(check: _Check, node: ast.AST) -> None:
    """A leaf that is always allowed."""


def _children(*fields: str) -> Callable[[_Check, Any], None]:
    """A check of nothing but the children in these fields, in the order in which they run."""

    def check(self: _Check, node: ast.AST) -> None:
        for name in fields:
            child = getattr(node, name)
            if isinstance(child, list):
                self.visit_all(child)
            elif child is not None:
                self.visit(child)

    return check


#: Every kind of node a case may have.  ``Store``, ``Add`` and their like are not visited.
_CHECKS: Final[Mapping[type[ast.AST], Callable[[_Check, Any], None]]] = {
    ast.Constant: _nothing,
    ast.Name: _Check.name,
    ast.Attribute: _Check.attribute,
    ast.Call: _Check.call,
    ast.Subscript: _children("value", "slice"),
    ast.Slice: _children("lower", "upper", "step"),
    ast.Starred: _children("value"),
    ast.UnaryOp: _children("operand"),
    ast.BinOp: _children("left", "right"),
    ast.BoolOp: _children("values"),
    ast.Compare: _Check.compare,
    ast.IfExp: _children("test", "body", "orelse"),
    ast.NamedExpr: _children("value", "target"),
    ast.Tuple: _children("elts"),
    ast.List: _children("elts"),
    ast.Set: _children("elts"),
    ast.Dict: _Check.dict,
    ast.ListComp: _Check.comprehension,
    ast.SetComp: _Check.comprehension,
    ast.GeneratorExp: _Check.comprehension,
    ast.DictComp: _Check.dict_comprehension,
    ast.Lambda: _Check.lambda_,
    ast.Expr: _children("value"),
    ast.Assign: _Check.assign,
    ast.AugAssign: _children("value", "target"),
    ast.Delete: _Check.delete,
    ast.FunctionDef: _Check.function,
    ast.ClassDef: _Check.class_,
    ast.Return: _children("value"),
    ast.If: _children("test", "body", "orelse"),
    ast.For: _Check.for_,
    ast.With: _Check.with_,
    ast.Try: _Check.try_,
    ast.Raise: _children("exc", "cause"),
    ast.Assert: _children("test", "msg"),
    ast.Pass: _nothing,
    ast.Break: _nothing,
    ast.Continue: _nothing,
}
