"""What PyTorch registers on meta for attention that accelerators compute in one kernel.

Mirrors ``torch/_meta_registrations.py``; a function is named as it is there, and knows none of the
builds for other accelerators than CUDA.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import inf, prod
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import assertion, broadcast_shapes
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_FLOAT: Final = DTYPES["float32"]
_NO_LENGTH: Final = "max_seqlen_q must not be None when cu_seqlens_q is provided"
_IS_ALIKE: Final = HABITS["flash attention on meta lies as its queries do"]
_FUSED_IS_ALIKE: Final = HABITS["fused attention on meta lies as its queries do"]
_HAS_WIDTH_OF_VALUES: Final = HABITS["flash attention on meta is as wide as its values"]
_IS_OF_ANY_RANK: Final = HABITS["attention on meta lies as its queries do at any rank"]
_IS_OF_OWN_HEADS: Final = HABITS["gradients of attention on meta have heads of their own"]
_SHARES_HEADS: Final = HABITS["gradients of attention that share memory share heads"]
_SHARES_WITH_VALUES: Final = HABITS["gradients of attention that share memory look at values"]
_COMPARES_LENGTHS: Final = HABITS["attention on meta compares lengths of keys and values"]
_HANDS_OPTIONS_ON: Final = HABITS["efficient attention's gradient on meta takes its options"]
_BROADCASTS: Final = HABITS["attention for MPS on meta broadcasts its batches"]


def _like(tensor: Tensor) -> Any:
    return call("empty_like", tensor)


def _new(sizes: Sequence[int], like: Tensor, dtype: DType | None = None) -> Tensor:
    return new_tensor(sizes, dtype or like._dtype, like._device)


def _states(dtype: DType, *seed: int) -> list[Tensor]:
    """A seed and an offset of random numbers, which are on meta whatever is asked for."""
    device = Device._made("meta")
    return [new_tensor(seed, dtype, device), new_tensor((), dtype, device)]


def _flash_states() -> list[Tensor]:
    if HABITS["the seed of flash attention on meta is two numbers"]:
        return _states(DTYPES["uint64"], 2)
    return _states(int64)


def _rounded_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _with_matching_layout(query: Tensor, shape: Sequence[int]) -> Any:
    """``alloc_with_matching_layout``: dimensions in the order that the query has in memory.

    Expanded ones, which are nowhere in memory, come outermost where the rank may be any.
    """
    if not _FUSED_IS_ALIKE:
        return _new(shape, query)
    if tuple(query._sizes) == tuple(shape):
        return _like_with_heads_behind(query)
    given = tuple(query._strides)
    if _IS_OF_ANY_RANK:
        inner_first = sorted(range(len(given)), key=lambda dim: given[dim] or inf)
    else:
        inner_first = sorted(range(4), key=lambda dim: given[dim], reverse=True)[::-1]
    strides, stride = [0] * len(inner_first), 1
    for dim in inner_first:
        strides[dim] = stride
        stride *= shape[dim]
    return call("empty_strided", list(shape), strides, TensorOptions.of(query))


def _as_wide_as(value: Tensor, query: Tensor) -> Any:
    """Of rows of queries' numbers and places in memory, each of a value's width."""
    return _with_matching_layout(query, (*query._sizes[:-1], size_at(value, -1)))


# --- flash attention ----------------------------------------------------------------------------


def _like_with_heads_behind(tensor: Tensor) -> Any:
    """Which once lay with the queries outside the heads."""
    if _IS_ALIKE:
        return _like(tensor)
    return call("transpose", _like(call("transpose", tensor, 1, 2)), 1, 2)


def _debug_mask(query: Tensor, shape: Sequence[int], size: int, keys: int, *, wanted: bool) -> Any:
    if not wanted:
        return _new((0,), query)
    *outer, count = shape
    block = 128 if size > 64 else 256
    columns = 128 if keys <= 128 else 256 if keys <= 256 else -(-count // block)
    return _new((*outer, count, columns), query)


@body(_META + "meta__scaled_dot_product_flash_attention")
def meta__scaled_dot_product_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    scale: float | None = None,
) -> tuple[Any, ...]:
    *shape, size = (size_at(query, dim) for dim in range(4))
    keys = size_at(key, 2)
    if _HAS_WIDTH_OF_VALUES:
        attention = _as_wide_as(value, query)
    else:
        attention = _like_with_heads_behind(query)
    logsumexp = _new(shape, query, _FLOAT)
    mask = _debug_mask(query, shape, size, keys, wanted=return_debug_mask)
    return (attention, logsumexp, None, None, shape[2], keys, *_flash_states(), mask)


@body(_META + "meta__scaled_dot_product_flash_attention_quantized")
def meta__scaled_dot_product_flash_attention_quantized(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    q_descale: Tensor | None,
    k_descale: Tensor | None,
    v_descale: Tensor | None,
    *rest: Any,
    **options: Any,
) -> tuple[Any, ...]:
    query = _unquantized(query)
    return meta__scaled_dot_product_flash_attention(query, key, value, *rest, **options)


def _unquantized(query: Tensor) -> Any:
    is_small = query._dtype is DTYPES["float8_e4m3fn"]
    return call("to", query, DTYPES["bfloat16"]) if is_small else query


@body(_META + "meta__scaled_dot_product_flash_backward")
def meta__scaled_dot_product_flash_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, *rest: Any, **options: Any
) -> tuple[Any, Any, Any]:
    one, two, three = (_like_with_heads_behind(each) for each in (query, key, value))
    return one, two, three


@body(
    _META + "meta__flash_attention_backward",
    _META + "meta__scaled_dot_product_cudnn_backward",
)
def meta__flash_attention_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, *rest: Any, **options: Any
) -> tuple[Any, Any, Any]:
    return _like(query), _like(key), _like(value)


@body(_META + "meta__flash_attention_forward")
def meta__flash_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *rest: Any,
    **options: Any,
) -> tuple[Any, ...]:
    """Of batches of one length, or of rows of which ``cum_seq_q`` says where each begins."""
    batch = size_at(query, 0) if cum_seq_q is None else numel(cum_seq_q._sizes) - 1
    count = size_at(query, 1) if cum_seq_q is None else max_q
    keys = size_at(key, 1) if cum_seq_k is None else max_k
    heads, size = size_at(query, -2), size_at(query, -1)
    attention = _as_wide_as(value, query) if _HAS_WIDTH_OF_VALUES else _like(query)
    is_in_rows = cum_seq_q is not None and HABITS["sums of unlike sequences on meta are in rows"]
    sums = (heads, size_at(query, 0)) if is_in_rows else (batch, heads, count)
    logsumexp = _new(sums, query, _FLOAT)
    mask = _debug_mask(query, (batch, heads, count), size, keys, wanted=return_debug_mask)
    return (attention, logsumexp, *_flash_states(), mask)


@body(_META + "meta__flash_attention_forward_quantized")
def meta__flash_attention_forward_quantized(query: Tensor, *rest: Any, **options: Any) -> Any:
    """The same; what scales it is looked at by nobody."""
    return meta__flash_attention_forward(_unquantized(query), *rest, **options)


@body(_META + "meta__flash_attention_forward_no_dropout_inplace")
def meta__flash_attention_forward_no_dropout_inplace(
    out: Tensor, *rest: Any, **options: Any
) -> Any:
    return meta__flash_attention_forward(*rest, **options)[1]


# --- other kernels ------------------------------------------------------------------------------


@body(_META + "meta__scaled_dot_product_efficient_attention")
def meta__scaled_dot_product_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    compute_log_sumexp: bool,
    *rest: Any,
    **options: Any,
) -> tuple[Any, ...]:
    turned = [call("transpose", each, 1, 2) for each in (query, key, value)]
    batch, count, heads = (size_at(turned[0], dim) for dim in (0, 1, -2))
    found = _new((batch, count, heads, size_at(turned[2], -1)), query)
    sums = (batch, heads, _rounded_up(count, 32) if compute_log_sumexp else 0)
    logsumexp = _new(sums, query, _FLOAT)
    return (call("transpose", found, 1, 2), logsumexp, *_states(int64))


def _gradient_of_bias(bias: Tensor) -> Any:
    """In rows of whole vectors, of which it is the beginning."""
    last = size_at(bias, -1)
    sizes = [*bias._sizes[:-1], _rounded_up(last, 16)]
    return call("slice", _new(sizes, bias), -1, 0, last)


@body(_META + "meta__scaled_dot_product_efficient_backward")
def meta__scaled_dot_product_efficient_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    philox_seed: Tensor,
    philox_offset: Tensor,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[Any, ...]:
    batch, heads = size_at(query, 0), size_at(query, 1)
    heads_of = [size_at(each, 1) if _IS_OF_OWN_HEADS else heads for each in (query, key, value)]
    count, size, size_of_values = size_at(query, 2), size_at(query, 3), size_at(value, 3)
    keys = size_at(key, 2)
    shapes = ((count, size, query), (keys, size, key), (keys, size_of_values, value))
    made = [
        call("empty_permuted", [batch, own, rows, columns], [0, 2, 1, 3], TensorOptions.of(like))
        for own, (rows, columns, like) in zip(heads_of, shapes, strict=True)
    ]
    is_wanted = attn_bias is not None and grad_input_mask[3]
    return (*made, _gradient_of_bias(attn_bias) if is_wanted and attn_bias is not None else None)


@body(_META + "meta__efficient_attention_forward")
def meta__efficient_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    cu_seqlens_q: Tensor | None,
    cu_seqlens_k: Tensor | None,
    max_seqlen_q: int | None,
    max_seqlen_k: int | None,
    dropout_p: float,
    custom_mask_type: int,
    compute_log_sumexp: bool = False,
    **options: Any,
) -> tuple[Any, ...]:
    batch, count = size_at(query, 0), size_at(query, 1)
    keys, heads = size_at(key, 1), size_at(query, -2)
    found = _new((batch, count, heads, size_at(value, -1)), query)
    rows, longest = batch, count
    if cu_seqlens_q is not None:
        rows = size_at(cu_seqlens_q, 0) - 1
        if max_seqlen_q is None:
            raise assertion(_NO_LENGTH)
        longest = max_seqlen_q
    sums = (rows, heads, _rounded_up(longest, 32) if compute_log_sumexp else 0)
    logsumexp = _new(sums, query, _FLOAT)
    longest_keys = keys if max_seqlen_k is None else max_seqlen_k
    return (found, logsumexp, *_states(int64), longest, longest_keys)


def _check_shared(query: Tensor, key: Tensor, value: Tensor) -> None:
    """RuntimeError for gradients that do not fit in one tensor, which is made for the queries'."""
    compared = [
        (1, "seqlen", (key,)),
        (3, "embedding dim", (key, value) if _SHARES_WITH_VALUES else (key,)),
        *([(2, "num heads", (key,))] if _SHARES_HEADS else []),
    ]
    for dim, what, others in compared:
        # `tuple`, whose own IndexError it is
        size = tuple(query._sizes)[dim]
        if any(tuple(each._sizes)[dim] != size for each in others):
            raise RuntimeError(f"{what} must match for `shared_storage_dqdkdv")


