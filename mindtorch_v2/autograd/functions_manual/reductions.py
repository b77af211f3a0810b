"""Helpers of reductions and scans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call, conj
from mindtorch_v2.autograd.functions_manual.shapes import unsqueeze_multiple
from mindtorch_v2.autograd.operators import add, div, eq, gt, lt, mul, ne, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.samples.distributions import limits_of
from mindtorch_v2.kernels.elementwise.promotion import accumulate_type
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like


def sum_backward(grad: Any, sizes: Sequence[int], dims: Any, keepdim: bool) -> Any:
    if not keepdim and sizes and dims:
        grad = unsqueeze_multiple(grad, dims, len(sizes))
    return call("expand", grad, list(sizes))


def nansum_backward(grad: Any, self: Any, dims: Any, keepdim: bool) -> Any:
    is_number = call("logical_not", call("isnan", self))
    return mul(sum_backward(grad, self._sizes, dims, keepdim), is_number)


def mean_backward(grad: Any, sizes: Sequence[int], dims: Any, count: int, keepdim: bool) -> Any:
    averaged = _safe_size(sizes, dims) if dims else count
    return div(sum_backward(grad, sizes, dims, keepdim), averaged)


def _safe_size(sizes: Sequence[int], dims: Sequence[int]) -> int:
    """The number of elements along dimensions."""
    if not sizes:
        return 1
    return math.prod(sizes[wrap_dim(dim, len(sizes))] for dim in dims)


def restore_reduced_dims(output: Any, dims: Sequence[int], keepdim: bool) -> Any:
    if keepdim:
        return output
    total = len(output._sizes) + len(dims)
    sizes = iter(output._sizes)
    gone = {dim + total if dim < 0 else dim for dim in dims}
    return call("reshape", output, [1 if dim in gone else next(sizes) for dim in range(total)])


def scale_grad_by_count(grad: Any, mask: Any, dims: Sequence[int]) -> Any:
    return mul(div(grad, call("sum", mask, list(dims), True)), mask)


def aminmax_backward(
    self: Any,
    dim: int | None,
    keepdim: bool,
    grad_min: Any,
    grad_max: Any,
    min: Any,
    max: Any,
) -> Any:
    """Those of the elements that are an extreme share its gradient."""
    dims = [*range(len(self._sizes))] if dim is None else [dim]
    result = None
    for grad, extreme in ((grad_min, min), (grad_max, max)):
        if grad is not None:
            shared = restore_reduced_dims(grad, dims, keepdim)
            mask = eq(self, restore_reduced_dims(extreme, dims, keepdim))
            part = scale_grad_by_count(shared, mask, dims)
            result = part if result is None else add(result, part)
    return result


def evenly_distribute_backward(grad: Any, input: Any, value: Any) -> Any:
    """Each of the elements that have the value gets the same part."""
    if any(map(is_tensor_subclass_like, (grad, input, value))):
        both = call("logical_and", call("isnan", input), call("isnan", value))
        mask = call("logical_or_", eq(input, value), both)
        return mul(mask, div(grad, call("sum", mask)))
    mask = call("isnan", input) if call("isnan", value).item() else eq(input, value)
    zeros = call("new_zeros", grad, list(input._sizes), TensorOptions.of(input))
    return call("masked_fill_", zeros, mask, div(grad, call("sum", mask)))


def prod_backward(
    grad: Any, input: Any, result: Any, dim: int | None = None, keepdim: bool = False
) -> Any:
    """Without a division where an element is 0."""
    if not input._sizes:
        return grad
    if dim is None:
        return _prod_backward_of_all(grad, input, result)
    dim = wrap_dim(dim, len(input._sizes))
    if not keepdim:
        grad, result = call("unsqueeze", grad, dim), call("unsqueeze", result, dim)
    if not is_tensor_subclass_like(input) and not _count_zeros(input):
        return mul(grad, conj(div(result, input)))
    return prod_safe_zeros_backward(grad, input, dim)


def _prod_backward_of_all(grad: Any, input: Any, result: Any) -> Any:
    if not is_tensor_subclass_like(input):
        zeros = _count_zeros(input)
        if not zeros:
            return mul(grad, conj(div(result, input)))
        if not tls.is_grad_enabled() and zeros > 1:
            return call("zeros_like", input)
    flat = call("view", call("contiguous", input), [-1])
    return call("view_as", prod_safe_zeros_backward(grad, flat, 0), input)


def _count_zeros(input: Any) -> int:
    return int(call("sum", eq(input, 0)).item())


def prod_safe_zeros_backward(grad: Any, input: Any, dim: int) -> Any:
    """The product of what stands before an element and of what stands behind it."""
    sizes = list(input._sizes)
    if not numel(sizes):
        return call("expand_as", grad, input)
    if sizes[dim] == 1:
        return grad
    count = sizes[dim] - 1
    ones = call("ones", [*sizes[:dim], 1, *sizes[dim + 1 :]], TensorOptions.of(grad))
    before = call("cat", [ones, call("narrow", input, dim, 0, count)], dim)
    before = call("cumprod", before, dim)
    turned = call("flip", call("narrow", input, dim, 1, count), [dim])
    behind = call("cat", [ones, turned], dim)
    behind = call("flip", call("cumprod", behind, dim), [dim])
    return mul(grad, conj(mul(before, behind)))


def cumsum_backward(grad: Any, dim: int) -> Any:
    sizes = grad._sizes
    if numel(sizes) <= 1 or sizes[wrap_dim(dim, len(sizes))] == 1:
        return grad
    return _reversed_cumsum(grad, dim)


def logsumexp_backward(grad: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    if not keepdim and self._sizes:
        rank = len(self._sizes)
        grad = unsqueeze_multiple(grad, dim, rank)
        result = unsqueeze_multiple(result, dim, rank)
    return mul(grad, conj(call("exp", sub(self, result))))


def var_backward(grad: Any, self: Any, dims: Any, correction: Any, keepdim: bool) -> Any:
    correct = 1 if correction is None else correction
    if not self._sizes or dims is None:
        free = numel(self._sizes) - correct
        if free <= 0:
            return mul(grad, call("where", eq(self, call("mean", self)), math.nan, math.inf))
        distance = sub(self, call("mean", self))
        return mul(mul(grad, 2.0 / free), distance)
    if not keepdim and len(self._sizes) > 1:
        grad = unsqueeze_multiple(grad, dims, len(self._sizes))
    free = _safe_size(self._sizes, dims) - correct
    scale = 2.0 / free if free else math.inf
    distance = sub(self, call("mean", self, list(dims), True))
    return mul(mul(grad, scale), distance)


def std_backward(
    result: Any, grad: Any, self: Any, dims: Any, correction: Any, keepdim: bool
) -> Any:
    scaled = call("masked_fill_", div(grad, mul(result, 2)), eq(result, 0), 0)
    return var_backward(scaled, self, dims, correction, keepdim)


def var_mean_backward(
    gvar: Any, gmean: Any, self: Any, dims: Any, correction: Any, keepdim: bool
) -> Any:
    """Of a variance and a mean, either of which may have no gradient."""
    found = None if gvar is None else var_backward(gvar, self, dims, correction, keepdim)
    return _with_mean(found, gmean, self, dims, keepdim)


def std_mean_backward(
    gstd: Any, gmean: Any, self: Any, std: Any, dims: Any, correction: Any, keepdim: bool
) -> Any:
    found = None if gstd is None else std_backward(std, gstd, self, dims, correction, keepdim)
    return _with_mean(found, gmean, self, dims, keepdim)


def _with_mean(found: Any, gmean: Any, self: Any, dims: Any, keepdim: bool) -> Any:
    if gmean is None:
        return found
    of_mean = mean_backward(gmean, self._sizes, dims, numel(self._sizes), keepdim)
    return of_mean if found is None else add(found, of_mean)


def norm_backward(
    grad: Any, self: Any, p: Any, norm: Any, dims: Sequence[int] = (), keepdim: bool = True
) -> Any:
    order = 2.0 if p is None else float(p)
    if not keepdim and self._sizes:
        rank = len(self._sizes)
        grad, norm = unsqueeze_multiple(grad, dims, rank), unsqueeze_multiple(norm, dims, rank)
    if order == 0.0:
        return None
    if order == 1.0:
        return mul(call("sgn", self), grad)
    if order == 2.0:
        return mul(grad, call("masked_fill_", div(self, norm), eq(norm, 0), 0))
    size = call("abs", self)
    if math.isinf(order):
        mask = call("logical_or", eq(size, norm), call("isnan", size))
        shared = mul(div(grad, call("sum", mask, list(dims), True)), mask)
        return mul(call("sgn", self), shared)
    if order < 1.0:
        power = call("masked_fill_", call("pow_", size, order - 1), eq(self, 0), 0)
        scaled, rest = mul(call("sgn", self), power), call("pow", norm, 1 - order)
        return mul(mul(scaled, grad), rest)
    if order < 2.0:
        power = call("pow_", size, order - 1)  # before the other factor, as C++ compiles it
        scaled = mul(call("sgn", self), power)
    else:
        scaled = mul(self, call("pow_", size, order - 2))
    factor = div(grad, call("pow", norm, order - 1))
    return mul(scaled, call("masked_fill_", factor, eq(norm, 0), 0))


def linalg_vector_norm_backward(
    grad: Any, self: Any, order: Any, norm: Any, dims: Any, keepdim: bool
) -> Any:
    return norm_backward(grad, self, order, norm, dims or (), keepdim)


def renorm_backward(grad: Any, self: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Of parts along ``dim`` whose norm is above ``maxnorm``, which were scaled to that."""
    rank = len(self._sizes)
    dim = wrap_dim(dim, rank)
    others = [each for each in range(rank) if each != dim]
    wide = accumulate_type(self._dtype)
    norm = call("linalg_vector_norm", self, p, others, True, dtype=wide)
    of_norm = mul(conj(self), grad)
    if wide.is_complex:
        of_norm = call("real", of_norm)
    of_norm = call("sum", of_norm, others, True, dtype=real_value_type(wide))
    of_norm = norm_backward(of_norm, self, p, norm, others)
    inverse = call("reciprocal", add(norm, 1e-7))
    remaining = sub(grad, mul(inverse, of_norm))  # before the scale, as compiled C++ has it
    of_scaled = mul(mul(inverse, maxnorm), remaining)
    return call("where", gt(norm, maxnorm), call("to", of_scaled, grad._dtype), grad)


