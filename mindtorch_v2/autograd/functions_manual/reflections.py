"""Helpers of products of reflections: ``linalg.householder_product`` and ``ormqr``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.operators import div, mul, negative, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like


def _column(values: Any) -> Any:
    return call("unsqueeze", values, -1)


def _matmul(one: Any, two: Any) -> Any:
    return call("matmul", one, two)


def _mh(matrix: Any) -> Any:
    return call("mH", matrix)


def _reflected(start: int, vector: Any, factor: Any, matrix: Any, *, left: bool) -> Any:
    """``apply_simple_transformation``: a matrix that a reflection is applied to from a side.

    In place where nobody differentiates it, and then from where the vector begins.
    """
    if tls.is_grad_enabled():
        return sub(matrix, _change(vector, factor, matrix, left=left))
    size = vector._sizes[-2] - start

    def rows(of: Any) -> Any:
        return call("narrow", of, -2, start, size)

    own = rows(vector)
    if left:
        row = _matmul(_mh(rows(vector)), rows(matrix))
        part = rows(matrix)
        call("sub_", part, mul(mul(_column(factor), own), row))
        return matrix
    part = call("narrow", matrix, -1, start, size)
    again = rows(vector)
    column = _matmul(part, mul(_column(factor), again))
    part = call("narrow", matrix, -1, start, size)
    call("sub_", part, mul(column, _mh(own)))
    return matrix


def _change(vector: Any, factor: Any, matrix: Any, *, left: bool) -> Any:
    """What a reflection takes from a matrix."""
    if left:
        row = _matmul(_mh(vector), matrix)
        return mul(mul(_column(factor), vector), row)
    adjoint = _mh(vector)
    return mul(_matmul(matrix, mul(_column(factor), vector)), adjoint)


def _gradients(start: int, vector: Any, factor: Any, matrix: Any) -> tuple[Any, Any]:
    """``update_grad``: of a vector and its factor."""
    size = vector._sizes[-2] - start
    own = call("narrow", vector, -2, start, size)
    row = _matmul(_mh(own), call("narrow", matrix, -2, start, size))
    column = _matmul(call("narrow", matrix, -1, start, size), own)
    scale = _column(factor)
    right = call("squeeze", mul(scale, column), -1)
    of_vector = sub(call("squeeze", call("conj", mul(negative(scale), row)), -2), right)
    inner = _matmul(call("narrow", row, -1, start, size), own)
    of_factor = call("squeeze", call("conj", negative(inner)), -1)
    return _column(of_vector), of_factor


def householder_product_backward(
    grad: Any, result: Any, input_: Any, tau: Any, flip_order: bool = False
) -> tuple[Any, Any]:
    """``flip_order``: from the last reflection to the first."""
    if grad is None or not numel(input_._sizes) or not numel(tau._sizes):
        return None, None
    count = tau._sizes[-1]
    vectors = call("tril", input_, -1)
    call("fill_", call("diagonal", vectors, 0, -2, -1), 1.0)
    used = call("narrow", vectors, -1, 0, count)
    squares = call("sum", mul(used, call("conj", used)), [-2])
    inverses = div(tau, sub(mul(tau, squares), 1.0))  # factors of the inverse reflections

    def part(of: Any, place: int) -> Any:
        return call("narrow", of, -1, place, 1)

    order = range(count)[::-1] if flip_order else range(count)
    matrix = _matmul(result, _mh(grad))
    found: dict[int, tuple[Any, Any]] = {}
    first = part(inverses, order[0])
    matrix = _reflected(order[0], part(vectors, order[0]), first, matrix, left=not flip_order)
    for step, place in enumerate(order):
        pair = part(vectors, place), part(tau, place)
        found[place] = _gradients(place, *pair, matrix)
        if step + 1 < count:
            after = order[step + 1]
            own = part(vectors, after), part(inverses, after)
            matrix = _reflected(after, *own, matrix, left=not flip_order)
            matrix = _reflected(place, *pair, matrix, left=flip_order)
    of_input, of_tau = _joined(found, input_, tau, matrix)
    return call("tril_", of_input, -1), of_tau


def _joined(
    found: dict[int, tuple[Any, Any]], input: Any, tau: Any, matrix: Any
) -> tuple[Any, Any]:
    """The gradients of all vectors and factors; of columns that are no vectors there are zeros."""
    count = tau._sizes[-1]
    pairs = [found[place] for place in range(count)]
    if any(map(is_tensor_subclass_like, (input, tau, matrix))):
        of_vectors, of_factors = ([pair[place] for pair in pairs] for place in range(2))
        if count < input._sizes[-1]:
            sizes = [*input._sizes[:-1], input._sizes[-1] - count]
            of_vectors.append(call("zeros", sizes, TensorOptions.of(input)))
        return call("cat", of_vectors, -1), call("cat", of_factors, -1)
    made = call("zeros_like", input), call("zeros_like", tau)
    for place, pair in enumerate(pairs):
        for whole, each in zip(made, pair, strict=True):
            call("copy_", call("select", whole, -1, place), call("squeeze", each, -1))
    return made


def ormqr_backward(
    grad: Any,
    result: Any,
    self: Any,
    tau: Any,
    other: Any,
    left: bool,
    transpose: bool,
    grad_output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    if grad is None:
        return None, None, None
    of_self, of_tau, of_other = None, None, None
    if grad_output_mask[2]:
        of_other = call("ormqr", self, tau, grad, left, not transpose)
    if grad_output_mask[0] or grad_output_mask[1]:
        if left is not transpose:
            pair = (_mh(grad), _mh(result)) if transpose else (grad, result)
            of_self, of_tau = householder_product_backward(*pair, self, tau)
        else:
            pair = (result, grad) if transpose else (_mh(result), _mh(grad))
            of_self, of_tau = householder_product_backward(*pair, self, tau, flip_order=True)
    return of_self, of_tau, of_other