def _check_options(options: Container[str]) -> None:
    """TypeError for those of a function that has no parameter for the output: all arguments
    behind that are taken for their neighbours, and the last one for the scale."""
    for name, wrong in (
        ("scale", "multiple values for argument"),
        ("window_size", "an unexpected keyword argument"),
    ):
        if name in options:
            raise TypeError(f"meta__efficient_attention_backward() got {wrong} '{name}'")


@body(_META + "meta__efficient_attention_backward")
def meta__efficient_attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    *rest: Any,
    shared_storage_dqdkdv: bool = False,
    **options: Any,
) -> tuple[Any, ...]:
    if not _HANDS_OPTIONS_ON:
        _check_options(options)
    if shared_storage_dqdkdv:
        _check_shared(query, key, value)
        chunk = _new((*query._sizes[:-2], 3, *query._sizes[-2:]), query)
        grads = [call("select", chunk, -3, place) for place in range(3)]
    else:
        grads = [_like(each) for each in (query, key, value)]
    none = new_tensor((), get_default_dtype(), query._device)
    return (*grads, none if bias is None else _gradient_of_bias(bias))


@body(_META + "meta__scaled_dot_product_cudnn_attention")
def meta__scaled_dot_product_cudnn_attention(
    query: Tensor, key: Tensor, value: Tensor, *rest: Any, **options: Any
) -> tuple[Any, ...]:
    batch, heads, count = (size_at(query, dim) for dim in range(3))
    keys = size_at(key, 2)
    found = _with_matching_layout(query, (batch, heads, count, size_at(value, -1)))
    column = (1,) if HABITS["sums of cuDNN's attention on meta are columns"] else ()
    logsumexp = _new((batch, heads, count, *column), query, _FLOAT)
    return (found, logsumexp, None, None, count, keys, *_states(int64), None)


