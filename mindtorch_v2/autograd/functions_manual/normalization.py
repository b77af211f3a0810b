"""Derivatives of the backward of normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call, method
from mindtorch_v2.autograd.functions_manual.reductions import var_mean_backward
from mindtorch_v2.autograd.operators import add, div, mul, negative, sub


def _sum_of_rows(tensor: Any) -> Any:
    return call("sum", tensor, [1], True)


def _plus(one: Any, two: Any) -> Any:
    """In place where there is something to add to."""
    return two if one is None else call("add_", one, two)


@dataclass(frozen=True)
class _Rows:
    """A batch as rows of ``count`` numbers, less their mean, and powers of what scales them."""

    centred: Any
    scale: Any
    scale_2: Any
    scale_3: Any
    count: int

    def first_backward(self, grad_output: Any, weight: Any) -> Any:
        """The gradient of the input, as the first backward computes it."""
        factor = call("div_", mul(weight, self.scale), self.count)
        found = call("sub_", mul(self.count, grad_output), _sum_of_rows(grad_output))
        slope = _sum_of_rows(mul(grad_output, self.centred))
        found = call("sub_", found, mul(mul(self.centred, self.scale_2), slope))
        return mul(factor, found)

    def by_input(self, ggi: Any, grad_output: Any, weight: Any) -> Any:
        """What the gradient of the input's gradient adds to that of the input."""
        count = self.count
        sent = mul(grad_output, weight)
        sent_slope, sent_sum = _sum_of_rows(mul(sent, self.centred)), _sum_of_rows(sent)
        own_sum, own_slope = _sum_of_rows(ggi), _sum_of_rows(mul(ggi, self.centred))
        height = call("div_", mul(own_sum, sent_sum), count)
        height = call("sub_", height, _sum_of_rows(mul(ggi, sent)))
        bend = call("mul_", mul(mul(self.scale_2, sent_slope), own_slope), 3.0 / count)
        height = call("add_", height, bend)
        found = call("div_", mul(mul(self.centred, self.scale_3), height), count)
        for slope, total, rows in ((own_slope, sent_sum, sent), (sent_slope, own_sum, ggi)):
            factor = call("div_", mul(slope, self.scale_3), count)
            found = call("add_", found, mul(factor, sub(div(total, count), rows)))
        return found

    def by_weight(self, ggg: Any, grad_output: Any) -> Any:
        """What the gradient of the weight's gradient adds to that of the input."""
        sent = mul(grad_output, ggg)
        found = mul(sent, self.scale)
        mean = call("div_", mul(self.scale, _sum_of_rows(sent)), -self.count)
        slope = mul(mul(self.centred, self.scale_3), _sum_of_rows(mul(sent, self.centred)))
        return call("add_", call("add_", found, mean), call("div_", slope, -self.count))


