"""Attention by many heads in one operator, and a layer of an encoder around it.

Mirrors ``transform_bias_rescale_qkv_cpu`` and ``native_multi_head_attention_cpu`` of
``aten/src/ATen/native/transformers/attention.cpp``, ``cpu/NativeMultiheadAttnKernel.cpp``, and
``transformers/transformer.cpp``, for tensors that are not nested.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_BOOL: Final = DTYPES["bool"]


@kernel("aten::_transform_bias_rescale_qkv")
def transform_bias_rescale_qkv(
    qkv: Tensor, qkv_bias: Tensor, num_heads: int
) -> tuple[Any, Any, Any]:
    """Queries, keys and values of each head; queries as small as products are to be."""
    batch, count, triple = (size_at(qkv, dim) for dim in range(3))
    size = triple // 3
    if not num_heads:
        raise RuntimeError("attention by no heads divides by zero")
    if size % num_heads:
        raise RuntimeError(expected("D % num_head == 0"))
    if triple % 3:
        raise RuntimeError(expected("_3D % 3 == 0"))
    size_of_head = size // num_heads
    sizes = [3, batch, num_heads, count, size_of_head]
    found = call("empty", sizes, TensorOptions.of(qkv))
    rows, bias = call("contiguous", qkv), call("contiguous", qkv_bias)
    dtype = qkv._dtype
    dispatch_over(FLOATING_TYPES | HALVES, "transform_bias_rescale_qkv", dtype)
    if not size_of_head:
        raise RuntimeError("heads of no size divide by zero")
    if qkv_bias._dtype is not dtype or numel(qkv_bias._sizes) < triple:
        raise RuntimeError(f"{list(qkv_bias._sizes)} is no bias of {triple} numbers")
    with np.errstate(all="ignore"):
        values = as_array(rows, dtype)
        values = values + as_array(bias, dtype).reshape(-1)[:triple]
        split = values.reshape(batch, count, 3, num_heads, size_of_head)
        parts = np.array(split.transpose(2, 0, 3, 1, 4))
        kind = parts.dtype.type
        parts[0] *= kind(1.0 / np.sqrt(kind(size_of_head)))
        store(found, rounded(parts, dtype))
    viewed = call("view", found, [3 * batch, *sizes[2:]])
    query, key, value = call("split", viewed, batch, 0)
    return query, key, value


# --- attention by many heads --------------------------------------------------------------------


@kernel("aten::_native_multi_head_attention")
def native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> tuple[Any, Any]:
    _check(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias)
    qkv = _projected(query, key, value, embed_dim, qkv_weight)
    if not numel(qkv._sizes):
        return call("empty_like", query), None
    asked, keys, values = call("_transform_bias_rescale_qkv", qkv, qkv_bias, num_head)
    batch, heads, count, size = asked._sizes
    matrices = [call("view", each, [batch * heads, count, size]) for each in (asked, keys, values)]
    scores = call("bmm", matrices[0], call("transpose", matrices[1], 2, 1))
    shares = _softmax(call("view", scores, [batch, heads, count, count]), mask, mask_type)
    rows = call("view", shares, [batch * heads, count, count])
    attended = call("view", call("bmm", rows, matrices[2]), [batch, heads, count, size])
    turned = call("contiguous", call("permute", attended, [0, 2, 1, 3]))
    found = call(
        "linear", call("view", turned, [batch * count, heads * size]), proj_weight, proj_bias
    )
    output = call("view", found, [batch, count, size_at(found, 1)])
    if not need_weights:
        return output, None
    if average_attn_weights:
        shares = call("div_", call("sum", shares, [1]), num_head)
    return output, shares


def _check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
) -> None:
    def check_rank(name: str, tensor: Tensor, rank: int) -> None:
        found = len(tensor._sizes)
        if found != rank:
            raise RuntimeError(f"expected {rank}-D `{name}`, got {found}-D tensor")

    check_rank("query", query, 3)
    if query._sizes[2] != embed_dim:
        raise RuntimeError(
            f"passed-in embed_dim {embed_dim} didn't match last dim of query {query._sizes[2]}"
        )
    check_rank("key", key, 3)
    check_rank("value", value, 3)
    if not tuple(query._sizes) == tuple(key._sizes) == tuple(value._sizes):
        raise RuntimeError("expected `query`/`key`/`value` shapes to match")
    check_rank("qkv_weight", qkv_weight, 2)
    if qkv_weight._sizes[0] != 3 * embed_dim:
        raise RuntimeError("expected `qkv_weight` first dim to be 3x embed_dim")
    if qkv_weight._sizes[1] != embed_dim:
        raise RuntimeError("expected `qkv_weight` second dim to be embed_Dim")
    check_rank("qkv_bias", qkv_bias, 1)
    if qkv_bias._sizes[0] != 3 * embed_dim:
        raise RuntimeError("expected `qkv_bias` first dim and first dim of query to be equal")
    if not num_head:
        raise RuntimeError("attention by no heads divides by zero")
    if embed_dim % num_head:
        raise RuntimeError("`embed_dim` must divide evenly by `num_heads`")


def _projected(query: Tensor, key: Tensor, value: Tensor, size: int, weight: Tensor) -> Any:
    """In one product, or in as many as there are tensors."""
    if key is not value:
        pairs = zip((query, key, value), call("chunk", weight, 3, 0), strict=True)
    elif query is not key:
        pairs = zip(
            (query, key), call("split_with_sizes", weight, [size, 2 * size], 0), strict=True
        )
    else:
        return call("matmul", query, call("t", weight))
    return call("cat", [call("matmul", each, call("t", part)) for each, part in pairs], 2)


def _softmax(scores: Any, mask: Tensor | None, mask_type: int | None) -> Any:
    if mask is None:
        return call("_softmax", scores, 3, False)
    shown = mask if mask._dtype is _BOOL else call("to", mask, _BOOL)
    return call("_masked_softmax", scores, shown, 3, mask_type)


# --- a layer of an encoder ----------------------------------------------------------------------


@kernel("aten::_transformer_encoder_layer_fwd")
def transformer_encoder_layer_forward(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None,
    mask_type: int | None,
) -> Any:
    if not numel(src._sizes):
        return call("clone", src)

    def normalized(tensor: Any, weight: Tensor, bias: Tensor) -> Any:
        return call("layer_norm", tensor, [embed_dim], weight, bias, eps, True)

    x: Any = normalized(src, norm_weight_1, norm_bias_1) if norm_first else src
    weights = (qkv_weight, qkv_bias, proj_weight, proj_bias)
    settings = (mask, False, True, mask_type)
    x = call("_native_multi_head_attention", x, x, x, embed_dim, num_heads, *weights, *settings)[0]
    call("add_", x, src)
    if not norm_first:
        x = normalized(x, norm_weight_1, norm_bias_1)
    before = x
    if norm_first:
        x = normalized(x, norm_weight_2, norm_bias_2)
    if any(len(each._sizes) != 2 for each in (ffn_weight_1, ffn_weight_2)):
        raise RuntimeError("2d weights expected")
    batch, count, size = x._sizes
    x = call("view", x, [batch * count, size])
    x = call("_addmm_activation", ffn_bias_1, x, call("t", ffn_weight_1), use_gelu=use_gelu)
    x = call("view", x, [batch, count, -1])
    x = call(
        "addmm", ffn_bias_2, call("view", x, [batch * count, x._sizes[2]]), call("t", ffn_weight_2)
    )
    x = call("view", x, [batch, count, -1])
    call("add_", x, before)
    return x if norm_first else normalized(x, norm_weight_2, norm_bias_2)
