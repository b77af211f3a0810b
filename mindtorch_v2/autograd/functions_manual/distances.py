"""Helpers of distances between rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call, size
from mindtorch_v2.autograd.operators import add, div, mul, negative, sub
from mindtorch_v2.tensor.dtype import int64


def _euclidean_dist_backward(grad: Any, x1: Any, x2: Any, res: Any) -> tuple[Any, Any]:
    """Rows in one place do not move each other."""
    if grad is None:
        return None, None
    ratio = call("div", grad, res)
    call("masked_fill_", ratio, call("eq", res, 0), 0)
    pulled = call("matmul", ratio, x2)
    one = sub(mul(x1, call("sum", ratio, [-1], True)), pulled)
    pulled = call("matmul", call("mT", ratio), x1)
    two = sub(mul(x2, call("unsqueeze", call("sum", ratio, [-2], False), -1)), pulled)
    return one, two


def _cdist_backward_backward(
    grad: Any,
    grad_output: Any,
    x1: Any,
    x2: Any,
    p: float,
    cdist: Any,
    grad_input_mask: Sequence[bool],
) -> tuple[Any, Any, Any, Any]:
    """Of the gradient of the first rows: how it moves with what came in, with the rows of both
    sides and with the distances.  Rows in one place move nothing."""
    if grad is None:
        return None, None, None, None
    is_same = call("eq", cdist, 0)
    given = (grad, grad_output, x1, x2, cdist, grad_input_mask)
    if p == 2:
        return _of_euclidean(*given, is_same)
    if p in (0, 1, math.inf):
        return _of_signs(*given, p)
    return _of_powers(*given, is_same, p)


def _zero_where(is_zero: Any, values: Any) -> Any:
    return call("masked_fill", values, is_zero, 0)


def _differences(x1: Any, x2: Any) -> Any:
    across = call("unsqueeze", x2, -3)
    return sub(call("unsqueeze", x1, -2), across)


def _along(grad: Any, directions: Any) -> Any:
    """The gradient of each row of the first side, along its directions to those of the other."""
    return call("sum", mul(call("unsqueeze", grad, -2), directions), [-1])


def _of_euclidean(
    grad: Any,
    grad_output: Any,
    x1: Any,
    x2: Any,
    cdist: Any,
    mask: Sequence[bool],
    is_same: Any,
) -> tuple[Any, Any, Any, Any]:
    ratio = _zero_where(is_same, div(grad_output, cdist))
    of_grad = of_x1 = of_x2 = of_cdist = None
    if mask[0] or mask[3]:
        products = call("matmul", grad, call("transpose", x2, -2, -1))
        along = sub(call("sum", mul(grad, x1), [-1], True), products)
        of_grad = _zero_where(is_same, div(along, cdist))
    if mask[3]:
        of_cdist = negative(mul(ratio, of_grad))
    if mask[1]:
        of_x1 = mul(grad, call("sum", ratio, [-1], True))
    if mask[2]:
        of_x2 = negative(call("matmul", call("transpose", ratio, -2, -1), grad))
    return of_grad if mask[0] else None, of_x1, of_x2, of_cdist


def _of_signs(
    grad: Any,
    grad_output: Any,
    x1: Any,
    x2: Any,
    cdist: Any,
    mask: Sequence[bool],
    p: float,
) -> tuple[Any, Any, Any, Any]:
    """Of norms whose gradient has but signs, the largest element's or each one's, or nothing."""
    of_grad = None
    if mask[0] and p == 0:
        of_grad = call("zeros_like", grad_output)
    elif mask[0]:
        differences = _differences(x1, x2)
        signs = call("sgn", differences)
        if p == math.inf:
            largest = call("unsqueeze", cdist, -1)
            signs = mul(signs, call("eq", call("abs", differences), largest))
        of_grad = _along(grad, signs)
    of_others = (
        call("zeros_like", each) if needed else None
        for each, needed in zip((x1, x2, cdist), mask[1:], strict=True)
    )
    of_x1, of_x2, of_cdist = of_others
    return of_grad, of_x1, of_x2, of_cdist


def _of_powers(
    grad: Any,
    grad_output: Any,
    x1: Any,
    x2: Any,
    cdist: Any,
    mask: Sequence[bool],
    is_same: Any,
    p: float,
) -> tuple[Any, Any, Any, Any]:
    differences = _differences(x1, x2)
    lengths, is_equal = call("abs", differences), call("eq", differences, 0)
    power = call("pow", cdist, p - 1)
    ratio = _zero_where(is_same, div(grad_output, power))
    of_grad = of_x1 = of_x2 = of_cdist = None
    if mask[0] or mask[3]:
        powers = call("pow", lengths, p - 1)
        directions = _zero_where(is_equal, mul(call("sgn", differences), powers))
        of_grad = _zero_where(is_same, div(_along(grad, directions), power))
    if mask[3]:
        share = _zero_where(is_same, div(grad_output, cdist))
        of_cdist = mul(mul(share, -(p - 1)), of_grad)
    if mask[1] or mask[2]:
        slopes = _zero_where(is_equal, call("pow", lengths, p - 2))
        slopes = mul(call("unsqueeze", ratio, -1), slopes)
        if mask[1]:
            summed = call("sum", slopes, [-2])
            of_x1 = mul(mul(grad, p - 1), summed)
        if mask[2]:
            moved = mul(slopes, call("unsqueeze", grad, -2))
            of_x2 = mul(call("sum", moved, [-3]), -(p - 1))
    return of_grad if mask[0] else None, of_x1, of_x2, of_cdist


# --- of all pairs of rows -------------------------------------------------------------------------


def _pdist_backward_backward(
    grad: Any,
    grad_output: Any,
    self: Any,
    p: float,
    pdist: Any,
    grad_input_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """The same of each row from all others: what belongs to a pair is there twice, and what comes
    out of both is added up."""
    if grad is None:
        return None, None, None
    of_grad, of_self, of_pdist = grad_input_mask
    count = size(self, 0)
    if count <= 1 or p == 0:
        given = zip((grad_output, self, pdist), grad_input_mask, strict=True)
        first, second, third = (call("zeros_like", x) if needed else None for x, needed in given)
        return first, second, third
    options = TensorOptions(dtype=int64, layout=self._layout, device=self._device)
    places = call("triu_indices", count, count, 1, options)
    pairs = [call("select", places, 0, row) for row in (0, 1)]
    distances = _for_both(pdist, pairs, count)
    gradients = _for_both(grad_output, pairs, count)
    mask = (of_grad, of_self, of_self, of_pdist)
    found = _cdist_backward_backward(grad, gradients, self, self, p, distances, mask)
    return (
        _of_both(found[0], pairs) if of_grad else None,
        add(found[1], found[2]) if of_self else None,
        _of_both(found[3], pairs) if of_pdist else None,
    )


def _for_both(values: Any, pairs: Sequence[Any], count: int) -> Any:
    square = call("index_put", call("new_zeros", values, [count, count]), pairs, values)
    return add(square, call("transpose", square, -2, -1))


def _of_both(square: Any, pairs: Sequence[Any]) -> Any:
    return call("index", add(square, call("transpose", square, -2, -1)), pairs)
