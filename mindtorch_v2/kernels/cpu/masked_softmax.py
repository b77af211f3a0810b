"""Softmax of what a mask leaves, and its derivative.

Mirrors ``masked_softmax_cpu`` and ``masked_softmax_backward_cpu`` of
``aten/src/ATen/native/SoftMax.cpp``, which go through memory as if all were row-major.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import accumulate_type
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_BOOL: Final = DTYPES["bool"]
_HALF_OF_ALL: Final = FLOATING_TYPES | HALVES
_ATTENTION: Final = 0
_PADDING: Final = 1
_ALIKE: Final = 2
"""Types of masks: one for each query and key, for each batch and key, for each element."""


@kernel("aten::_masked_softmax")
def masked_softmax(self: Tensor, mask: Tensor, dim: int | None, mask_type: int | None) -> Any:
    shown = call("contiguous", mask)
    if mask._dtype is not _BOOL:
        raise RuntimeError("Mask should be a boolean tensor")
    kind = mask_type if (len(mask._sizes), len(self._sizes)) == (2, 4) else _ALIKE
    sizes = tuple(self._sizes)
    if kind == _ALIKE and sizes != tuple(shown._sizes):
        raise RuntimeError("For mask_type == 2 mask shape should match input shape")
    if kind in (_ATTENTION, _PADDING):
        length = sizes[2]
        if kind == _PADDING and (sizes[0], length) != tuple(shown._sizes):
            raise RuntimeError("For mask_type == 1 mask shape should be (B, L)")
        if kind == _ATTENTION and (length, length) != tuple(shown._sizes):
            raise RuntimeError("For mask_type == 0 mask shape should be (L, L)")
        if dim != 3:  # not even where none or a negative one means the last
            viewed = [sizes[0], 1, 1, length] if kind == _PADDING else [1, 1, length, length]
            source = mask if kind == _PADDING else shown
            shown = call("contiguous", call("expand", call("view", source, viewed), sizes))
            kind = _ALIKE
    output = call("empty_like", self)
    input = call("contiguous", self)
    along = wrap_dim(-1 if dim is None else dim, len(sizes))
    dispatch_over(_HALF_OF_ALL, "masked_softmax", self._dtype)
    _check_type(kind)
    shape = sizes or (1,)
    values = as_array(input, self._dtype).reshape(shape)
    hidden = _for_each_element(as_array(shown, _BOOL), kind, shape)
    with np.errstate(all="ignore"):
        _store(output, _shares(values, hidden, along, self._dtype))
    return output


def _check_type(kind: int | None) -> None:
    if kind is None:
        raise RuntimeError("Mask Type should be defined")
    if kind not in (_ATTENTION, _PADDING, _ALIKE):
        raise RuntimeError(
            "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)"
        )


def _for_each_element(mask: Array, kind: int | None, shape: Sequence[int]) -> Array:
    """As many in a row as the input has keys, wherever the mask's own row ends.

    RuntimeError where torch reads past the end.
    """
    if kind == _ALIKE:
        return mask.reshape(shape)
    rows, keys = mask.shape[0], shape[3]
    if rows * keys > mask.size and prod(shape):
        raise RuntimeError(f"a mask of {mask.size} has not {rows} rows of {keys}")
    found = mask.reshape(-1)[: rows * keys].reshape(rows, keys)
    spread = found[:, None, None] if kind == _PADDING else found
    return np.broadcast_to(spread, tuple(shape))


def _shares(values: Array, hidden: Array, dim: int, dtype: DType) -> Array:
    """Each step as C++ rounds it: not a number where everything is hidden."""
    low = np.where(hidden, values.dtype.type(-np.inf), values)
    largest = low.max(axis=dim, keepdims=True, initial=-np.inf)
    # the C library rounds an exponential of a float as if it had been computed in doubles
    powers = np.exp(rounded(values - largest, dtype).astype(np.float64)).astype(values.dtype)
    powers = np.where(hidden, values.dtype.type(0), rounded(powers, dtype))
    total = powers.sum(axis=dim, keepdims=True, dtype=_accumulated(dtype))
    factor = np.where(total == 0, np.nan, 1 / total).astype(total.dtype)
    return np.asarray(powers * (rounded(factor, dtype) if dtype in HALVES else factor))


def _accumulated(dtype: DType) -> Any:
    return np.float32 if accumulate_type(dtype) is DTYPES["float32"] else np.float64


def _store(tensor: Tensor, values: Array) -> None:
    """Into memory as it comes, whatever the strides are."""
    shape = values.shape
    flat = tensor._as_view(shape, contiguous_strides(shape), tensor._storage_offset)
    kind = as_array(flat, tensor._dtype).dtype
    store(flat, rounded(values.astype(kind), tensor._dtype))


@kernel("aten::_masked_softmax_backward")
def masked_softmax_backward(
    grad_output: Tensor, output: Tensor, mask: Tensor, dim: int | None
) -> Any:
    if tuple(grad_output._sizes) != tuple(mask._sizes):
        raise RuntimeError("Mask shape should match grad shape")
    if mask._dtype is not _BOOL:
        raise RuntimeError("Mask should be a boolean tensor")
    grad, result, shown = (call("contiguous", each) for each in (grad_output, output, mask))
    along = wrap_dim(len(output._sizes) - 1 if dim is None else dim, len(grad._sizes))
    if not grad._sizes:
        grad = call("view", grad, [1])
    if not result._sizes:
        result = call("view", result, [1])
    made = call("empty_like", grad)
    dtype = grad._dtype
    dispatch_over(_HALF_OF_ALL, "masked_softmax_backward", dtype)
    check_pointers(dtype, result)
    shape = tuple(grad._sizes)
    if prod(result._sizes) < prod(shape):
        raise RuntimeError(f"{list(result._sizes)} are not as many as {list(shape)}")
    with np.errstate(all="ignore"):
        slopes = as_array(grad, dtype)
        shares = as_array(result, dtype).reshape(-1)[: prod(shape)].reshape(shape)
        hidden = as_array(shown, _BOOL).reshape(shape)
        products = np.where(hidden, slopes.dtype.type(0), rounded(slopes * shares, dtype))
        total = products.sum(axis=along, keepdims=True, dtype=_accumulated(dtype))
        found = np.where(hidden, 0, shares * (slopes - total))
        _store(made, found)
    return made