def layer_norm_double_backward(
    input: Any,
    weight: Any,
    ggi: Any,
    ggg: Any,
    ggb: Any,
    grad_output: Any,
    mean: Any,
    rstd: Any,
    normalized_shape: Sequence[int],
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Of the input, the weight and the output's gradient; of what is undefined, nothing."""
    axis = len(input._sizes) - len(normalized_shape)
    rows, count = math.prod(input._sizes[:axis]), math.prod(input._sizes[axis:])

    def shaped(tensor: Any, *sizes: int) -> Any:
        return None if tensor is None else call("reshape", tensor, list(sizes))

    affine = bool(method(weight, "defined"))
    adds_to_bias = ggb is not None
    x, grad_rows = shaped(input, rows, count), shaped(grad_output, rows, count)
    middle, scale = shaped(mean, rows, 1), shaped(rstd, rows, 1)
    if affine:
        factor = shaped(weight, 1, count)
        ggg, ggb = shaped(ggg, 1, count), shaped(ggb, 1, count)
    else:  # which torch forgets where a gradient of a bias has come
        factor, ggb = call("ones", [1], TensorOptions.of(input)), None
    ggi = shaped(ggi, rows, count)
    centred = sub(x, call("to", middle, input._dtype))
    scale = call("to", scale, input._dtype)
    scale_2, scale_3 = (call("pow", scale, power) for power in (2, 3))
    batch = _Rows(centred, scale, scale_2, scale_3, count)

    by_input = by_weight = by_grad = None
    if ggi is not None:
        by_input = batch.by_input(ggi, grad_rows, factor)
    if affine and ggg is not None:
        by_input = _plus(by_input, batch.by_weight(ggg, grad_rows))
    if by_input is not None:
        by_input = call("reshape_as", by_input, input)
    if affine and ggi is not None:
        found = batch.first_backward(ggi, call("ones", [], TensorOptions.of(batch.scale)))
        by_weight = call("reshape_as", call("sum", mul(grad_rows, found), [0]), weight)
    if ggi is not None:
        by_grad = batch.first_backward(ggi, factor)
    if ggg is not None:
        by_grad = _plus(by_grad, mul(mul(ggg, batch.centred), batch.scale))
    if adds_to_bias:
        by_grad = _plus(by_grad, ggb)
    if by_grad is not None:
        by_grad = call("reshape_as", call("expand", by_grad, [rows, count]), input)
    return by_input, by_weight, by_grad


def infinitely_differentiable_native_group_norm_backward(
    grad: Any,
    grad_mean: Any,
    grad_rstd: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    count: int,
    channels: int,
    pixels: int,
    group: int,
    eps: float,
    mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """The same as the backward, of operators that have derivatives themselves."""
    sizes = [count, group, channels // group, pixels]
    x = call("reshape", input, sizes)
    middle, scale = (call("reshape", each, [count, group, 1, 1]) for each in (mean, rstd))
    if grad is None:
        of_input = _of_moments(grad_mean, grad_rstd, x, scale, count, group) if mask[0] else None
        return None if of_input is None else call("reshape_as", of_input, input), None, None
    dy = call("reshape", grad, sizes)
    products, sums = (call("unsqueeze_", call("sum", each, [3]), -1) for each in (mul(dy, x), dy))
    found: list[Any] = [None, None, None]
    if mask[0]:
        of_input = _of_group_input(dy, x, middle, scale, products, sums, weight)
        moments = _of_moments(grad_mean, grad_rstd, x, scale, count, group)
        of_input = of_input if moments is None else call("add_", of_input, moments)
        found[0] = call("reshape_as", of_input, input)
    if mask[1]:
        of_weight = mul(sub(products, mul(sums, middle)), scale)
        found[1] = call("reshape_as", call("sum", of_weight, [0]), weight)
    if mask[2]:
        found[2] = call("reshape_as", call("sum", sums, [0]), weight)
    return found[0], found[1], found[2]


def native_group_norm_backward_dispatcher(*arguments: Any) -> tuple[Any, Any, Any]:
    """The same without the ``eps``, which nothing asks for."""
    return infinitely_differentiable_native_group_norm_backward(*arguments[:-1], 0.0, arguments[-1])


def _of_group_input(
    dy: Any, x: Any, middle: Any, scale: Any, products: Any, sums: Any, weight: Any
) -> Any:
    gamma = None
    if weight is not None:
        gamma = call("reshape", weight, [1, x._sizes[1], x._sizes[2], 1])
        products, sums = mul(products, gamma), mul(sums, gamma)
    share = 1.0 / (x._sizes[2] * x._sizes[3])
    weighted, total = (call("unsqueeze_", call("sum", each, [2]), -2) for each in (products, sums))
    cube = mul(mul(scale, scale), scale)
    slope = mul(mul(sub(mul(total, middle), weighted), cube), share)
    height = sub(mul(negative(slope), middle), mul(mul(total, scale), share))
    factor = scale if gamma is None else mul(scale, gamma)
    return add(add(mul(factor, dy), mul(slope, x)), height)


def _of_moments(grad_mean: Any, grad_rstd: Any, x: Any, scale: Any, count: int, group: int) -> Any:
    """By way of the mean and the deviation, if there are gradients of both."""
    if grad_mean is None or grad_rstd is None:
        return None
    cube = mul(mul(scale, scale), scale)
    of_variance = mul(mul(-0.5, cube), call("view", grad_rstd, [count, group, 1, 1]))
    of_mean = call("view", grad_mean, [count, group, 1, 1])
    return var_mean_backward(of_variance, of_mean, x, [2, 3], 0, True)
