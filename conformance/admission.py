"""What of a syntax tree a case may have: its kinds of nodes, and the names in them.

The rules and why they suffice are in :mod:`conformance.grammar`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from conformance.names import DECORATORS, DEFINABLE
from conformance.syntax import MAX_DEPTH, CaseRefused
from conformance.vocabulary import FREE_DEPTH, LITERAL_CALLS, ROOT, Vocabulary

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


class Check:
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

    def beginning(self, tree: ast.Module) -> None:
        """Statements that more follow, in what :meth:`continued` answers."""
        self.visit_all(tree.body)

    def continued(self, text: str) -> Check:
        """One that has seen what this one has, for a text that begins like its own."""
        other = Check(text, self.vocabulary)
        for name in ("loads", "bindings", "chains", "bases", "classes", "later"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def case(self, tree: ast.Module) -> None:
        """All statements, or the last of them."""
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
        path = _path(node)
        if path is not None and path[0] == ROOT:
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


def _nothing(check: Check, node: ast.AST) -> None:
    """A leaf that is always allowed."""


def _children(*fields: str) -> Callable[[Check, Any], None]:
    """A check of nothing but the children in these fields, in the order in which they run."""

    def check(self: Check, node: ast.AST) -> None:
        for name in fields:
            child = getattr(node, name)
            if isinstance(child, list):
                self.visit_all(child)
            elif child is not None:
                self.visit(child)

    return check


#: Every kind of node a case may have.  ``Store``, ``Add`` and their like are not visited.
_CHECKS: Final[Mapping[type[ast.AST], Callable[[Check, Any], None]]] = {
    ast.Constant: _nothing,
    ast.Name: Check.name,
    ast.Attribute: Check.attribute,
    ast.Call: Check.call,
    ast.Subscript: _children("value", "slice"),
    ast.Slice: _children("lower", "upper", "step"),
    ast.Starred: _children("value"),
    ast.UnaryOp: _children("operand"),
    ast.BinOp: _children("left", "right"),
    ast.BoolOp: _children("values"),
    ast.Compare: Check.compare,
    ast.IfExp: _children("test", "body", "orelse"),
    ast.NamedExpr: _children("value", "target"),
    ast.Tuple: _children("elts"),
    ast.List: _children("elts"),
    ast.Set: _children("elts"),
    ast.Dict: Check.dict,
    ast.ListComp: Check.comprehension,
    ast.SetComp: Check.comprehension,
    ast.GeneratorExp: Check.comprehension,
    ast.DictComp: Check.dict_comprehension,
    ast.Lambda: Check.lambda_,
    ast.Expr: _children("value"),
    ast.Assign: Check.assign,
    ast.AugAssign: _children("value", "target"),
    ast.Delete: Check.delete,
    ast.FunctionDef: Check.function,
    ast.ClassDef: Check.class_,
    ast.Return: _children("value"),
    ast.If: _children("test", "body", "orelse"),
    ast.For: Check.for_,
    ast.With: Check.with_,
    ast.Try: Check.try_,
    ast.Raise: _children("exc", "cause"),
    ast.Assert: _children("test", "msg"),
    ast.Pass: _nothing,
    ast.Break: _nothing,
    ast.Continue: _nothing,
}
