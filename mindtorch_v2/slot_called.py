"""Objects that Python calls by a function of their own, with no step between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any


class SlotCalled:
    """Has a slot that is called.

    Python looks ``__call__`` up in an object's class, and binds it to the object.  A slot of this
    name, bound, is what the object has there: so calls run that, with nothing in between that would
    be written in Python.
    """

    __slots__ = ("__call__",)

    # no annotation: what instances are asked for, their class would answer
    if TYPE_CHECKING:

        @property
        def __call__(self) -> Callable[..., Any]: ...

        @__call__.setter
        def __call__(self, call: Callable[..., Any]) -> None: ...
