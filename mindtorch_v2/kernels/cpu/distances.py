"""Distances of rows from each other, in a norm, and the derivatives of these.

Mirrors ``aten/src/ATen/native/cpu/DistanceOpsKernel.cpp`` and what ``Distance.cpp`` does around
it.  Each of the norms has functions of its own: what is made of a difference, how that is put
together, and what a row's distance moves by.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_EXPAND: Final = OperatorHandle("aten::expand")
_VIEW: Final = OperatorHandle("aten::view")
_EUCLIDEAN: Final = OperatorHandle("aten::_euclidean_dist")

_FEW_ROWS: Final = 25
"""Of more rows a product of matrices is the faster way to Euclidean distances."""

Power = Any
"""The order of the norm, in the elements' own type."""


class Norm(NamedTuple):
    """``map``, ``red``, ``finish`` and ``backward`` of its struct."""

    map: Callable[[Array, Power], Array]
    finish: Callable[[Array, Power], Array]
    backward: Callable[[Array, Array, Array, Power], Array]
    is_largest: bool = False
    """Whether what is made of the differences is not added up: the largest one is found."""


def _without_zero(moved: Array, dist: Array) -> Array:
    """Rows that are in one place do not move."""
    return np.where(dist == 0, moved.dtype.type(0), moved)


def _below_two(diff: Array, grad: Array, dist: Array, p: Power) -> Array:
    moved = np.sign(diff) * np.abs(diff) ** (p - 1) * grad / dist ** (p - 1)
    if p < 1:
        moved = np.where(diff == 0, moved.dtype.type(0), moved)
    return _without_zero(moved, dist)


def _above_two(diff: Array, grad: Array, dist: Array, p: Power) -> Array:
    return _without_zero(diff * np.abs(diff) ** (p - 2) * grad / dist ** (p - 1), dist)


def _infinite(diff: Array, grad: Array, dist: Array, p: Power) -> Array:
    """One for the difference that is the distance."""
    far = np.minimum(1, np.ceil(np.abs(np.abs(diff) - dist)))
    return np.asarray(grad * np.sign(diff) * (1 - far))


def _root(total: Array, p: Power) -> Array:
    return np.asarray(total.astype(np.float64) ** (1.0 / float(p)), total.dtype)


def _same(value: Array, p: Power) -> Array:
    return value


_COUNT: Final = Norm(
    lambda diff, p: np.minimum(np.ceil(diff), 1), _same, lambda diff, grad, dist, p: diff * 0
)
_SUM: Final = Norm(_same, _same, lambda diff, grad, dist, p: grad * np.sign(diff))
_EUCLID: Final = Norm(
    lambda diff, p: diff * diff,
    lambda total, p: np.sqrt(total),
    lambda diff, grad, dist, p: _without_zero(grad * diff / dist, dist),
)
_LARGEST: Final = Norm(_same, _same, _infinite, is_largest=True)
_ANY: Final = Norm(lambda diff, p: diff**p, _root, _above_two)


def _norm_of(p: Power) -> Norm:
    named = {0.0: _COUNT, 1.0: _SUM, 2.0: _EUCLID, math.inf: _LARGEST}.get(float(p))
    return named or (_ANY._replace(backward=_below_two) if p < 2 else _ANY)


# --- of each row from each --------------------------------------------------------------------


def check_columns(x1: Tensor, x2: Tensor) -> None:
    for name, each in (("X1", x1), ("X2", x2)):
        if len(each._sizes) < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {len(each._sizes)}D"
            )
    one, two = x1._sizes[-1], x2._sizes[-1]
    if one != two:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {one} X2: {two}")


def is_by_product(x1: Tensor, x2: Tensor, p: float, mode: int) -> bool:
    """Whether distances are made of a product of matrices, whose gradient finds itself."""
    has_many = max(x1._sizes[-2], x2._sizes[-2]) > _FEW_ROWS
    return p == 2 and (mode == 1 or (mode == 0 and has_many))


@kernel("aten::_cdist_forward")
def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Any:
    check_columns(x1, x2)
    return cdist_impl(x1, x2, p, compute_mode or 0)


def cdist_impl(x1: Tensor, x2: Tensor, p: float, mode: int) -> Any:
    for name, each in (("X1", x1), ("X2", x2)):
        if not each._dtype.is_floating_point:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {CPP_NAMES[each._dtype]}"
            )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if not 0 <= mode <= 2:
        raise RuntimeError(f"possible modes: 0, 1, 2, but was: {mode}")
    batch = infer_size(tuple(x1._sizes[:-2]), tuple(x2._sizes[:-2]))
    one, two = (_in_one_batch(each, batch) for each in (x1, x2))
    count, rows, columns = one._sizes
    sizes = [*batch, rows, two._sizes[1]]
    if numel(sizes) and columns and is_by_product(x1, x2, p, mode):
        return _VIEW(_EUCLIDEAN(*((x1, x2) if count == 1 else (one, two))), sizes)
    result = new_tensor(sizes, x1._dtype, x1._device)
    if not numel(sizes):
        return result
    if not columns:
        return call("zero_", result)
    dispatch_over(FLOATING_TYPES, "cdist", result._dtype)
    check_pointers(result._dtype, one, two)
    store(result, quietly(_distances, value_array(one), value_array(two), p).reshape(sizes))
    return result


