"""Attention by several heads at once, in the projections of each.

Mirrors ``multi_head_attention_forward`` of ``torch/nn/functional.py`` and the functions that it is
made of.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.nn._overriding import overridable
from mindtorch_v2.tensor.dtype import DTYPES

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]
_BOOL: Final = DTYPES["bool"]

_linear: Final = _NN["linear"]
_pad: Final = _NN["pad"]


@overridable(
    relevant=(
        *("query", "key", "value", "in_proj_weight", "in_proj_bias", "bias_k", "bias_v"),
        *("out_proj_weight", "out_proj_bias"),
    )
)
def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """What comes out, and the weights that values had, if they are needed."""
    is_batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    count, batch, size = query.shape
    keys, _, _ = key.shape
    key_padding_mask, attn_mask, is_causal = _additive(
        key_padding_mask, attn_mask, query.dtype, is_causal, need_weights
    )
    _require(
        size == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}",
    )
    head_size = size // num_heads
    _require(
        head_size * num_heads == size, f"embed_dim {size} not divisible by num_heads {num_heads}"
    )
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _by_separate_weights(query, key, value, weights, in_proj_bias)
    else:
        _require(
            key.shape == value.shape,
            f"key shape {key.shape} does not match value shape {value.shape}",
        )
        _require(
            in_proj_weight is not None,
            "use_separate_proj_weight is False but in_proj_weight is None",
        )
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _shaped_mask(attn_mask, (count, keys), batch * num_heads)
    masks: Any = [attn_mask, key_padding_mask]
    if bias_k is not None and bias_v is not None:
        _require(static_k is None, "bias cannot be added to static key.")
        _require(static_v is None, "bias cannot be added to static value.")
        k = _TORCH["cat"]([k, bias_k.repeat(1, batch, 1)])
        v = _TORCH["cat"]([v, bias_v.repeat(1, batch, 1)])
        masks = _with_one_more_key(masks)
    else:
        tells = HABITS["attention tells which bias is missing"]
        _require(bias_k is None, "bias_k is set but bias_v is None" if tells else "")
        _require(bias_v is None, "bias_v is set but bias_k is None" if tells else "")

    heads = (batch * num_heads, head_size)
    q = q.view(count, *heads).transpose(0, 1)
    k = _of_heads("k", k, static_k, heads)
    v = _of_heads("v", v, static_v, heads)
    if add_zero_attn:
        k, v = (_with_zeros(each, heads) for each in (k, v))
        masks = _with_one_more_key(masks)
    keys = k.size(1)
    attn_mask, padding_mask = masks
    mask = _joined(attn_mask, padding_mask, (batch, num_heads, keys))
    if not training:
        dropout_p = 0.0
    shares: Any = None
    if need_weights:
        _require(
            not (is_causal and mask is None), "FIXME: is_causal not implemented for need_weights"
        )
        attended, shares = _attended(q, k, v, mask, dropout_p)
        rows = _in_rows(attended.transpose(0, 1), count * batch, size)
    else:
        if mask is not None and mask.size(0) == 1 and mask.dim() == 3:
            mask = mask.unsqueeze(0)
        elif mask is not None:
            mask = mask.view(batch, num_heads, -1, keys)
        q = q.view(batch, num_heads, count, head_size)
        k, v = (each.view(batch, num_heads, keys, head_size) for each in (k, v))
        attended = _NN["scaled_dot_product_attention"](q, k, v, mask, dropout_p, is_causal)
        rows = _in_rows(attended.permute(2, 0, 1, 3), batch * count, size)
    output = _linear(rows, out_proj_weight, out_proj_bias)
    output = output.view(count, batch, output.size(1))
    if shares is not None:
        shares = shares.view(batch, num_heads, count, keys)
        if average_attn_weights:
            shares = shares.mean(dim=1)
    if not is_batched:
        output = output.squeeze(1)
        shares = None if shares is None else shares.squeeze(0)
    return output, shares


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message) if message else AssertionError()


# --- what is given ----------------------------------------------------------------------------


def _is_batched(
    query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int
) -> bool:
    """``_mha_shape_check``."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
        )
    of_query = f"For {'' if rank == 3 else 'un'}batched ({rank}-D) `query`, expected"
    _require(
        key.dim() == rank and value.dim() == rank,
        f"{of_query} `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D "
        "tensors respectively",
    )
    if key_padding_mask is not None:
        found = key_padding_mask.dim()
        _require(
            found == rank - 1,
            f"{of_query} `key_padding_mask` to be `None` or {rank - 1}-D but found {found}-D "
            "tensor instead",
        )
    if attn_mask is not None:
        found = attn_mask.dim()
        _require(
            found in (2, 3),
            f"{of_query} `attn_mask` to be `None`, 2-D or 3-D but found {found}-D tensor instead",
        )
        if rank == 2 and found == 3:
            wanted = (num_heads, query.shape[0], key.shape[0])
            _require(
                attn_mask.shape == wanted,
                f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}",
            )
    return bool(rank == 3)


def _additive(
    key_padding_mask: Any, attn_mask: Any, dtype: Any, is_causal: bool, need_weights: bool
) -> tuple[Any, Any, bool]:
    """Both masks as numbers to add, and whether that is left to who attends."""
    other = None if attn_mask is None else attn_mask.dtype
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", dtype, other)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        return None, None, True
    attn_mask = _canonical_mask(attn_mask, "attn_mask", dtype)
    return key_padding_mask, attn_mask, is_causal and key_padding_mask is None


