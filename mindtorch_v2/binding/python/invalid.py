"""The message about a call that none of several signatures takes.

Mirrors ``format_invalid_args`` in ``torch/csrc/utils/invalid_arguments.cpp``, which knows of a
signature only how messages list it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.binding.python.unordered import iteration_order

_ALSO: Final = {"float": ("float", "int", "long"), "int": ("int", "long")}
"""Types that a value may have besides the one that the parameter names."""


class _Argument(NamedTuple):
    type: str
    name: str

    def suits(self, value: Any) -> bool:
        return type_name(value) in _ALSO.get(self.type, (self.type,))


def _arguments(signature: str) -> list[_Argument]:
    """The parameters of a signature as listed; ``*`` counts as one, and so does a default.

    A parameter's name is its last word, which is that of its default if it has one.
    """
    return [
        _Argument(words[0], words[2])
        for words in (p.rpartition(" ") for p in signature[1:-1].split(", "))
    ]


def invalid_arguments(
    function: str, args: Sequence[Any], kwargs: Mapping[str, Any], signatures: Sequence[str]
) -> str:
    """What torch says of a call that suits none of ``signatures``, given as it lists them."""
    kwargs = {name: kwargs[name] for name in iteration_order(kwargs)}
    start = f"{function} received an invalid combination of arguments - got "
    if len(signatures) == 1:
        return start + _against_one(args, kwargs, signatures[0])
    lines = [f"{start}{_described(args, kwargs)}, but expected one of:\n"]
    for signature in signatures:
        lines.append(f" * {signature}\n")
        arguments = _arguments(signature)
        if len(args) + len(kwargs) != len(arguments):
            continue
        unknown = _unknown(arguments, kwargs)
        reason = (
            f"keywords were incorrect: {', '.join(unknown)}"
            if unknown
            else f"arguments have invalid types: {_marked(arguments, args, kwargs)}"
        )
        lines.append(f"      didn't match because some of the {reason}\n")
    return "".join(lines)


def _against_one(args: Sequence[Any], kwargs: Mapping[str, Any], signature: str) -> str:
    arguments = _arguments(signature)
    unknown = _unknown(arguments, kwargs)
    if unknown:
        return f"unrecognized keyword arguments: {', '.join(unknown)}"
    same_count = len(args) + len(kwargs) == len(arguments)
    got = _marked(arguments, args, kwargs) if same_count else _described(args, kwargs)
    return f"{got}, but expected {signature}"


def _unknown(arguments: Sequence[_Argument], kwargs: Iterable[str]) -> list[str]:
    """The keywords that are not among the last parameters, of which there are as many."""
    given = list(kwargs)
    known = {each.name for each in arguments[max(0, len(arguments) - len(given)) :]}
    return [name for name in given if name not in known]


def _described(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The types of what was given."""
    parts = [*map(type_name, args), *(f"{name}={type_name(kwargs[name])}" for name in kwargs)]
    return _enclosed(parts, args)


def _marked(arguments: Sequence[_Argument], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The types of what was given, those that do not suit between exclamation marks."""
    parts = []
    for place, argument in enumerate(arguments):
        by_keyword = place >= len(args)
        value = kwargs[argument.name] if by_keyword else args[place]
        part = f"{argument.name}=" if by_keyword else ""
        part += _with_elements(value)
        parts.append(part if argument.suits(value) else f"!{part}!")
    return _enclosed(parts, args)


def _enclosed(parts: Iterable[str], args: Sequence[Any]) -> str:
    """In parentheses; torch leaves the last comma where nothing was given by position."""
    listed = "".join(f"{part}, " for part in parts)
    return f"({listed[:-2] if args else listed})"


def _with_elements(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return type_name(value)
    items = [value[place] for place in range(len(value))]
    elements = ", ".join(map(type_name, items))
    if isinstance(value, list):
        return f"{type_name(value)} of [{elements}]"
    return f"{type_name(value)} of ({elements}{',' if len(items) == 1 else ''})"