def _in_one_batch(tensor: Tensor, batch: tuple[int, ...]) -> Any:
    rows = list(tensor._sizes[-2:])
    expanded = _EXPAND(tensor, [*batch, *rows])
    return _VIEW(call("contiguous", expanded), [math.prod(batch), *rows])


def _distances(one: Array, two: Array, p: float) -> Array:
    """Column by column, as one distance is added up."""
    power = one.dtype.type(p)
    norm = _norm_of(power)
    total = np.zeros((one.shape[0], one.shape[1], two.shape[1]), one.dtype)
    for column in range(one.shape[2]):
        diff = np.abs(one[:, :, None, column] - two[:, None, :, column])
        part = norm.map(diff, power)
        if norm.is_largest:
            total = np.where(total < part, part, total)  # no NaN is larger
        else:
            total += part
    return norm.finish(total, power)


@kernel("aten::_cdist_backward")
def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Any:
    columns, rows, others = size_at(x1, -1), size_at(x1, -2), size_at(x2, -2)
    size_at(x2, -1)
    batch = infer_size(tuple(x1._sizes[:-2]), tuple(x2._sizes[:-2]))
    if not (rows and others and columns and math.prod(batch)):
        return call("zeros_like", x1)
    one, two = (_in_one_batch(each, batch) for each in (x1, x2))
    sizes = [*batch, rows, columns]
    dtype = x1._dtype
    result = new_tensor(sizes, dtype, x1._device)
    dispatch_over(FLOATING_TYPES, "cdist_backward", dtype)
    power = as_array(p, dtype)[()]
    if not power:
        return call("zero_", result)
    check_pointers(dtype, grad, cdist, one, two)
    moved = (value_array(each).reshape(-1, rows, others) for each in (grad, cdist))
    store(result, quietly(_pulls, *moved, value_array(one), value_array(two), power).reshape(sizes))
    return result


def _pulls(grad: Array, dist: Array, one: Array, two: Array, p: Power) -> Array:
    """What each row is moved by, by one of the others after the other."""
    norm = _norm_of(p)
    total = np.zeros(one.shape, one.dtype)
    for other in range(two.shape[1]):
        at = (slice(None), slice(None), other, None)
        total += norm.backward(one - two[:, None, other], grad[at], dist[at], p)
    return total


# --- of the rows of one matrix ----------------------------------------------------------------


@kernel("aten::_pdist_forward")
def _pdist_forward(self: Tensor, p: float) -> Any:
    if not is_contiguous(self._sizes, self._strides):
        raise RuntimeError("_pdist_forward requires contiguous input")
    count = size_at(self, 0)
    result = new_tensor([count * (count - 1) // 2 if count > 1 else 0], self._dtype, self._device)
    if count <= 1:
        return result
    width = size_at(self, 1)
    if not width:
        return call("fill_", result, 0)
    dispatch_over(FLOATING_TYPES, "pdist", self._dtype)
    rows = value_array(self).reshape(-1, width)[:count]  # whatever more dimensions there are
    store(result, quietly(_pairwise, rows, p))
    return result


def _pairwise(rows: Array, p: float) -> Array:
    power = rows.dtype.type(p)
    norm = _norm_of(power)
    put_together = np.maximum if norm.is_largest else np.add
    found = [
        put_together.reduce(norm.map(np.abs(row - rows[at + 1 :]), power), axis=1)
        for at, row in enumerate(rows)
    ]
    return norm.finish(np.concatenate(found), power)


@kernel("aten::_pdist_backward")
def _pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Any:
    for name, each in (("self", self), ("pdist", pdist)):
        if not is_contiguous(each._sizes, each._strides):
            raise RuntimeError(f"_pdist_backward requires {name} to be contiguous")
    dtype: DType = self._dtype
    result = new_tensor(self._sizes, dtype, self._device)
    dispatch_over(FLOATING_TYPES, "pdist_backward", dtype)
    power = as_array(p, dtype)[()]
    if not power:
        return call("zero_", result)
    count, width = size_at(self, 0), size_at(self, 1)
    size_at(grad, 0)
    check_pointers(dtype, grad, pdist)
    grads, dists = (value_array(each).reshape(-1) for each in (grad, pdist))
    values = value_array(self)
    rows = values.reshape(-1, max(width, 1))[:count]
    pulls = np.zeros(values.size, values.dtype)
    pulls[: rows.size] = quietly(_pairwise_pulls, grads, dists, rows, power).reshape(-1)
    store(result, pulls.reshape(values.shape))
    return result


def _pairwise_pulls(grad: Array, dist: Array, rows: Array, p: Power) -> Array:
    """Each row with all after it: these are moved the other way."""
    norm, total, start = _norm_of(p), np.zeros(rows.shape, rows.dtype), 0
    for at, row in enumerate(rows):
        pairs = slice(start, start + len(rows) - at - 1)
        moved = norm.backward(row - rows[at + 1 :], grad[pairs, None], dist[pairs, None], p)
        total[at + 1 :] -= moved
        total[at] = np.add.accumulate([total[at], *moved])[-1]
        start = pairs.stop
    return total
