"""What dispatch on Python objects takes out of arguments before anything is converted.

Mirrors the ``_PyObjectDispatcher`` of ``torch/_ops.py``: it looks for tensors in lists, and for
symbols in sizes, then passes the objects on as they were given.  Of an iterator, which gives its
items once, the conversion that follows finds what was left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import GeneratorType
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.types import ListType, SymIntType, TensorType

_ONCE: Final = (GeneratorType, map, zip)
"""What a vector is made of and gives its items once."""

Look = Callable[[Any], None]


def dispatches_objects(full_name: str) -> bool:
    """Whether an operator that comes with torch is dispatched by its Python objects."""
    return full_name in _NAMES


def may_dispatch_objects(schema: FunctionSchema) -> bool:
    """``OpOverload._can_enable_pyobj_dispatch``, in releases that have it."""
    returned = schema.returns
    return bool(_NAMES) and all(isinstance(each.type, TensorType) for each in returned)


class ObjectDispatch:
    """What is looked at of the arguments of one operator."""

    def __init__(self, schema: FunctionSchema) -> None:
        self._looks: list[tuple[int, str, Look]] = []
        for place, argument in enumerate(schema.arguments):
            look = _look_of(argument.real_type)
            if look is not None:
                self._looks.append((place, argument.name, look))

    def look_through(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Take from iterators what a look at them takes; anything else stays as it is."""
        for place, name, look in self._looks:
            given = args[place] if place < len(args) else kwargs.get(name)
            if type(given) in _ONCE:
                look(given)


def _look_of(kind: Any) -> Look | None:
    if not isinstance(kind, ListType):
        return None
    element = kind.element
    if isinstance(element, TensorType):
        return _for_tensors
    return _for_symbols if isinstance(element, SymIntType) else None


def _for_tensors(given: Any) -> None:
    for _ in given:
        pass


def _for_symbols(given: Any) -> None:
    """Up to what is no number."""
    for item in given:
        if not isinstance(item, int):
            return


_NAMES: Final[frozenset[str]] = frozenset(profile.active().library["pyobj_dispatch"])
