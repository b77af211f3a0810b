"""Attention in one kernel: the softmax of products of queries and keys, times values.

Mirrors ``_scaled_dot_product_flash_attention_cpu`` of
``aten/src/ATen/native/transformers/attention.cpp`` and ``cpu/FlashAttentionKernel.cpp``, whose
blocks of queries are seen where gradients are added up in half precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import call, has_operator
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

LIES_AS_QUERY: Final = HABITS["attention lies as its queries do"]
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_NAME: Final = "scaled_dot_product_attention_flash_attention"
_KEYS_AT_ONCE: Final = 512
_FLOAT: Final = DTYPES["float32"]
_HALF: Final = DTYPES["float16"]
_ROUNDS_PRODUCTS: Final = HABITS["attention rounds products of halves"]


def calculate_scale(query: Tensor, scale: float | None) -> float:
    if scale is not None:
        return scale
    size = size_at(query, -1)
    return 1.0 / math.sqrt(size) if size else math.inf


def logsumexp_of(query: Tensor, dtype: DType) -> Any:
    """New memory for one number for each query, heads innermost."""
    batch, heads, count = query._sizes[:3]
    return _TRANSPOSE(new_tensor((batch, count, heads), dtype, query._device), 1, 2)


def attention_of(query: Tensor) -> Any:
    """New memory for what comes out; once with the heads behind the queries."""
    if LIES_AS_QUERY:
        return call("empty_like", query)
    batch, heads, count, size = query._sizes
    return _TRANSPOSE(new_tensor((batch, count, heads, size), query._dtype, query._device), 1, 2)


def _check(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float, attn_mask: Tensor | None
) -> None:
    for place in (0, 2, 1) if LIES_AS_QUERY else (0, 2, 1, 3):
        size_at(query, place)
    if not query._dtype.is_floating_point:
        raise RuntimeError(
            f"{_NAME}: Expected data type in FP32, FP64, BF16, FP16, but got "
            f"{CPP_NAMES[query._dtype]} instead."
        )
    tensors = (query, key, value)
    if any(len(each._sizes) != 4 for each in tensors):
        raise RuntimeError(f"{_NAME}: Accept only 4 dims inputs shape of {{B, H, T, K}}")
    if dropout_p != 0:
        raise RuntimeError(f"{_NAME}: Currently do not support dropout > 0")
    if len({each._sizes[3] for each in tensors}) > 1:
        raise RuntimeError(f"{_NAME}: Q/K/V should have the same head size")
    if attn_mask is not None:
        if attn_mask._dtype not in (_FLOAT, query._dtype):
            raise RuntimeError(f"{_NAME}: Attention mask is the same data type as query")
        if len(attn_mask._sizes) not in (2, 4):
            raise RuntimeError(f"{_NAME}: Attention mask dim in {{2, 4}}")


@kernel("aten::_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Any, Any]:
    _check(query, key, value, dropout_p, attn_mask)
    dtype = query._dtype
    output, logsumexp = attention_of(query), logsumexp_of(query, to_opmath(dtype))
    dispatch_over(FLOATING_TYPES | HALVES, "flash_attention", dtype)
    mask = _mask(attn_mask, query, key)
    check_pointers(dtype, query, key, value)
    if numel(query._sizes):
        factor = calculate_scale(query, scale)
        arrays = (as_array(query, dtype), *_for_each_head(query, key, value))
        found = quietly(_attention, *arrays, mask, factor, is_causal, dtype)
        store(output, rounded(found[0], dtype))
        store(logsumexp, found[1])
    return output, logsumexp


def _mask(attn_mask: Tensor | None, query: Tensor, key: Tensor) -> Array | None:
    """``reshape_attn_mask_to_4d``: a size that is not the batch's, or the heads', is one."""
    if attn_mask is None or not numel(attn_mask._sizes):
        return None
    outer, (count, keys) = [1, 1], attn_mask._sizes[-2:]
    if len(attn_mask._sizes) == 4:
        own = zip(attn_mask._sizes[:2], query._sizes[:2], strict=True)
        outer = [size if size == wanted else 1 for size, wanted in own]
    viewed = call("view", attn_mask, [*outer, count, keys])
    expanded = call("expand", viewed, [*outer, query._sizes[2], key._sizes[2]])
    return as_array(expanded, attn_mask._dtype)


def _for_each_head(query: Tensor, *shared: Tensor) -> list[Array]:
    """Keys and values once for each head that asks: a group of heads shares them."""
    heads = query._sizes[1]
    return [
        np.repeat(as_array(each, each._dtype), heads // each._sizes[1], axis=1)
        if each._sizes[1]
        else as_array(each, each._dtype)
        for each in shared
    ]


def _product(one: Array, two: Array, dtype: DType) -> Array:
    """Of matrices, once by a product of halves, whose results are halves as well."""
    found = np.asarray(one @ two, np.result_type(one, two))
    return rounded(found, dtype) if _ROUNDS_PRODUCTS and dtype is _HALF else found


def _scores(
    query: Array, key: Array, mask: Array | None, factor: float, is_causal: bool, dtype: DType
) -> Array:
    """Of each key for each query, infinitely low where it is not to be seen."""
    kind = query.dtype.type
    scores = _product(query, np.swapaxes(key, -1, -2), dtype)
    if is_causal:
        scores = np.where(_is_later(*scores.shape[-2:]), kind(-np.inf), scores)
    scores = scores * kind(factor)
    return scores if mask is None else np.asarray(scores + mask.astype(kind), kind)


def _is_later(count: int, keys: int) -> Array:
    return np.arange(keys) > np.arange(count)[:, None]


def _attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    factor: float,
    is_causal: bool,
    dtype: DType,
) -> tuple[Array, Array]:
    """What comes out, and the logarithm of what a query's shares were divided by."""
    scores = _scores(query, key, mask, factor, is_causal, dtype)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    is_masked = has_operator("_safe_softmax") & (largest == -np.inf)
    largest = np.where(is_masked, 0, largest).astype(scores.dtype)  # nothing is to be seen
    shares = np.exp(scores - largest)
    total = shares.sum(axis=-1, keepdims=True)
    total = np.where(is_masked, 1, total).astype(scores.dtype)
    found = _product(rounded(shares, dtype), value, dtype) * (1 / total)
    return found, (largest + np.log(total))[..., 0]


