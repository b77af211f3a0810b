"""How ``torch.library.infer_schema`` reads type hints: a part of the section ``library``."""

import re
from collections.abc import Callable
from typing import Any

import torch
import torch._library.infer_schema
from torch import library

from conformance.extract import said, takes

NAMES_IN_HINTS = (
    *("torch", "device", "dtype", "Tensor", "types", "typing"),
    *("List", "Optional", "Sequence", "Union"),
)


def inferred(function: Callable[..., object], mutates_args: Any = ()) -> str:
    return str(
        library.infer_schema(function, mutates_args=mutates_args)
        if hasattr(library, "infer_schema")
        else torch._library.infer_schema.infer_schema(function, mutates_args)
    )


def odd_default(x: int = ()) -> None: ...  # type: ignore[assignment]


def plain(x: torch.Tensor) -> None: ...


def hinted(hint: object) -> Callable[[], str]:
    """Infers the schema of a function with such a type hint."""

    def function(x): ...  # type: ignore[no-untyped-def]

    function.__annotations__ = {"x": hint, "return": None}
    return lambda: inferred(function)


def with_builtin_list(x: list[int]) -> None: ...


def with_tuple(x: tuple[int]) -> None: ...


def with_object(x: object) -> None: ...


def with_many(*x: int) -> None: ...


def with_text(x: str = "a") -> None: ...


def without_return(x: int): ...  # type: ignore[no-untyped-def]


def with_single_tuple(x: int) -> tuple[int]: ...  # type: ignore[empty-body]


def refusal(function: Callable[..., object], mutates_args: Any = ()) -> str:
    return said(lambda: inferred(function, mutates_args))


# --- what it takes ---------------------------------------------------------------------------


def supported_types() -> list[Any]:
    return list(torch._library.infer_schema.SUPPORTED_PARAM_TYPES)


def list_types() -> list[str]:
    """How a list of booleans may be annotated, in the order in which messages list it."""
    found = [text for text in map(str, supported_types()) if text.endswith("[bool]")]
    return [text.removesuffix("[bool]") for text in found if "Optional" not in text]


def advised_list() -> str:
    """The list that a message advises for a tuple, as it is printed; empty where none is."""
    found = re.search(r"For example, (.*)\[int\]\.", refusal(with_tuple))
    return found[1] if found else ""


def names_in_hints() -> list[str]:
    """What hints that are text may name if torch's own module is where they are looked up.

    No name says that they are looked up where the function stands.
    """
    function = hinted("Tensor")
    if not takes(function):
        return []
    return [name for name in NAMES_IN_HINTS if hasattr(torch._library.infer_schema, name)]
