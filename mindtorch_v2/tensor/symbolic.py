"""Symbolic numbers: ``SymInt``, ``SymFloat`` and ``SymBool``, which stand for a node.

A node is whatever answers the questions of ``c10::SymNodeImpl``.  Of the nodes that torch has, the
nested integers are here, sizes of ragged dimensions.  Mirrors ``torch/__init__.py`` and
``ATen/core/NestedIntSymNodeImpl.h``; of arithmetic there is what ``stft`` asks for.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from mindtorch_v2 import profile
from mindtorch_v2.messages import expected

_REPRS: Final[dict[str, str]] = profile.active().conversions["symbolic_reprs"]
_FLOAT_CONVERSIONS: Final[frozenset[str]] = frozenset(
    profile.active().conversions["symbolic_float_conversions"]
)
"""The methods by which the release's SymFloat becomes a plain number."""


class _Symbolic:
    """A number that its node knows."""

    __slots__ = ("node",)

    node: Any

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        """As the node prints, which the release asks in one way or another."""
        shown: str = getattr(self.node, _REPRS[type(self).__name__])()
        return shown


class SymInt(_Symbolic):
    """A symbolic integer."""

    __slots__ = ()
    __module__ = "mindtorch_v2"

    def __bool__(self) -> bool:
        return not self.node.is_constant() and bool(self.node.ne(0))

    def __int__(self) -> int:
        return int(self.node.int_())

    __index__ = __int__

    def __floordiv__(self, other: object) -> SymInt:
        if not isinstance(other, (int, float, _Symbolic)):
            return NotImplemented
        self.node.is_constant()  # which is asked first: a plain number for a node cannot answer
        return SymInt(self.node.floordiv(other))


class SymFloat(_Symbolic):
    """A symbolic floating-point number."""

    __slots__ = ()
    __module__ = "mindtorch_v2"

    def __bool__(self) -> bool:
        return bool(self.node.bool_())

    def __trunc__(self) -> SymInt:
        """Without an ``__int__``, ``int()`` comes here: up to Python 3.13, with a warning."""
        self.node.is_constant()  # which is asked first: a plain number for a node cannot answer
        return SymInt(self.node.trunc())

    if "__float__" in _FLOAT_CONVERSIONS:

        def __float__(self) -> float:
            return float(self.node.guard_float("", 0))

    if "__int__" in _FLOAT_CONVERSIONS:

        def __int__(self) -> int:
            return int(self.__trunc__())


class SymBool(_Symbolic):
    """A symbolic truth value."""

    __slots__ = ()
    __module__ = "mindtorch_v2"

    def __bool__(self) -> bool:
        return bool(self.node.bool_())

    def __int__(self) -> int:
        return int(bool(self))


class NestedIntNode:
    """The node of a nested integer: the ``number``-th ragged size, times a coefficient."""

    __slots__ = ("coefficient", "number")

    def __init__(self, number: int, coefficient: int) -> None:
        self.number = number
        self.coefficient = coefficient

    def is_int(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def ne(self, number: int) -> bool:
        """Whether it differs from a number, as it does from all that are plain."""
        return True

    def int_(self) -> NoReturn:
        """RuntimeError: there is no plain number that it equals."""
        raise RuntimeError(expected("false"))

    def guard_int(self, file: str, line: int) -> NoReturn:
        self.int_()

    def floordiv(self, other: object) -> NoReturn:
        raise RuntimeError("floordiv not supported by NestedIntSymNode")

    def __str__(self) -> str:
        factor = "" if self.coefficient == 1 else f"{self.coefficient}*"
        return f"{factor}j{self.number}"

    _graph_repr = __str__


def nested_int(number: int, coefficient: int) -> SymInt:
    """``_C._get_nested_int``: a nested integer."""
    return SymInt(NestedIntNode(number, coefficient))