def cumprod_backward(grad: Any, input: Any, dim: int, output: Any) -> Any:
    """Without a division where an element is 0.

    The gradient of an element is the sum, over what comes at it or behind it, of the gradients
    times the products without the element.
    """
    sizes = input._sizes
    if numel(sizes) <= 1:
        return grad
    dim = wrap_dim(dim, len(sizes))
    if sizes[dim] == 1:
        return grad
    is_like = any(map(is_tensor_subclass_like, (input, grad, output)))
    conjugated, output = conj(input), conj(output)
    weighted = mul(output, grad)
    zeros = eq(input, 0)
    if not is_like and not call("any", zeros).item():
        return div(_reversed_cumsum(weighted, dim), conjugated)
    may_mask = not is_like or not HABITS["cumprod's gradient is scattered around zeros"]
    if may_mask and not tls.is_grad_enabled():
        return _cumprod_backward_around_zeros(grad, conjugated, dim, output, weighted, zeros)
    return _cumprod_backward_by_slices(grad, conjugated, dim, is_like=is_like)


def _reversed_cumsum(tensor: Any, dim: int) -> Any:
    return call("flip", call("cumsum", call("flip", tensor, [dim]), dim), [dim])


def _cumprod_backward_by_slices(grad: Any, input: Any, dim: int, *, is_like: bool) -> Any:
    """One slice after the other, of operations that have gradients themselves."""
    sizes = list(input._sizes)
    count = sizes[dim]
    found: Any = [] if is_like else call("zeros", sizes, TensorOptions.of(grad))
    one = call("ones", [1], TensorOptions.of(grad))
    ones = call("expand", one, [*sizes[:dim], 1, *sizes[dim + 1 :]])
    if is_like and NEURAL_HABITS["a gradient of products joins no parts"]:
        parts = [_cumprod_gradient_at(place, grad, input, dim) for place in range(count)]
        return call("stack", parts, dim)
    for place in range(count):
        if not place:
            behind = call("cumprod", call("slice", input, dim, 1), dim)
            products = call("cat", [ones, behind], dim)
        elif place == count - 1:
            products = call("prod", call("slice", input, dim, 0, place), dim, True)
        else:
            until = call("prod", call("slice", input, dim, 0, place), dim, True)
            behind = call("cumprod", call("slice", input, dim, place + 1), dim)
            omitted = mul(call("expand_as", until, behind), behind)
            products = call("cat", [until, omitted], dim)
        part = call("sum", mul(call("slice", grad, dim, place), products), [dim])
        if is_like:
            found.append(part)
        else:
            call("copy_", call("select", found, dim, place), part)
    return call("stack", found, dim) if is_like else found


