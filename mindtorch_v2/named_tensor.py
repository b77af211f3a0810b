"""Names of dimensions, as Python writes them: with an Ellipsis, or old names with new ones.

Mirrors ``torch/_namedtensor_internals.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any


def unzip_named_shape(named_shape: Any) -> tuple[Any, ...]:
    """Names and sizes of ``(("N", 2), ("C", 3))`` or of an OrderedDict."""
    pairs = named_shape.items() if isinstance(named_shape, OrderedDict) else named_shape
    if len(pairs) == 0:
        raise RuntimeError("Expected namedshape to non-empty.")
    return tuple(zip(*pairs))  # noqa: B905 (names without sizes are dropped, as in torch)


def is_ellipsis(item: Any) -> bool:
    return bool(item == Ellipsis or item == "...")


def ellipsis_index(names: Sequence[Any], function: str) -> int | None:
    """The place of the only Ellipsis; RuntimeError if there are two."""
    found = [place for place, name in enumerate(names) if is_ellipsis(name)]
    if len(found) > 1:
        raise RuntimeError(
            f"{function}: More than one Ellipsis ('...') found in names ("
            f"{names}). This function supports up to one Ellipsis."
        )
    return found[0] if found else None


def resolve_ellipsis(names: tuple[Any, ...], present: tuple[Any, ...], function: str) -> Any:
    """``names`` with what stands at the Ellipsis' place among the ``present`` ones."""
    place = ellipsis_index(names, function)
    if place is None:
        return names
    after = len(names) - place - 1
    return names[:place] + present[place : len(present) - after] + names[place + 1 :]


def update_names(
    tensor: Any, names: tuple[Any, ...], renamed: Mapping[str, Any], *, in_place: bool
) -> Any:
    """``rename``: names in order, or new names for old ones, but not both."""
    function = "rename_" if in_place else "rename"
    if names and renamed:
        raise RuntimeError(
            f"{function}: This function takes either positional args or keyword args, but not "
            f"both. Use tensor.{function}(*names) to name dims and "
            f"tensor.{function}(**rename_map) to rename dims."
        )
    new: tuple[Any, ...] | None
    if renamed:
        new = _with_new_names(tensor, renamed, function)
    elif len(names) == 1 and names[0] is None:
        new = None
    else:
        return tensor._update_names(resolve_ellipsis(names, tensor.names, function), in_place)
    return tensor._update_names(new, in_place)


def _with_new_names(tensor: Any, renamed: Mapping[str, Any], function: str) -> tuple[Any, ...]:
    names = {place if name is None else name: name for place, name in enumerate(tensor.names)}
    for old, new in renamed.items():
        if old not in names:
            raise RuntimeError(
                f"{function}: Tried to rename dim '{old}' to dim {new} in "
                f"Tensor[{tensor.names}] but dim '{old}' does not exist"
            )
        names[old] = new
    return tuple(names.values())
