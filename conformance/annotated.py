"""How cases annotate functions: by names of a fixed list, for a case's own text has no annotation.

``annotated(f, x="Tensor", y="List[int]", returns="Tensor")`` gives the case's function ``f`` these
type hints and answers it.  What torch does with a hint that is text is to evaluate it, so a case
must not bring text of its own: a name that is not on the list is refused.
"""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType, GenericAlias, ModuleType
from typing import Any, Final

from conformance.syntax import FILENAME

RETURNS: Final = "returns"

_Maker = Callable[[], Any]

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
    return {name: make() for name, make in _makers(xp).items()}


def _makers(xp: ModuleType) -> dict[str, _Maker]:
    """What makes every hint: typing remembers those that were made, by what they are equal to, and
    shows the first of them from then on."""
    union = typing.Union
    single: dict[str, _Maker] = {
        "Tensor": lambda: xp.Tensor,
        "int": lambda: int,
        "float": lambda: float,
        "bool": lambda: bool,
        "str": lambda: str,
        "dtype": lambda: xp.dtype,
        "device": lambda: xp.device,
        "Union[int, float, bool]": lambda: union[int, float, bool],
        "int | float | bool": lambda: int | float | bool,
    }
    found = dict(single)
    for name, hint in single.items():
        found |= _of_one(name, hint)
    others: dict[str, _Maker] = {
        "None": lambda: None,
        "type(None)": lambda: type(None),
        "list": lambda: list,
        "tuple": lambda: tuple,
        "dict": lambda: dict,
        "object": lambda: object,
        "complex": lambda: complex,
        "Any": lambda: typing.Any,
        "Tuple": lambda: _TUPLE,
        "Tuple[()]": lambda: _TUPLE[()],
        "Tuple[Tensor, int]": lambda: _TUPLE[xp.Tensor, int],
        "List['int']": lambda: _LIST["int"],
        "List[str]": lambda: _LIST[str],
        "Union[Tensor, int]": lambda: union[xp.Tensor, int],
        "Dict[str, int]": lambda: _DICT[str, int],
        "list['int']": lambda: GenericAlias(list, ("int",)),
        "tuple['int', 'Tensor']": lambda: GenericAlias(tuple, ("int", "xp.Tensor")),
    }
    texts = {repr(text): partial(str, text) for text in TEXTS}
    return {**found, **others, **texts}


def _of_one(name: str, hint: _Maker) -> dict[str, _Maker]:
    """What is made of a hint that is no container."""
    found: dict[str, _Maker] = {f"Optional[{name}]": lambda: _OPTIONAL[hint()]}
    for listed, make in _CONTAINERS.items():
        found |= _listed(listed, make, name, hint)
    found[f"Tuple[{name}]"] = lambda: _TUPLE[hint()]
    found[f"tuple[{name}, ...]"] = lambda: GenericAlias(tuple, (hint(), ...))
    found[f"tuple[{name}, {name}]"] = lambda: GenericAlias(tuple, (hint(),) * 2)
    return found


def _listed(listed: str, make: Callable[[Any], Any], name: str, hint: _Maker) -> dict[str, _Maker]:
    return {
        f"{listed}[{name}]": lambda: make(hint()),
        f"{listed}[Optional[{name}]]": lambda: make(_OPTIONAL[hint()]),
        f"Optional[{listed}[{name}]]": lambda: _OPTIONAL[make(hint())],
    }


_LIST: Final[Any] = typing.List  # noqa: UP006
_OPTIONAL: Final[Any] = typing.Optional
_TUPLE: Final[Any] = typing.Tuple  # noqa: UP006
_DICT: Final[Any] = typing.Dict  # noqa: UP006
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
    return list(_makers(stand_in))