def _canonical_mask(mask: Any, name: str, dtype: Any, other: Any = None) -> Any:
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    _require(
        mask.dtype is _BOOL or is_float, f"only bool and floating types of {name} are supported"
    )
    if other is not None and mask.dtype is not other:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both "
            "instead.",
            stacklevel=2,
        )
    if is_float:
        return mask
    return _TORCH["zeros_like"](mask, dtype=dtype).masked_fill_(mask, -math.inf)


def _shaped_mask(mask: Any, sizes: tuple[int, int], heads: int) -> Any:
    if mask is None:
        return None
    wanted = {2: sizes, 3: (heads, *sizes)}.get(mask.dim())
    if wanted is None:
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
    if mask.shape != wanted:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_one_more_key(masks: Sequence[Any]) -> list[Any]:
    return [None if each is None else _pad(each, (0, 1)) for each in masks]


def _in_rows(attended: Any, *sizes: int) -> Any:
    """One row for each query; of what lies otherwise it is a copy."""
    if HABITS["attention reshapes its rows"]:
        return attended.reshape(*sizes)
    return attended.contiguous().view(*sizes)


def _joined(mask: Any, key_padding_mask: Any, sizes: tuple[int, int, int]) -> Any:
    """The sum of both masks."""
    if key_padding_mask is None:
        return mask
    batch, num_heads, keys = sizes
    if HABITS["attention tells a mask's sizes apart"]:
        for place, wanted in enumerate((batch, keys)):
            found = key_padding_mask.shape[place]
            _require(
                found == wanted,
                f"Expected key_padded_mask.shape[{place}] to be {wanted}, but got {found}",
            )
    else:
        _require(
            key_padding_mask.shape == (batch, keys),
            f"expecting key_padding_mask shape of {(batch, keys)}, but got "
            f"{key_padding_mask.shape}",
        )
    expanded = key_padding_mask.view(batch, 1, 1, keys).expand(-1, num_heads, -1, -1)
    of_heads = expanded.reshape(batch * num_heads, 1, keys)
    return of_heads if mask is None else mask + of_heads


# --- projections ------------------------------------------------------------------------------


def _in_projection_packed(q: Any, k: Any, v: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """As few products as there are different tensors among the three."""
    size = q.size(-1)
    if k is not v:
        weights = weight.chunk(3)
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        one, two, three = map(_linear, (q, k, v), weights, biases)
        return one, two, three
    if q is k:
        projected = _unpacked(_linear(q, weight, bias), 3, size)
        return projected[0], projected[1], projected[2]
    first, rest = weight.split([size, size * 2])
    first_bias, rest_bias = (None, None) if bias is None else bias.split([size, size * 2])
    asked = _linear(q, first, first_bias)
    projected = _unpacked(_linear(k, rest, rest_bias), 2, size)
    return asked, projected[0], projected[1]


def _unpacked(projected: Any, count: int, size: int) -> Any:
    turned = projected.unflatten(-1, (count, size)).unsqueeze(0).transpose(0, -2)
    return turned.squeeze(-2).contiguous()


def _by_separate_weights(
    query: Any, key: Any, value: Any, weights: Sequence[Any], bias: Any
) -> tuple[Any, Any, Any]:
    """``_in_projection``, and what is looked at before."""
    _require(
        key.shape[:2] == value.shape[:2],
        f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
    )
    for name, weight in zip("qkv", weights, strict=True):
        _require(
            weight is not None,
            f"use_separate_proj_weight is True but {name}_proj_weight is None",
        )
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    size, names, inputs = query.size(-1), ("query", "key", "value"), (query, key, value)
    for name, weight, each in zip(names, weights, inputs, strict=True):
        wanted = (size, each.size(-1))
        _require(
            weight.shape == wanted,
            f"expecting {name} weights shape of {wanted}, but got {weight.shape}",
        )
    for name, each in zip(names, biases, strict=False):
        if each is not None:
            _require(
                each.shape == (size,),
                f"expecting {name} bias shape of {(size,)}, but got {each.shape}",
            )
    one, two, three = map(_linear, inputs, weights, biases)
    return one, two, three


def _of_heads(name: str, projected: Any, static: Any, heads: tuple[int, int]) -> Any:
    """A head's part of each key or value, unless they are given as such."""
    if static is None:
        return projected.view(projected.shape[0], *heads).transpose(0, 1)
    for place, wanted in zip((0, 2), heads, strict=True):
        found = static.size(place)
        _require(
            found == wanted,
            f"expecting static_{name}.size({place}) of {wanted}, but got {found}",
        )
    return static


def _with_zeros(each: Any, heads: tuple[int, int]) -> Any:
    zeros = _TORCH["zeros"]((heads[0], 1, heads[1]), dtype=each.dtype, device=each.device)
    return _TORCH["cat"]([each, zeros], dim=1)


# --- with weights that are shown --------------------------------------------------------------


def _attended(q: Any, k: Any, v: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    from mindtorch_v2.nn.functional import dropout, softmax  # which has this function

    scaled = q * math.sqrt(1.0 / float(q.shape[2]))
    turned = k.transpose(-2, -1)
    if mask is None:
        scores = _TORCH["bmm"](scaled, turned)
    else:
        scores = _TORCH["baddbmm"](mask, scaled, turned)
    weights = softmax(scores, dim=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    return _TORCH["bmm"](weights, v), weights
