"""How cases annotate functions: by names of a fixed list, for a case's own text has no annotation.

``annotated(f, x="Tensor", y="List[int]", returns="Tensor")`` gives the case's function ``f`` these
type hints and answers it.  What torch does with a hint that is text is to evaluate it, so a case
must not bring text of its own: a name that is not on the list is refused.
"""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import Callable
from functools import cache
from types import FunctionType, GenericAlias, ModuleType
from typing import Any, Final

from conformance.syntax import FILENAME

RETURNS: Final = "returns"

TEXTS: Final = ("Tensor", "xp.Tensor", "int", "nosuch", "1 / 0", "nosuch.Tensor", "[", "List[int]")
"""Hints that are text, listed by their ``repr``."""


def annotated(xp: ModuleType, function: Callable[..., Any], /, **hints: str) -> Callable[..., Any]:
    """``function`` with the hints that ``hints`` names; ValueError for another name.

    Nothing but a function that the case has made is annotated.
    """
    if not isinstance(function, FunctionType) or function.__code__.co_filename != FILENAME:
        raise ValueError("annotated takes a function that the case has made")
    known = types(xp)
    unknown = hints.values() - known.keys()
    if unknown:
        raise ValueError(f"annotated knows no type {min(unknown)!r}")
    names = {"return" if name == RETURNS else name: hint for name, hint in hints.items()}
    function.__annotations__ = {name: known[hint] for name, hint in names.items()}
    return function


@cache
def types(xp: ModuleType) -> dict[str, Any]:
    """Every hint by its name."""
    union, optional = typing.Union, typing.Optional
    single: dict[str, Any] = {
        "Tensor": xp.Tensor,
        "int": int,
        "float": float,
        "bool": bool,
        "str": str,
        "dtype": xp.dtype,
        "device": xp.device,
        "Union[int, float, bool]": union[int, float, bool],
        "int | float | bool": int | float | bool,
    }
    found = dict(single)
    for name, hint in single.items():
        found[f"Optional[{name}]"] = optional[hint]
        for listed, make in _CONTAINERS.items():
            found[f"{listed}[{name}]"] = make(hint)
            found[f"{listed}[Optional[{name}]]"] = make(optional[hint])
            found[f"Optional[{listed}[{name}]]"] = optional[make(hint)]
        found[f"Tuple[{name}]"] = typing.Tuple[hint]  # noqa: UP006
        found[f"tuple[{name}, ...]"] = GenericAlias(tuple, (hint, ...))
        found[f"tuple[{name}, {name}]"] = GenericAlias(tuple, (hint, hint))
    others: dict[str, Any] = {
        "None": None,
        "type(None)": type(None),
        "list": list,
        "tuple": tuple,
        "dict": dict,
        "object": object,
        "complex": complex,
        "Any": typing.Any,
        "Tuple": typing.Tuple,  # noqa: UP006
        "Tuple[()]": typing.Tuple[()],  # noqa: UP006
        "Tuple[Tensor, int]": typing.Tuple[xp.Tensor, int],  # noqa: UP006
        "List['int']": typing.List["int"],  # noqa: UP006
        "List[str]": typing.List[str],  # noqa: UP006
        "Union[Tensor, int]": union[xp.Tensor, int],
        "Dict[str, int]": typing.Dict[str, int],  # noqa: UP006
        "list['int']": GenericAlias(list, ("int",)),
        "tuple['int', 'Tensor']": GenericAlias(tuple, ("int", "xp.Tensor")),
    }
    return {**found, **others, **{repr(text): text for text in TEXTS}}


_LIST: Final[Any] = typing.List  # noqa: UP006
_SEQUENCE: Final[Any] = typing.Sequence
_CONTAINERS: Final[dict[str, Callable[[Any], Any]]] = {
    "List": lambda item: _LIST[item],
    "Sequence": lambda item: _SEQUENCE[item],
    "list": lambda item: GenericAlias(list, (item,)),
    "abc.Sequence": lambda item: GenericAlias(collections.abc.Sequence, (item,)),
}


def names() -> list[str]:
    """The names of all hints; they are the same for every ``xp``."""
    stand_in = ModuleType("xp")
    vars(stand_in).update(Tensor=object, dtype=object, device=object)
    return list(types(stand_in))
