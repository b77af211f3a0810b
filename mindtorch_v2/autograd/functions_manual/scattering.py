"""Helpers of what is reduced at places that an index names: of elements, or of whole rows."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.function import delayed_error
from mindtorch_v2.autograd.operators import BINARY, div, eq, gt, mul
from mindtorch_v2.dispatch import tls

_Gradients = tuple[Any, Any]


class _Ways(NamedTuple):
    """How an operator goes by an index, each time through another operator."""

    reduce: str
    take: str
    add: str
    clear: str
    source: str
    """What the operator calls the tensor that is reduced."""
    compares_again: bool
    """Whether it asks once more what is the extreme of its place, or keeps what it has counted."""
    reductions: str
    """As they are listed where it is told another."""


_OF_ELEMENTS: Final = _Ways(
    *("scatter_reduce", "gather", "scatter_add", "scatter"),
    source="src",
    compares_again=True,
    reductions="'sum', 'prod', 'mean', 'amax', 'amin'",
)
_OF_ROWS: Final = _Ways(
    *("index_reduce", "index_select", "index_add", "index_fill"),
    source="source",
    compares_again=False,
    reductions="'prod', 'amax', 'amin' or 'mean'",
)


def _reduce_backward(
    ways: _Ways,
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> _Gradients:
    """Those of the tensor and of what is reduced into it."""
    if grad is None:
        return None, None
    if f"'{reduce}'" not in ways.reductions:
        raise RuntimeError(f"Expected 'reduce' to be one of {ways.reductions} but got {reduce}.")
    if reduce == "sum":
        of_self, of_source = grad, call(ways.take, grad, dim, index)
    elif reduce == "prod":
        of_self, of_source = _of_products(
            ways, grad, self, dim, index, source, include_self, result
        )
    elif reduce == "mean":
        of_self, of_source = _of_means(ways, grad, dim, index, source, include_self)
    else:
        of_self, of_source = _of_extremes(ways, grad, self, dim, index, source, result)
    if not include_self:
        of_self = call(ways.clear, of_self, dim, index, 0)
    return of_self, of_source


def scatter_reduce_backward(*arguments: Any) -> _Gradients:
    """``grad, self, dim, index, src, reduce, include_self, result``."""
    return _reduce_backward(_OF_ELEMENTS, *arguments)


def index_reduce_backward(*arguments: Any) -> _Gradients:
    """``grad, self, dim, index, source, reduce, include_self, result``."""
    return _reduce_backward(_OF_ROWS, *arguments)


def _as(mask: Any, like: Any) -> Any:
    return call("to", mask, like._dtype)


def _of_products(
    ways: _Ways,
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    source: Any,
    include_self: bool,
    result: Any,
) -> _Gradients:
    """Without a division by what is zero; the only zero at a place has the others' product."""

    def product(of: Any, factors: Any) -> Any:
        return call(ways.reduce, of, dim, index, factors, "prod", include_self=include_self)

    one = call("masked_fill", self, eq(self, 0), 1)
    of_self = div(mul(grad, product(one, source)), one)
    is_zero = eq(source, 0)
    zeros = call(ways.add, call("zeros_like", self), dim, index, _as(is_zero, self))
    zeros = call(ways.take, zeros, dim, index)
    is_only = BINARY["&"](is_zero, eq(zeros, 1))
    others = product(self, call("masked_fill", source, is_only, 1))
    divisor = call("masked_fill", source, is_zero, 1)  # GCC computes the second operand first
    quotient = div(call(ways.take, mul(grad, result), dim, index), divisor)
    of_source = call("where", is_only, call(ways.take, mul(grad, others), dim, index), quotient)
    if tls.is_grad_enabled() and call("any", gt(zeros, 1)).item():
        name = ways.source
        of_source = delayed_error(
            f"{ways.reduce}(): Double backward is unsupported for {name} when >1 zeros in {name} "
            "are scattered to the same position in self",
            [of_source],
        )
    return of_self, of_source


def _of_means(
    ways: _Ways, grad: Any, dim: int, index: Any, source: Any, include_self: bool
) -> _Gradients:
    count = call("ones_like" if include_self else "zeros_like", grad)
    count = call(ways.add, count, dim, index, call("ones_like", source))
    call("masked_fill_", count, eq(count, 0), 1)
    of_self, count = div(grad, count), call(ways.take, count, dim, index)
    return of_self, div(call(ways.take, grad, dim, index), count)


def _of_extremes(
    ways: _Ways, grad: Any, self: Any, dim: int, index: Any, source: Any, result: Any
) -> _Gradients:
    """Those that are the extreme of a place share its gradient."""
    value = call(ways.take, result, dim, index)
    is_result, is_value = _as(eq(self, result), self), _as(eq(source, value), self)
    share = div(grad, call(ways.add, is_result, dim, index, is_value))
    of_self = mul(eq(self, result) if ways.compares_again else is_result, share)
    share = call(ways.take, share, dim, index)
    return of_self, mul(eq(source, value) if ways.compares_again else is_value, share)
