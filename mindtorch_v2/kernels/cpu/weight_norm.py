"""Weights of a given length in a direction: for each place in the first or the last dimension.

Mirrors ``weight_norm_cpu`` and ``weight_norm_backward_cpu`` of
``aten/src/ATen/native/WeightNorm.cpp`` and ``cpu/WeightNormKernel.cpp``, which go through memory as
if all were row-major.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS, call
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
FUSED_HALVES: Final = (
    HALVES if HABITS["a weight norm of float16 is one kernel"] else frozenset({DTYPES["bfloat16"]})
)
"""Dtypes in half precision that have the kernel, which keeps their norms in floats."""
_ENDS: Final = "fused kernels can only be applied for first or last dim"


@kernel("aten::_weight_norm_interface")
def weight_norm_interface(v: Tensor, g: Tensor, dim: int) -> tuple[Any, Any]:
    w = call("empty_like", v, CONTIGUOUS)
    kept = _FLOAT if g._dtype in FUSED_HALVES else g._dtype
    norm = new_tensor(g._sizes, kept, g._device, tuple(g._strides))
    rows, columns = _checked(v, dim, "weight_norm_kernel", "v")
    dtype = v._dtype
    check_pointers(dtype, v, g, w)
    check_pointers(to_opmath(dtype), norm)
    count = rows if dim == 0 else columns
    with np.errstate(all="ignore"):
        values, lengths = _flat(v, rows * columns), _flat(g, count)
        values = values.reshape(rows, columns)
        squares = values.astype(np.float64) ** 2
        found = np.sqrt(squares.sum(axis=1 if dim == 0 else 0).astype(values.dtype))
        _store(norm, found)
        scale = lengths / found
        _store(w, rounded(values * (scale[:, None] if dim == 0 else scale), dtype))
    return w, norm


@kernel("aten::_weight_norm_interface_backward")
def weight_norm_interface_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Any, Any]:
    saved = {"saved_v": saved_v, "saved_g": saved_g, "saved_norm": saved_norms}
    for name, each in saved.items():
        if not is_contiguous(each._sizes, each._strides):
            raise RuntimeError(f"{name} must be contiguous")
    grad_v, grad_g = (call("empty_like", each, CONTIGUOUS) for each in (saved_v, saved_g))
    rows, columns = _checked(saved_v, dim, "weight_norm_backward_kernel", "saved_v")
    dtype = saved_v._dtype
    check_pointers(dtype, grad_w, saved_v, saved_g)
    check_pointers(to_opmath(dtype), saved_norms)
    count, along = (rows, 1) if dim == 0 else (columns, 0)
    with np.errstate(all="ignore"):
        slopes, values = (
            _flat(each, rows * columns).reshape(rows, columns) for each in (grad_w, saved_v)
        )
        lengths, norms = (_flat(each, count) for each in (saved_g, saved_norms))
        total = (slopes.astype(np.float64) * values).sum(axis=along).astype(values.dtype)
        of_length = total / norms
        first = lengths / norms
        second = first * of_length / norms
        if dim == 0:
            first, second = first[:, None], second[:, None]
        _store(grad_g, rounded(of_length, dtype))
        _store(grad_v, rounded(first * slopes - second * values, dtype))
    return grad_v, grad_g


def _checked(v: Tensor, dim: int, name: str, argument: str) -> tuple[int, int]:
    """Rows and columns; RuntimeError where torch divides by zero."""
    rank = len(v._sizes)
    if dim not in (0, rank - 1):
        condition = f"dim == 0 || dim == {argument}.dim() - 1"
        raise RuntimeError(internal_assert(condition, name) + _ENDS)
    dispatch_over(FLOATING_TYPES | FUSED_HALVES, name, v._dtype)
    size = size_at(v, 0 if dim == 0 else -1)
    if not size:
        raise RuntimeError("a weight norm for each of no places")
    rest = numel(v._sizes) // size
    return (size, rest) if dim == 0 else (rest, size)


def _flat(tensor: Tensor, count: int) -> Array:
    """So many numbers as they lie in memory; RuntimeError where there are not so many."""
    dtype: DType = tensor._dtype
    start = tensor._storage_offset
    if count and (start + count) * dtype.itemsize > tensor.untyped_storage().nbytes():
        raise RuntimeError(f"a weight norm has no use of fewer than {count} numbers")
    return as_array(tensor._as_view((count,), (1,), start), dtype)


def _store(tensor: Tensor, values: Array) -> None:
    """Into memory as it comes."""
    count = min(values.size, prod(tensor._sizes))
    flat = tensor._as_view((count,), contiguous_strides((count,)), tensor._storage_offset)
    store(flat, values.reshape(-1)[:count])