def _cumprod_gradient_at(place: int, grad: Any, input: Any, dim: int) -> Any:
    """What the product at a place brings, and what those behind it do, added up."""

    def received(products: Any) -> Any:
        return call("sum", mul(call("slice", grad, dim, place + 1), products), [dim])

    if not place:
        behind = received(call("cumprod", call("slice", input, dim, 1), dim))
        return add(call("select", grad, dim, 0), behind)
    until = call("cumprod", call("slice", input, dim, 0, place), dim)
    until = call("slice", until, dim, place - 1, place)
    before = call("squeeze", until, dim)
    own = mul(call("select", grad, dim, place), before)
    if place == input._sizes[dim] - 1:
        return own
    behind = call("cumprod", call("slice", input, dim, place + 1), dim)
    return add(own, received(mul(call("expand_as", until, behind), behind)))


def _cumprod_backward_around_zeros(
    grad: Any, input: Any, dim: int, output: Any, weighted: Any, zeros: Any
) -> Any:
    """What stands before the first zero, that zero itself, and nothing behind it.

    Where the first zero is says the largest of a mask; in a slice without one the place is 0,
    so it is held against the mask again.
    """
    found = _zeros_for(grad, list(input._sizes))
    zeros_so_far = call("cumsum", zeros, dim)
    before = eq(zeros_so_far, 0)
    masked = call("masked_fill", weighted, call("bitwise_not", before), 0.0)
    found = _put(found, before, _changed("div", _reversed_cumsum(masked, dim), input))

    until_second = eq(zeros_so_far, 1)
    place = call("max", until_second, dim, True)[1]
    if NEURAL_HABITS[_AMONG_NEW_ZEROS]:
        is_first = call("logical_and", until_second, zeros)
    else:
        is_first = call("scatter_", call("zeros_like", until_second), dim, place, 1)
        call("logical_and_", is_first, until_second)
    between = call("bitwise_and_", until_second, call("bitwise_not", is_first))
    products = call("masked_fill", input, call("bitwise_not", between), 1.0)
    products = call("cumprod", products, dim)
    received = call("masked_fill", grad, ne(zeros_so_far, 1), 0.0)
    leading = call("gather", output, dim, call("relu_", sub(place, 1)))
    call("masked_fill_", leading, eq(place, 0), 1.0)
    sums = call("sum", _changed("mul", products, received), [dim], True)
    return _put(found, is_first, _changed("mul", sums, leading))