def _check_lengths(keys: int, value: Tensor, attn_bias: Tensor | None) -> None:
    """RuntimeError for other values, and columns of a bias, than one for each key."""
    values = size_at(value, -2)
    if keys != values:
        raise RuntimeError(
            f"key sequence length ({keys}) must match value sequence length ({values})"
        )
    columns = 1 if attn_bias is None else size_at(attn_bias, -1)
    if columns not in (1, keys):
        raise RuntimeError(
            f"attn_bias last dimension must match S_KV ({keys}) or be 1 for broadcasting, but got "
            f"{columns}"
        )


@body(_META + "meta__scaled_dot_product_fused_attention_overrideable")
def meta__scaled_dot_product_fused_attention_overrideable(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    *rest: Any,
    **options: Any,
) -> tuple[Any, ...]:
    """What a backend of somebody's own may be expected to answer."""
    if not HABITS["fused attention on meta may have no batch"]:
        sizes = [size_at(query, dim) for dim in range(3)]
        keys = size_at(key, 2)
        found = _with_matching_layout(query, (*sizes, size_at(value, -1)))
        logsumexp = _new(sizes, query, _FLOAT)
        return (found, logsumexp, None, None, sizes[2], keys, *_states(int64), None)
    if len(query._sizes) not in (3, 4):
        raise RuntimeError("query must be 3D or 4D")
    *outer, heads, count, _ = query._sizes
    keys = size_at(key, -2)
    width = size_at(value, -1)
    if _COMPARES_LENGTHS:
        _check_lengths(keys, value, attn_bias)
    found = _with_matching_layout(query, (*query._sizes[:-1], width))
    logsumexp = _new((*(outer or [1]), heads, count), query, _FLOAT)
    return (found, logsumexp, None, None, count, keys, *_states(int64), None)


