"""C++'s operators: between tensors those of the dispatcher, between numbers C++'s arithmetic.

Mirrors ``ATen/TensorOperators.h``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor

_NEG: Final = OperatorHandle("aten::neg")
_SUB_: Final = OperatorHandle("aten::sub_.Tensor")
_DIV_: Final = OperatorHandle("aten::div_.Tensor")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]


def _filled(number: Any, like: Tensor) -> Any:
    """What C++ makes of a number to the left of ``-`` and ``/``."""
    return _FILL_(_EMPTY_LIKE(like, memory_format=_PRESERVE), number)


def _by_kind(name: str) -> Callable[[Tensor, Any], Any]:
    """A method of a tensor that has one overload for tensors and one for numbers."""
    tensor, scalar = OperatorHandle(f"aten::{name}.Tensor"), OperatorHandle(f"aten::{name}.Scalar")

    def call(one: Tensor, two: Any) -> Any:
        return (tensor if isinstance(two, Tensor) else scalar)(one, two)

    return call


_ADD: Final = _by_kind("add")
_SUB: Final = _by_kind("sub")
_MUL: Final = _by_kind("mul")
_DIV: Final = _by_kind("div")

div_: Final = _by_kind("div_")
mul_tensor: Final = OperatorHandle("aten::mul.Tensor")
div_tensor: Final = OperatorHandle("aten::div.Tensor")
"""Of two tensors, the second of which may be one that wraps a number: here it is that number."""


def add(one: Any, two: Any) -> Any:
    if isinstance(one, Tensor):
        return _ADD(one, two)
    return _ADD(two, one) if isinstance(two, Tensor) else one + two


def sub(one: Any, two: Any) -> Any:
    if isinstance(one, Tensor):
        return _SUB(one, two)
    return _SUB_(_filled(one, two), two) if isinstance(two, Tensor) else one - two


def mul(one: Any, two: Any) -> Any:
    if isinstance(one, Tensor):
        return _MUL(one, two)
    return _MUL(two, one) if isinstance(two, Tensor) else one * two


def div(one: Any, two: Any) -> Any:
    """Of integers, C++'s quotient, rounded to zero."""
    if isinstance(one, Tensor):
        return _DIV(one, two)
    if isinstance(two, Tensor):
        return _DIV_(_filled(one, two), two)
    if isinstance(one, int) and isinstance(two, int):
        return int(one / two)
    return one / two


def negative(value: Any) -> Any:
    return _NEG(value) if isinstance(value, Tensor) else -value


def _comparison(name: str, of_numbers: Callable[[Any, Any], Any], mirrored: str) -> Any:
    tensor, scalar = OperatorHandle(f"aten::{name}.Tensor"), OperatorHandle(f"aten::{name}.Scalar")
    turned = OperatorHandle(f"aten::{mirrored}.Scalar")

    def compare(one: Any, two: Any) -> Any:
        if isinstance(one, Tensor):
            return (tensor if isinstance(two, Tensor) else scalar)(one, two)
        if isinstance(two, Tensor):
            return turned(two, one)
        return of_numbers(one, two)

    return compare


_AND: Final = OperatorHandle("aten::bitwise_and.Tensor")
_OR: Final = OperatorHandle("aten::bitwise_or.Tensor")

eq: Final = _comparison("eq", operator.eq, "eq")
ne: Final = _comparison("ne", operator.ne, "ne")
lt: Final = _comparison("lt", operator.lt, "gt")
gt: Final = _comparison("gt", operator.gt, "lt")
le: Final = _comparison("le", operator.le, "ge")
ge: Final = _comparison("ge", operator.ge, "le")

BINARY: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": div,
    "==": eq,
    "!=": ne,
    "<": lt,
    ">": gt,
    "<=": le,
    ">=": ge,
    "&": lambda one, two: _AND(one, two),
    "|": lambda one, two: _OR(one, two),
}


def _is_empty_or_false(value: Any) -> bool:
    """``!`` of a truth value, or of an optional, which may well hold zero."""
    return value is None or value is False


UNARY: Final[Mapping[str, Callable[[Any], Any]]] = {"-": negative, "!": _is_empty_or_false}