_AMONG_NEW_ZEROS: Final = "a scan's gradient is among zeros like itself"


def _zeros_for(grad: Any, sizes: list[int]) -> Any:
    """What a gradient is put into."""
    if NEURAL_HABITS[_AMONG_NEW_ZEROS]:
        return call("new_zeros", grad, sizes)
    return call("zeros", sizes, TensorOptions.of(grad))


def _changed(name: str, one: Any, other: Any) -> Any:
    """By an operator, in place in the releases that scatter what comes out."""
    in_place = HABITS["cumprod's gradient is scattered around zeros"]
    return call(f"{name}_" if in_place else name, one, other)


def _put(tensor: Any, mask: Any, values: Any) -> Any:
    """The values where the mask is true, scattered in place or chosen anew."""
    if HABITS["cumprod's gradient is scattered around zeros"]:
        chosen = call("masked_select", values, mask)
        return call("masked_scatter_", tensor, mask, chosen)
    return call("where", mask, values, tensor)


def logcumsumexp_backward(grad: Any, self: Any, result: Any, dim: int) -> Any:
    """Of positive and of negative gradients the logarithms are added up, from the end."""
    if not grad._sizes or not numel(grad._sizes):
        return grad
    lowest = float(limits_of(grad._dtype).lowest)
    least = call("scalar_tensor", lowest, TensorOptions.of(grad))
    size = call("log", call("abs", grad))
    chosen = [call("where", compare(grad, 0), size, least) for compare in (gt, lt)]

    def share(logs: Any) -> Any:
        turned = call("logcumsumexp", call("flip", sub(logs, result), [dim]), dim)
        return call("exp", add(call("flip", turned, [dim]), self))

    positive, negative = map(share, chosen)
    return sub(positive, negative)