@body(_META + "meta__scaled_dot_product_fused_attention_overrideable_backward")
def meta__scaled_dot_product_fused_attention_overrideable_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    *rest: Any,
    **options: Any,
) -> tuple[Any, ...]:
    of_bias = None if attn_bias is None else _like(attn_bias)
    return _like(query), _like(key), _like(value), of_bias


@body(_META + "meta__scaled_dot_product_attention_math_for_mps")
def meta__scaled_dot_product_attention_math_for_mps(
    query: Tensor, key: Tensor, value: Tensor, *rest: Any, **options: Any
) -> tuple[Any, Any]:
    """Batches of batches are one, and so is none."""
    if _BROADCASTS:
        batches = broadcast_shapes(*(each._sizes[:-3] for each in (query, key, value)))
        sizes = [*batches, *query._sizes[-3:]]
        if not sizes:  # each is an argument of its own
            raise TypeError('expand() missing 1 required positional arguments: "size"')
        query = call("expand", query, sizes)
    rank = len(query._sizes)
    given = [_of_one_batch(each) for each in (query, key, value)]
    if not HABITS["attention for MPS on meta is as wide as its values"]:
        return _of_few_queries(query, given[0], given[1])
    (batch, heads, count, _), _, (_, _, keys, size) = (tuple(each._sizes) for each in given)
    found, shares = (_new((batch, heads, count, columns), query) for columns in (size, keys))
    if rank == 3:
        return call("squeeze", found, 0), call("squeeze", shares, 0)
    if rank > 4:
        outer = query._sizes[:-3]
        one, two = (call("view", each, [*outer, *each._sizes[1:]]) for each in (found, shares))
        return one, two
    return found, shares


def _of_few_queries(query: Tensor, one: Tensor, key: Tensor) -> tuple[Any, Any]:
    """As the kernels of few queries have it: in passes over many keys, or at once."""
    batch, heads, count, size = one._sizes
    _, of_keys, keys, _ = key._sizes
    found = _new(one._sizes, query)
    if keys >= 1024 or (of_keys < count and keys >= 4096):
        return found, _new((batch, heads, count, 32, size), query)
    shares = _new((batch, heads, count, keys), query)
    rank = len(query._sizes)
    if rank == 4:
        return found, shares
    found = call("view_as", found, query)
    if rank == 3:
        return found, call("squeeze", shares, 0)
    raise TypeError('can only concatenate list (not "torch.Size") to list')


def _of_one_batch(tensor: Tensor) -> Any:
    rank = len(tensor._sizes)
    if rank == 3:
        return call("unsqueeze", tensor, 0)
    if rank <= 4:
        return tensor
    sizes = [prod(tensor._sizes[:-3]), *tensor._sizes[-3:]]
    # of batches that were expanded there is no view
    return call("reshape" if _BROADCASTS else "view", tensor, sizes)


# --- whole layers -------------------------------------------------------------------------------


@body(_META + "native_multi_head_attention_fake")
def native_multi_head_attention_fake(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Any, Any]:
    if not numel(query._sizes):
        return _new(query._sizes, query), _new((0,), query)
    batch, count = size_at(query, 0), size_at(query, 1)
    output = _new((batch, count, size_at(proj_weight, 0)), query)
    heads = () if average_attn_weights else (num_head,)
    return output, _new((batch, *heads, count, count) if need_weights else (0,), query)


@body(_META + "meta__transformer_encoder_layer_fwd")
def meta__transformer_encoder_layer_fwd(src: Tensor, *rest: Any, **options: Any) -> Any:
    return _like(src) if numel(src._sizes) else call("clone", src)
