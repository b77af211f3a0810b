"""Schemas of operators that say with a tag how they return what they mutate.

Mirrors ``_validate_out_schema`` and ``_validate_inplace_schema`` of ``torch/library.py``.  A
release without these tags has nothing to check.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn

from mindtorch_v2 import _C
from mindtorch_v2._library.utils import is_written
from mindtorch_v2._operator_bindings import Tag

_OUT: Final = getattr(Tag, "out", None)
_INPLACE: Final = getattr(Tag, "inplace", None)


def check_out_schema(text: str, tags: Iterable[Any]) -> None:
    """ValueError for a schema with ``Tag.out`` that does not return the keywords it writes to."""
    if _OUT is None or _OUT not in tags:
        return
    schema = _C.parse_schema(text)
    written = [argument for argument in schema.arguments if is_written(argument)]
    if not written:
        _refuse("out", "must have at least one mutable argument.", schema)
    positional = [argument.name for argument in written if not argument.kwarg_only]
    if positional:
        _refuse(
            "out",
            "requires all mutable arguments to be keyword-only (after the *). Found mutable "
            f"positional args: {positional}.",
            schema,
        )
    others = [argument.name for argument in written if not _is_tensor(argument)]
    if others:
        _refuse(
            "out",
            f"only supports Tensor mutable arguments. Found unsupported mutable args: {others}.",
            schema,
        )
    if len(schema.returns) != len(written):
        _refuse(
            "out",
            f"must return all mutable arguments (got {len(written)} mutable args but "
            f"{len(schema.returns)} returns).",
            schema,
        )
    for place, (returned, argument) in enumerate(zip(schema.returns, written, strict=True)):
        _check_returned(place, returned, argument, schema)


def _check_returned(place: int, returned: Any, argument: Any, schema: Any) -> None:
    """That a result is the keyword that it stands for."""
    what = f"Return {place} of schema tagged with torch.Tag.out must"
    alias = returned.alias_info
    if alias is None:
        raise ValueError(f"{what} alias mutable arg '{argument.name}'. Got: {schema}")
    if not alias.is_write:
        raise ValueError(
            f"{what} be a mutable alias (e.g., Tensor(a!), not Tensor(a)) of arg "
            f"'{argument.name}'. Got: {schema}"
        )
    expected = argument.alias_info.before_set
    if alias.before_set != expected:
        raise ValueError(
            f"{what} alias mutable arg '{argument.name}' (return aliases {alias.before_set} but "
            f"arg aliases {expected}). Got: {schema}"
        )


def check_inplace_schema(text: str, tags: Iterable[Any]) -> None:
    """ValueError for a schema with ``Tag.inplace`` that does not mutate and return its first
    argument, and no other."""
    if _INPLACE is None or _INPLACE not in tags:
        return
    schema = _C.parse_schema(text)
    if not schema.arguments or schema.arguments[0].kwarg_only:
        _refuse("inplace", "must have at least one positional argument.", schema)
    first, *others = schema.arguments
    if not is_written(first):
        _refuse(
            "inplace",
            "requires the first positional argument to be mutable (e.g., Tensor(a!)).",
            schema,
        )
    if not _is_tensor(first):
        _refuse(
            "inplace",
            f"requires the first positional argument to be a Tensor. Got type '{first.type}' for "
            f"arg '{first.name}'.",
            schema,
        )
    _check_returns_first(first, schema)
    names = [argument.name for argument in others if is_written(argument)]
    if names:
        _refuse(
            "inplace",
            "must only mutate the first positional argument. Found additional mutable args: "
            f"{names}.",
            schema,
        )


def _check_returns_first(first: Any, schema: Any) -> None:
    if len(schema.returns) != 1:
        _refuse(
            "inplace",
            "must return exactly one value (the first argument). Got "
            f"{len(schema.returns)} returns.",
            schema,
        )
    (returned,) = schema.returns
    alias, reason = returned.alias_info, None
    if not _is_tensor(returned):
        reason = f"return must be a Tensor, got type '{returned.type}'"
    elif alias is None:
        reason = "return must alias the first argument"
    elif not alias.is_write:
        reason = "return must be a mutable alias, e.g., Tensor(a!)"
    elif alias.before_set != first.alias_info.before_set:
        reason = (
            f"return aliases {alias.before_set} but first arg aliases {first.alias_info.before_set}"
        )
    if reason is not None:
        _refuse("inplace", f"must return the first mutable argument ({reason}).", schema)


def _is_tensor(argument: Any) -> bool:
    return bool(argument.type.annotation_str == "Tensor")


def _refuse(tag: str, reason: str, schema: Any) -> NoReturn:
    raise ValueError(f"Schema tagged with torch.Tag.{tag} {reason} Got: {schema}")
