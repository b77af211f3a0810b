"""Formulas of derivatives.yaml: C++ expressions, turned into functions of Python.

The expressions are calls, methods, operators, conditions, braces and literals; one is parsed when
it is first needed.  A name that is called is a helper of :mod:`functions_manual`, else an operator.
What the grammar lacks is a NotImplementedError that quotes the formula.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from mindtorch_v2.autograd import at, functions_manual
from mindtorch_v2.autograd.at import UnknownFunctionError
from mindtorch_v2.autograd.operators import BINARY, UNARY
from mindtorch_v2.autograd.variable import TensorGeometry
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.dtype import LAYOUTS, MEMORY_FORMATS

Formula = Callable[[Mapping[str, Any]], Any]
"""From the values of names to that of the formula."""

_TOKEN: Final = re.compile(
    r"""\s*(?:/\*.*?\*/\s*)*(?:
      (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?)
    | (?P<string>"[^"]*")
    | (?:::)?(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
    | (?P<mark>->|&&|\|\||[<>=!]=|[-+*/<>!?:()\[\]{},.;&|])
    )""",
    re.VERBOSE,
)

#: Operators by how tightly they bind, the loosest first.
_LEVELS: Final = (
    ("||",),
    ("&&",),
    ("|",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("+", "-"),
    ("*", "/"),
)

_CONSTANTS: Final[dict[str, Any]] = {
    "true": True,
    "false": False,
    "nullptr": None,
    "at::nullopt": None,
    "std::nullopt": None,
    "c10::nullopt": None,
    "c10::kJagged": LAYOUTS.get("jagged"),
    "at::kLong": functions_manual.INT64,
    "at::MemoryFormat::Contiguous": MEMORY_FORMATS["contiguous_format"],
    "c10::MemoryFormat::Contiguous": MEMORY_FORMATS["contiguous_format"],
    "LEGACY_CONTIGUOUS_MEMORY_FORMAT": MEMORY_FORMATS["contiguous_format"],
    "M_PI": functions_manual.PI,
    "M_PI_2": functions_manual.PI / 2,
    "M_PI_4": functions_manual.PI / 4,
    "M_SQRT2": 2**0.5,
    "M_2_SQRTPI": 2 / functions_manual.PI**0.5,
    "M_LN2": functions_manual.LN2,
    "M_LN10": functions_manual.LN10,
}

_OPTIONALS: Final = ("std::optional", "c10::optional", "at::OptionalArrayRef")
_TEMPLATES: Final = ("std::get", "std::tuple", "std::vector", *_OPTIONALS)


@cache
def compiled(text: str, scalars: frozenset[str] = frozenset()) -> Formula:
    """The function of a formula; NotImplementedError if it is beyond the grammar.

    ``scalars`` are the names that are an ``at::Scalar`` in C++: a number by any other name is a
    tensor that wraps it.
    """
    parser = _Parser(text, scalars)
    found = parser.expression()
    parser.expect_end()
    return found


class _Parser:
    """Recursive descent; each method answers the function of what it has read."""

    def __init__(self, text: str, scalars: frozenset[str]) -> None:
        self.text = text
        self.scalars = scalars
        self.tokens = _tokens(text)
        self.place = 0

    def refuse(self) -> NotImplementedError:
        return NotImplementedError(f"mindtorch_v2 does not read the formula {self.text} yet")

    # --- tokens -------------------------------------------------------------------------------

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def take(self, *marks: str) -> str:
        """The next token if it is one of these, else nothing."""
        if self.peek() in marks and self.peek():
            return self.next()
        return ""

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise self.refuse()

    def expect_end(self) -> None:
        if self.peek():
            raise self.refuse()

    # --- grammar ------------------------------------------------------------------------------

    def expression(self) -> Formula:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        then = self.expression()
        self.expect(":")
        otherwise = self.expression()
        return lambda names: then(names) if condition(names) else otherwise(names)

    def binary(self, level: int) -> Formula:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while mark := self.take(*_LEVELS[level]):
            left = _joined(mark, left, self.binary(level + 1))
        return left

    def unary(self) -> Formula:
        mark = self.take("-", "!", "*")
        if mark == "*":  # what an optional holds
            return self.unary()
        if not mark:
            return self.postfix(self.primary())
        operand, function = self.unary(), UNARY[mark]
        return lambda names: function(operand(names))

    def postfix(self, value: Formula) -> Formula:
        while mark := self.take(".", "->", "["):
            if mark == "[":
                value = _indexed(value, self.expression())
                self.expect("]")
            else:
                name = self.next()
                self.expect("(")
                value = _method(value, name, self.arguments(")"))
        return value

    def arguments(self, end: str) -> list[Formula]:
        found: list[Formula] = []
        while not self.take(end):
            found.append(self.expression())
            if self.peek() != end:
                self.expect(",")
        return found

    def primary(self) -> Formula:
        token = self.next()
        if token == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token == "{":
            if self.peek() == "{":  # a list of numbers in the braces of what is made of it
                inner = self.expression()
                self.expect("}")
                return inner
            return _listed(self.arguments("}"))
        if token == "[":
            return self.lambda_()
        if token[:1].isdigit() or token[:1] == ".":
            return _constant(float(token) if re.search(r"[.eE]", token) else int(token))
        if token[:1] == '"':
            return _constant(token[1:-1])
        if not re.match(r"[A-Za-z_]", token):
            raise self.refuse()
        return self.named(token)

    def lambda_(self) -> Formula:
        """``[](c10::SymInt i){return -i;}``."""
        self.expect("]")
        self.expect("(")
        self.next()
        parameter = self.next()
        for mark in (")", "{", "return"):
            self.expect(mark)
        body = self.expression()
        self.expect(";")
        self.expect("}")
        return lambda names: lambda value: body({**names, parameter: value})

    def named(self, name: str) -> Formula:
        if name in _TEMPLATES:
            return self.template(name)
        if self.take("("):
            start = self.place
            arguments = self.arguments(")")
            given = self.tokens[start : self.place]
            return _called(name, arguments, of_scalar=not self.scalars.isdisjoint(given))
        if name in _CONSTANTS:
            return _constant(_CONSTANTS[name])
        return lambda names: names[name]

    def template(self, name: str) -> Formula:
        self.expect("<")
        parameters, depth = [""], 1
        while depth:
            token = self.next()
            if not token:
                raise self.refuse()
            depth += (token == "<") - (token == ">")
            if token == "," and depth == 1:
                parameters.append("")
            elif depth:
                parameters[-1] += token
        self.expect("(")
        arguments = self.arguments(")")
        if name == "std::get":
            return _indexed(arguments[0], _constant(int(parameters[0])))
        if name == "std::tuple":
            return _listed(arguments or [_constant(None)] * len(parameters))
        if name in _OPTIONALS:
            return arguments[0] if arguments else _constant(None)
        if len(arguments) == 2:  # a number of equal elements
            count, value = arguments
            return lambda names: [value(names)] * count(names)
        return _listed(arguments)


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotImplementedError(f"mindtorch_v2 does not read the formula {text} yet")
        found.append(match[match.lastgroup or 0])
        place = match.end()
    return found


def _constant(value: Any) -> Formula:
    return lambda names: value


def _listed(items: list[Formula]) -> Formula:
    return lambda names: [item(names) for item in items]


def _indexed(value: Formula, index: Formula) -> Formula:
    return lambda names: value(names)[index(names)]


def _joined(mark: str, left: Formula, right: Formula) -> Formula:
    if mark == "&&":
        return lambda names: left(names) and right(names)
    if mark == "||":
        return lambda names: left(names) or right(names)
    function = BINARY[mark]
    return lambda names: function(*_values((left, right), names))


def _values(arguments: Sequence[Formula], names: Mapping[str, Any]) -> list[Any]:
    """Their values: GCC computes the arguments of a call from the last to the first."""
    return [each(names) for each in reversed(arguments)][::-1]


def _method(value: Formula, name: str, arguments: list[Formula]) -> Formula:
    plain = name.removesuffix("_symint")
    own = at.OF_ANYTHING.get(plain)
    if own is not None and not arguments:
        return lambda names: own(value(names))
    return lambda names: at.method(value(names), plain, *_values(arguments, names))


def _called(name: str, arguments: list[Formula], *, of_scalar: bool) -> Formula:
    """A function whose name is looked up when it is called: a formula may not come to that.

    ``of_scalar`` says that one of the arguments is a Scalar, for which templates have a form.
    """
    plain = name.removeprefix("at::").removeprefix("sparse_csr::").removesuffix("_symint")
    special = _SPECIAL.get(plain)
    if special is not None:
        return lambda names: special(*_values(arguments, names))
    helper = functions_manual.find(f"{plain}_of_scalar") if of_scalar else None
    helper = helper or functions_manual.find(plain)
    if helper is not None:
        return lambda names: helper(*_values(arguments, names))
    if at.has_operator(plain):
        return lambda names: _operator(plain, _values(arguments, names))

    def given(names: Mapping[str, Any]) -> Any:
        if plain not in names:
            raise UnknownFunctionError(f"mindtorch_v2 has no function {plain} for backward yet")
        return names[plain](*_values(arguments, names))

    return given


def _operator(name: str, values: list[Any]) -> Any:
    """An operator, or between numbers the function of C of that name."""
    of_numbers = _OF_NUMBERS.get(name)
    if of_numbers is not None and all(map(at.is_number, values)):
        return of_numbers(*values)
    return at.call(name, *values)


_OF_NUMBERS: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(math, name) for name in ("sqrt", "exp", "log", "pow")
}

_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    "Tensor": lambda: None,
    "Scalar": lambda value: value,
    "GradMode::is_enabled": tls.is_grad_enabled,
    "std::sqrt": math.sqrt,
    "TensorGeometry": TensorGeometry.of,
    "fmap": lambda values, function: [function(each) for each in values],
}