# --- the gradient -----------------------------------------------------------------------------


@kernel("aten::_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    grad_out: Tensor | None,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Any, Any, Any]:
    if grad_out is None:
        return None, None, None
    dtype = query._dtype
    for each in (grad_out, query, key, value, out, logsumexp):
        _TRANSPOSE(each, 1, 2)  # which refuses what has no two such dimensions
    made = [_zeros_like(each) for each in (query, key, value)]
    dispatch_over(FLOATING_TYPES | HALVES, "flash_attention_backward", dtype)
    if not query._sizes[3] == key._sizes[3] == value._sizes[3]:
        raise RuntimeError(f"{_NAME}_backward: Q/K/V should have the same head size")
    mask = _mask(attn_mask, query, key)
    check_pointers(dtype, grad_out, query, key, value, out)
    check_pointers(to_opmath(dtype), logsumexp)
    if numel(query._sizes) and numel(key._sizes):
        arrays = [as_array(each, dtype) for each in (grad_out, query)]
        arrays += _for_each_head(query, key, value)
        arrays += [as_array(out, dtype), value_array(logsumexp)]
        factor = calculate_scale(query, scale)
        found = quietly(_gradients, *arrays, mask, factor, is_causal, dtype)
        for each, grad in zip(made, found, strict=True):
            store(each, rounded(_of_groups(grad, each._sizes[1]), dtype))
    return made[0], made[1], made[2]


def _zeros_like(tensor: Tensor) -> Any:
    """With the heads innermost but for their elements."""
    turned = _TRANSPOSE(tensor, 1, 2)
    zeros = call("zero_", new_tensor(turned._sizes, tensor._dtype, tensor._device))
    return _TRANSPOSE(zeros, 1, 2)


def _of_groups(grad: Array, heads: int) -> Array:
    batch, asking, *rest = grad.shape
    if asking == heads:
        return grad
    return np.asarray(grad.reshape(batch, heads, asking // heads, *rest).sum(axis=2))


def _blocks(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _gradients(
    grad: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    logsumexp: Array,
    mask: Array | None,
    factor: float,
    is_causal: bool,
    dtype: DType,
) -> tuple[Array, Array, Array]:
    """Of a block of queries and one of keys after the other, rounded each time."""
    kind = query.dtype.type
    scaled = kind(factor)
    grads = (np.zeros_like(query), np.zeros_like(key), np.zeros_like(value))
    shown = np.exp(_scores(query, key, mask, factor, is_causal, dtype) - logsumexp[..., None])
    count, keys = shown.shape[-2:]
    if is_causal:
        shown = np.where(_is_later(count, keys), kind(0), shown)
    at_once = 256 if count >= 768 else 64 if count >= 192 else 32
    for rows in _blocks(count, at_once):
        part = grad[:, :, rows]
        moved = (part * out[:, :, rows]).sum(axis=-1, keepdims=True)
        for columns in _blocks(min(rows.stop, keys) if is_causal else keys, _KEYS_AT_ONCE):
            columns = slice(columns.start, min(columns.start + _KEYS_AT_ONCE, keys))
            shares = shown[:, :, rows, columns]
            of_shares = _product(part, np.swapaxes(value[:, :, columns], -1, -2), dtype)
            of_scores = rounded(shares * (of_shares - moved), dtype)
            shares = rounded(shares, dtype)
            steps = (
                (0, rows, scaled * (of_scores @ key[:, :, columns])),
                (1, columns, scaled * (np.swapaxes(of_scores, -1, -2) @ query[:, :, rows])),
                (2, columns, np.swapaxes(shares, -1, -2) @ part),
            )
            for place, where, step in steps:
                grads[place][:, :, where] = rounded(grads[place][:, :, where] + step, dtype)
    return grads
