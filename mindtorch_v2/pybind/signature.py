"""Signatures as pybind11 prints them: ``add(self: torch._C.DispatchKeySet, arg0: …) -> …``.

The text is a fact of the profile, taken from the docstrings of the release.  It is what a
refused call shows, and it says how many arguments there are and of which types.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_UNNAMED: Final = re.compile(r"arg\d+")
_OVERLOAD: Final = re.compile(r"\d+\. ")
_VARIADIC: Final = ["*args", "**kwargs"]


class Parameter(NamedTuple):
    """One parameter: its name, its type as pybind11 names it, and its default's text."""

    name: str
    type: str
    default: str | None = None
    takes_keyword: bool = True
    """Whether a caller may name it."""


class Signature(NamedTuple):
    """A signature: ``text`` is everything after the function's name."""

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    returns: str
    is_variadic: bool = False
    """Whether ``*args, **kwargs`` follow the parameters."""

    @property
    def constructor_text(self) -> str:
        """``Class(arg0: …)`` for ``(self: Class, arg0: …) -> None``, as pybind11 rewrites it."""
        owner, *rest = self.parameters
        inner = self.text[: self.text.rindex(" -> ")].removeprefix("(").removesuffix(")")
        return f"{owner.type}({inner.partition(', ')[2] if rest else ''})"


def parse_docstring(doc: str) -> tuple[Signature, ...]:
    """The signatures that a pybind11 docstring lists, overloads in order.

    Raises ValueError if ``doc`` is no docstring of pybind11.
    """
    first, *rest = doc.strip().splitlines() or [""]
    if "Overloaded function." in doc:
        lines = [_OVERLOAD.sub("", line, count=1) for line in rest if _OVERLOAD.match(line)]
    else:
        lines = [first]
    return tuple(parse_signature(line) for line in lines)


def parse_signature(line: str) -> Signature:
    """Parse ``name(parameters) -> returns``."""
    name, opening, text = line.partition("(")
    arguments, arrow, returns = text.rpartition(") -> ")
    if not opening or not arrow:
        raise ValueError(f"not a pybind11 signature: {line!r}")
    parts = _split(arguments)
    is_variadic = parts[-2:] == _VARIADIC
    parameters = _parse_parameters(parts[:-2] if is_variadic else parts)
    return Signature(name, opening + text, parameters, returns, is_variadic)


def _parse_parameters(parts: list[str]) -> tuple[Parameter, ...]:
    """Parameters, and which of them are keywords: none before a ``/``, none that has no name.

    ``arg0`` is a name that pybind11 makes up, and so is ``self`` unless another has a name.
    """
    positional_only = parts.index("/") if "/" in parts else 0
    parameters = [_parse_parameter(part) for part in parts if part not in ("/", "*")]
    named = [
        parameter.name.isidentifier() and not _UNNAMED.fullmatch(parameter.name)
        for parameter in parameters
    ]
    if parameters and parameters[0].name == "self":
        named[0] = any(named[1:])
    return tuple(
        parameter._replace(takes_keyword=has_name and index >= positional_only)
        for index, (parameter, has_name) in enumerate(zip(parameters, named, strict=True))
    )


def _parse_parameter(text: str) -> Parameter:
    declared, _, default = text.partition(" = ")
    name, _, type_name = declared.partition(": ")
    return Parameter(name, type_name, default or None)


def _split(text: str) -> list[str]:
    """Split at the commas that stand in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
