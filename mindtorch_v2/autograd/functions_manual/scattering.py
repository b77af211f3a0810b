"""Helpers of what is reduced at places that an index names."""

from __future__ import annotations

from typing import Any

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.function import delayed_error
from mindtorch_v2.autograd.operators import BINARY, div, eq, gt, mul
from mindtorch_v2.dispatch import tls

_Gradients = tuple[Any, Any]


def scatter_reduce_backward(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> _Gradients:
    """Those of the tensor and of what is scattered into it."""
    if grad is None:
        return None, None
    if reduce == "sum":
        found = grad, call("gather", grad, dim, index)
    elif reduce == "prod":
        found = _of_products(grad, self, dim, index, src, include_self, result)
    elif reduce == "mean":
        found = _of_means(grad, dim, index, src, include_self)
    elif reduce in ("amax", "amin"):
        found = _of_extremes(grad, self, dim, index, src, result)
    else:
        raise RuntimeError(
            "Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got "
            f"{reduce}."
        )
    of_self, of_source = found
    return of_self if include_self else call("scatter", of_self, dim, index, 0), of_source


def _as(mask: Any, like: Any) -> Any:
    return call("to", mask, like._dtype)


def _of_products(
    grad: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
) -> _Gradients:
    """Without a division by what is zero; the only zero at a place has the others' product."""
    one = call("masked_fill", self, eq(self, 0), 1)
    product = call("scatter_reduce", one, dim, index, src, "prod", include_self=include_self)
    of_self = div(mul(grad, product), one)
    is_zero = eq(src, 0)
    zeros = call(
        "scatter_add", call("zeros_like", self), dim, index, call("to", is_zero, self._dtype)
    )
    zeros = call("gather", zeros, dim, index)
    is_only = BINARY["&"](is_zero, eq(zeros, 1))
    others = call("masked_fill", src, is_only, 1)
    others = call("scatter_reduce", self, dim, index, others, "prod", include_self=include_self)
    divisor = call("masked_fill", src, is_zero, 1)  # GCC computes the second operand first
    quotient = div(call("gather", mul(grad, result), dim, index), divisor)
    of_source = call("where", is_only, call("gather", mul(grad, others), dim, index), quotient)
    if tls.is_grad_enabled() and call("any", gt(zeros, 1)).item():
        of_source = delayed_error(
            "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are "
            "scattered to the same position in self",
            [of_source],
        )
    return of_self, of_source


def _of_means(grad: Any, dim: int, index: Any, src: Any, include_self: bool) -> _Gradients:
    count = call("ones_like" if include_self else "zeros_like", grad)
    count = call("scatter_add", count, dim, index, call("ones_like", src))
    call("masked_fill_", count, eq(count, 0), 1)
    of_self, count = div(grad, count), call("gather", count, dim, index)
    return of_self, div(call("gather", grad, dim, index), count)


def _of_extremes(grad: Any, self: Any, dim: int, index: Any, src: Any, result: Any) -> _Gradients:
    """Those that are the extreme of a place share its gradient."""
    value = call("gather", result, dim, index)
    is_result = _as(eq(self, result), self)
    is_value = _as(eq(src, value), self)
    count = call("scatter_add", is_result, dim, index, is_value)
    share = div(grad, count)
    of_self, share_of_source = mul(eq(self, result), share), call("gather", share, dim, index)
    return of_self, mul(eq(src, value), share_of_source)
