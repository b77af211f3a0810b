"""Gradients of factors of matrices, and of what is solved and inverted by them.

Operands are computed in the order in which GCC does, which is from the right to the left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import TensorOptions, call, conj
from mindtorch_v2.autograd.functions_manual.reductions import prod_safe_zeros_backward
from mindtorch_v2.autograd.operators import add, eq, lt, mul, negative, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.linear_algebra import factors_transposes, is_vector_rhs
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

Pair = tuple[Any, Any]

_SINGLE: Final = (DTYPES["float32"], DTYPES["complex64"])
_NEARLY: Final = 100.0
"""How many epsilons a determinant is at least, or else the matrix counts as singular."""


def _adjoint(matrices: Any) -> Any:
    return call("mH", matrices)


def _matmul(one: Any, two: Any) -> Any:
    return call("matmul", one, two)


def _solved(
    triangle: Any, values: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    options = {"upper": upper, "left": left, "unitriangular": unitriangular}
    return call("linalg_solve_triangular", triangle, values, **options)


def _sum_of(one: Any, two: Any) -> Any:
    """Of what is defined."""
    return two if one is None else one if two is None else add(one, two)


# --- Cholesky ---------------------------------------------------------------------------------


def cholesky_backward(grad: Any, upper: bool, factor: Any) -> Any:
    lower = _adjoint(factor) if upper else factor
    grad = _adjoint(grad) if upper else grad
    found = call("tril", _matmul(_adjoint(lower), grad))
    found = mul(add(found, _adjoint(call("tril", found, -1))), 0.5)
    found = _solved(_adjoint(lower), found, upper=True)
    return _solved(lower, found, upper=False, left=False)


def cholesky_inverse_backward(grad: Any, factor: Any, upper: bool, inverse: Any) -> Any:
    if grad is None:
        return None
    common = add(grad, _adjoint(grad))
    common = _matmul(inverse, _matmul(common, inverse))
    return _of_factor(factor, common, upper)


def _of_factor(factor: Any, common: Any, upper: bool) -> Any:
    product = _matmul(factor, common) if upper else _matmul(common, factor)
    return negative(product)


def cholesky_solve_backward(
    grad_x: Any, self: Any, input2: Any, result: Any, upper: bool, output_mask: Sequence[bool]
) -> Pair:
    if grad_x is None:
        return None, None
    grad_self = call("cholesky_solve", grad_x, input2, upper)
    if not output_mask[1]:
        return grad_self, None
    common = _matmul(grad_self, _adjoint(result))
    common = add(common, _adjoint(common))
    return grad_self, _of_factor(input2, common, upper)


# --- determinants -----------------------------------------------------------------------------


def linalg_det_backward(grad: Any, det: Any, a: Any, lu: Any, pivots: Any) -> Any:
    if grad is None:
        return None
    if not numel(a._sizes):
        return call("zeros_like", a) if HABITS["a determinant of nothing has a gradient"] else None
    diagonal = call("expand_as", call("unsqueeze", mul(grad, conj(det)), -1), pivots)
    scaled = call("mT", call("diag_embed", diagonal))
    epsilon = float(np.finfo(np.float32 if lu._dtype in _SINGLE else np.float64).eps)
    if not tls.is_grad_enabled():
        is_zero = eq(call("diagonal", lu, 0, -2, -1), 0.0)
        regular = add(lu, call("diag_embed", call("where", is_zero, epsilon, 0.0)))
        options = {"left": True, "adjoint": not factors_transposes(a)}
        return call("linalg_lu_solve", regular, pivots, scaled, **options)
    if any(map(is_tensor_subclass_like, (a, scaled, grad))):
        return _singular(a, scaled, grad)
    is_singular = lt(call("abs", det), _NEARLY * epsilon)
    return _masked(is_singular, _singular, _regular, a, scaled, grad)


def _regular(a: Any, scaled: Any, grad: Any) -> Any:
    return call("linalg_solve", _adjoint(a), scaled)


def _singular(a: Any, scaled: Any, grad: Any) -> Any:
    """By the adjugate, which a singular matrix has as well."""
    left, values, right = call("linalg_svd", a)
    of_right = call("linalg_det", right)
    alpha = mul(conj(mul(call("linalg_det", left), of_right)), grad)
    found = prod_safe_zeros_backward(call("unsqueeze", alpha, -1), values, len(values._sizes) - 1)
    return _matmul(mul(left, call("unsqueeze", found, -2)), right)


def _masked(
    mask: Any, where_set: Callable[..., Any], elsewhere: Callable[..., Any], *tensors: Any
) -> Any:
    """``masked_fmap``: one function where the mask is set, another where it is not."""
    chosen = call("index", tensors[0], [mask])
    if chosen.numel() == tensors[0].numel():
        return where_set(*tensors)
    if not chosen.numel():
        return elsewhere(*tensors)
    others = call("logical_not", mask)
    found = call("empty_like", tensors[0])
    for each, function in ((mask, where_set), (others, elsewhere)):
        parts = [call("index", tensor, [each]) for tensor in tensors]
        call("index_put_", found, [each], function(*parts))
    return found


def slogdet_backward(
    grad_sign: Any, grad_logabsdet: Any, a: Any, signdet: Any, lu: Any, pivots: Any
) -> Any:
    is_complex = a._dtype.is_complex
    if grad_logabsdet is None and (grad_sign is None or not is_complex):
        return None
    found = grad_logabsdet
    if is_complex and grad_sign is not None:
        turned = mul(call("imag", mul(conj(grad_sign), signdet)), 1j if found is not None else -1j)
        found = turned if found is None else sub(found, turned)
    elif is_complex:
        found = call("to", found, a._dtype)
    diagonal = call("expand_as", call("unsqueeze", found, -1), pivots)
    scaled = call("mT", call("diag_embed", diagonal))
    if tls.is_grad_enabled():
        return call("linalg_solve", _adjoint(a), scaled)
    options = {"left": True, "adjoint": not factors_transposes(a)}
    return call("linalg_lu_solve", lu, pivots, scaled, **options)


# --- LU ---------------------------------------------------------------------------------------


def lu_factor_ex_backward(grad: Any, lu: Any, pivs: Any, pivot: bool) -> Any:
    permutation, lower, upper = call("lu_unpack", lu, pivs, True, pivot)
    count = min(lu._sizes[-2:])
    of_lower = call("narrow", grad, -1, 0, count)
    of_upper = call("narrow", grad, -2, 0, count)
    return linalg_lu_backward(of_lower, of_upper, permutation, lower, upper, pivot)


def linalg_lu_backward(
    lower_grad: Any, upper_grad: Any, permutation: Any, lower: Any, upper: Any, pivot: bool
) -> Any:
    if lower_grad is None and upper_grad is None:
        return None
    rows, columns = lower._sizes[-2], upper._sizes[-1]
    if rows == columns:
        found = _square_lu_backward(lower_grad, upper_grad, lower, upper)
    elif rows < columns:
        found = _wide_lu_backward(lower_grad, upper_grad, lower, upper)
    else:
        found = _tall_lu_backward(lower_grad, upper_grad, lower, upper)
    return _matmul(permutation, found) if pivot else found


def _square_lu_backward(lower_grad: Any, upper_grad: Any, lower: Any, upper: Any) -> Any:
    found = None
    if lower_grad is not None:
        found = call("tril", _matmul(_adjoint(lower), lower_grad), -1)
    if upper_grad is not None:
        found = _sum_of(found, call("triu", _matmul(upper_grad, _adjoint(upper))))
    found = _solved(_adjoint(upper), found, upper=False, left=False)
    return _solved(_adjoint(lower), found, upper=True, unitriangular=True)


def _wide_lu_backward(lower_grad: Any, upper_grad: Any, lower: Any, upper: Any) -> Any:
    count, rest = lower._sizes[-1], upper._sizes[-1] - lower._sizes[-1]
    found = None if lower_grad is None else _matmul(_adjoint(lower), lower_grad)
    if upper_grad is not None:
        other = _matmul(call("triu", upper_grad), _adjoint(upper))
        found = negative(other) if found is None else sub(found, other)
    square = _adjoint(call("narrow", upper, -1, 0, count))
    found = _solved(square, call("tril", found, -1), upper=False, left=False)
    if upper_grad is not None:
        beside = call("narrow", upper_grad, -1, count, rest)
        found = add(found, call("triu", call("narrow", upper_grad, -1, 0, count)))
        found = call("cat", [found, beside], -1)
    found = _solved(_adjoint(lower), found, upper=True, unitriangular=True)
    if upper_grad is None:
        zeros = call("zeros_like", call("narrow", upper, -1, count, rest))
        found = call("cat", [found, zeros], -1)
    return found


def _tall_lu_backward(lower_grad: Any, upper_grad: Any, lower: Any, upper: Any) -> Any:
    count, rest = upper._sizes[-2], lower._sizes[-2] - upper._sizes[-2]
    found = None if upper_grad is None else _matmul(upper_grad, _adjoint(upper))
    if lower_grad is not None:
        other = _matmul(_adjoint(lower), call("tril", lower_grad, -1))
        found = negative(other) if found is None else sub(found, other)
    square = _adjoint(call("narrow", lower, -2, 0, count))
    found = _solved(square, call("triu", found), upper=True, unitriangular=True)
    if lower_grad is not None:
        below = call("narrow", lower_grad, -2, count, rest)
        found = add(found, call("tril", call("narrow", lower_grad, -2, 0, count), -1))
        found = call("cat", [found, below], -2)
    found = _solved(_adjoint(upper), found, upper=False, left=False)
    if lower_grad is None:
        zeros = call("zeros_like", call("narrow", lower, -2, count, rest))
        found = call("cat", [found, zeros], -2)
    return found


def lu_unpack_backward(lower_grad: Any, upper_grad: Any, m: int, n: int) -> Any:
    if lower_grad is None and upper_grad is None:
        return None
    count, dim = min(m, n), -2 if m > n else -1
    if lower_grad is None or upper_grad is None:
        given = lower_grad if upper_grad is None else upper_grad
        found = call("tril", lower_grad, -1) if upper_grad is None else call("triu", upper_grad)
        if (m >= n) if upper_grad is None else (n >= m):
            return found
        sizes = list(given._sizes)
        sizes[dim] = abs(m - n)
        return call("cat", [found, call("zeros", sizes, TensorOptions.of(given))], dim)
    if m == n:
        return add(call("tril", lower_grad, -1), call("triu", upper_grad))
    lower = lower_grad if m == count else call("narrow", lower_grad, -2, 0, count)
    upper = upper_grad if n == count else call("narrow", upper_grad, -1, 0, count)
    found = add(call("tril", lower, -1), call("triu", upper))
    rest = call("narrow", lower_grad if m > n else upper_grad, dim, count, abs(m - n))
    return call("cat", [found, rest], dim)


def linalg_lu_solve_LU(  # noqa: N802 (the name that formulas call)
    grad_x: Any, lu: Any, pivots: Any, x: Any, left: bool, adjoint: bool
) -> Any:
    permutation, lower, upper = call("lu_unpack", lu, pivots, True, left == adjoint)
    if left != adjoint:
        product = _matmul(grad_x if left else _adjoint(grad_x), _adjoint(x) if left else x)
        of_upper = _solved(_adjoint(upper), negative(product), upper=False)
        of_lower = _matmul(of_upper, _adjoint(upper))
        of_lower = _solved(_adjoint(lower), of_lower, upper=True, unitriangular=True)
        return add(call("tril", of_lower, -1), call("triu", of_upper))
    product = _matmul(call("mT", permutation), x if left else _adjoint(x))
    product = negative(_matmul(_matmul(product, _adjoint(grad_x) if left else grad_x), permutation))
    of_lower = _solved(_adjoint(lower), product, upper=True, left=False, unitriangular=True)
    of_upper = _matmul(_adjoint(lower), of_lower)
    of_upper = call("triu", _solved(_adjoint(upper), of_upper, upper=False, left=False))
    return add(call("tril", of_lower, -1), of_upper)


# --- solutions --------------------------------------------------------------------------------


def linalg_solve_backward(
    grad_x: Any, x: Any, a: Any, lu: Any, pivots: Any, left: bool, needs_b: bool
) -> Pair:
    needs_a = a._requires_grad()
    if grad_x is None or not (needs_a or needs_b):
        return None, None
    is_vector = is_vector_rhs(lu, x)

    def as_matrix(vectors: Any) -> Any:
        return call("unsqueeze", vectors, -1) if is_vector else vectors

    if tls.is_grad_enabled():
        of_b = call("linalg_solve", _adjoint(a), as_matrix(grad_x), left=left)
    else:
        options = {"left": left, "adjoint": not factors_transposes(a)}
        of_b = call("linalg_lu_solve", lu, pivots, as_matrix(grad_x), **options)
    of_a = None
    if needs_a:
        turned = _adjoint(as_matrix(x))
        of_a = negative(_matmul(of_b, turned) if left else _matmul(turned, of_b))
    if not needs_b:
        return of_a, None
    return of_a, call("squeeze", of_b, -1) if is_vector else of_b


def triangular_solve_backward(
    grad_x: Any,
    grad_m: Any,
    b: Any,
    a: Any,
    x: Any,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
    output_mask: Sequence[bool],
) -> Pair:
    if grad_x is None and grad_m is None:
        return None, None
    of_a = of_b = None
    if grad_x is not None:
        options = (upper, not transpose, unitriangular)
        of_b = call("triangular_solve", grad_x, conj(a), *options)[0]
        if output_mask[1]:
            if transpose:
                of_a = _matmul(conj(x), call("mT", of_b))
            else:
                of_a = _matmul(of_b, _adjoint(x))
            of_a = _triangle(negative(of_a), upper, unitriangular)
    of_a = _zeros_like(a) if of_a is None else of_a
    of_b = _zeros_like(b) if of_b is None else of_b
    if output_mask[1] and grad_m is not None:
        of_a = call("add", of_a, grad_m)
    return of_b, of_a


def _triangle(matrices: Any, upper: bool, unitriangular: bool) -> Any:
    if upper:
        return call("triu", matrices, int(unitriangular))
    return call("tril", matrices, -int(unitriangular))


def _zeros_like(tensor: Any) -> Any:
    """Of one element, expanded."""
    return call("expand_as", call("zeros", [1], TensorOptions.of(tensor)), tensor)


def linalg_solve_triangular_backward(
    grad: Any,
    a: Any,
    x: Any,
    upper: bool,
    left: bool,
    unitriangular: bool,
    output_mask: Sequence[bool],
) -> Pair:
    needs_a, needs_b = output_mask
    if grad is None or not (needs_a or needs_b):
        return None, None
    of_b = _solved(_adjoint(a), grad, upper=not upper, left=left, unitriangular=unitriangular)
    if not needs_a:
        return None, of_b
    turned = _adjoint(x)
    of_a = negative(_matmul(of_b, turned) if left else _matmul(turned, of_b))
    return _triangle(of_a, upper, unitriangular), of_b if needs_b else None
