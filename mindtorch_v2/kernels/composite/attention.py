"""``scaled_dot_product_attention``: which way it goes, and the way that is made of operators.

Mirrors ``aten/src/ATen/native/transformers/attention.cpp`` and ``sdp_utils_cpp.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call, has_operator
from mindtorch_v2.autograd.operators import add, mul
from mindtorch_v2.kernels.cpu.attention import calculate_scale
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import TYPE_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_BOOL: Final = DTYPES["bool"]
_FLOAT: Final = DTYPES["float32"]
_MATH: Final = 0
_FLASH: Final = 1
"""``SDPBackend``."""

_FUSED: Final = OperatorHandle("aten::_scaled_dot_product_flash_attention_for_cpu")
_OF_OPERATORS: Final = OperatorHandle("aten::_scaled_dot_product_attention_math")

_FUSES_GROUPS: Final = HABITS["attention of groups of heads is fused"]
_FILLS_ITS_MASK: Final = HABITS["attention fills its mask"]
_IN_FLOATS: Final = HABITS["attention of halves is in floats"]
_OF_NOTHING: Final = HABITS["attention to nothing is zero"]
_OF_NO_FEATURES: Final = HABITS["attention by no features is zero"]
_IS_MASKED_ONCE: Final = HABITS["attention that is causal takes no mask"]
_IS_OF_ONE: Final = HABITS["attention without a batch is attention of one"]


@kernel("aten::_safe_softmax", key="CompositeExplicitAutograd")
def _safe_softmax(self: Tensor, dim: int, dtype: int | None) -> Any:
    """Zeros where all is masked out, of which the shares are no numbers."""
    shares = call("softmax", self, dim, dtype)
    is_masked = call("all", call("isneginf", self), dim, True)
    zero = call("scalar_tensor", 0.0, dtype=shares._dtype, device=shares._device)
    return call("where", is_masked, zero, shares, out=shares)


# --- which way ----------------------------------------------------------------------------------


@kernel("aten::scaled_dot_product_attention", key=_IMPLICIT)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool = False,
) -> Any:
    _validate(query, key, value, attn_mask, is_causal=is_causal)
    options = (dropout_p, is_causal, scale, enable_gqa)
    if not (_IS_OF_ONE and all(len(each._sizes) == 3 for each in (query, key, value))):
        return _attended(query, key, value, attn_mask, *options)
    one, two, three = (call("unsqueeze", each, 0) for each in (query, key, value))
    mask: Any = attn_mask
    while mask is not None and len(mask._sizes) < 4:
        mask = call("unsqueeze", mask, 0)
    return call("squeeze", _attended(one, two, three, mask, *options), 0)


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    sizes = [*query._sizes[:-1], value._sizes[-1]]
    is_of_nothing = _OF_NOTHING and not (numel(sizes) and key._sizes[-2])
    if is_of_nothing or (_OF_NO_FEATURES and not query._sizes[-1]):
        return _nothing(sizes, query, key, value)
    choice = _MATH
    if query._device.type == "cpu":
        choice = _choice(query, key, value, attn_mask, dropout_p, enable_gqa)
    mask = _additive(attn_mask, query._dtype)
    if choice == _FLASH:
        options = {"attn_mask": mask, "scale": scale}
        return _FUSED(query, key, value, dropout_p, is_causal, **options)[0]
    rest = {"scale": scale, **({"enable_gqa": enable_gqa} if _KNOWS_GROUPS else {})}
    return _OF_OPERATORS(query, key, value, mask, dropout_p, is_causal, None, **rest)[0]


def _validate(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, *, is_causal: bool
) -> None:
    named = {"query": query, "key": key, "value": value}
    expected = "Expected query, key, and value to"
    if len({each._dtype for each in named.values()}) > 1:
        found = {f"{name}.dtype": TYPE_NAMES[each._dtype] for name, each in named.items()}
        raise RuntimeError(f"{expected} have the same dtype, but got {_listed(found)} instead.")
    if len({str(each._device) for each in named.values()}) > 1:
        found = {f"{name}.device": str(each._device) for name, each in named.items()}
        raise RuntimeError(
            f"{expected} have the same device type, but got {_listed(found)} instead."
        )
    if any(len(each._sizes) < 2 for each in named.values()):
        found = {f"{name}.dim": str(len(each._sizes)) for name, each in named.items()}
        raise RuntimeError(
            f"{expected} all be  at least 2 dimensional, but got {_listed(found)} instead."
        )
    if attn_mask is not None and is_causal and _IS_MASKED_ONCE:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if attn_mask is not None and attn_mask._dtype not in (_BOOL, _FLOAT, query._dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {TYPE_NAMES[attn_mask._dtype]} and  query.dtype: "
            f"{TYPE_NAMES[query._dtype]} instead."
        )


def _listed(found: dict[str, str]) -> str:
    first, second, third = (f"{name}: {text}" for name, text in found.items())
    return f"{first} {second} and {third}"


def _nothing(sizes: list[int], *tensors: Tensor) -> Any:
    """Zeros that all three have a part in."""
    zeros = call("zeros", sizes, TensorOptions.of(tensors[0]))
    value, key, query = (call("sum", each) for each in reversed(tensors))
    return add(zeros, mul(add(add(query, key), value), 0))


@kernel("aten::_fused_sdp_choice", key="CPU")
def _fused_sdp_choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool = False,
) -> int:
    return _choice(query, key, value, attn_mask, dropout_p, enable_gqa)


@kernel("aten::_fused_sdp_choice", key="Meta")
def _fused_sdp_choice_meta(query: Tensor, *rest: Any) -> int:
    return _MATH


def _choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    enable_gqa: bool,
) -> int:
    """``use_flash_attention_cpp``: whether all suits the one kernel."""
    tensors = (query, key, value)
    suits = (
        not dropout_p > 0
        and all(len(each._sizes) == 4 for each in tensors)
        and len({each._sizes[0] for each in tensors}) == 1
        and _heads_suit(query, key, value, enable_gqa)
        and (attn_mask is None or _mask_suits(attn_mask, query, key))
        and len({each._sizes[3] for each in tensors}) == 1
        and query._sizes[2] != 0
        and key._sizes[2] != 0
        and all(each._strides[3] == 1 for each in tensors)
        and (attn_mask is None or attn_mask._strides[-1] == 1)
        and query._dtype in FLOATING_TYPES | HALVES
        and query._dtype is key._dtype is value._dtype
    )
    return _FLASH if suits else _MATH


def _heads_suit(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> bool:
    asking, keys, values = (each._sizes[1] for each in (query, key, value))
    if enable_gqa and _FUSES_GROUPS:
        return keys == values and keys != 0 and asking % keys == 0
    return asking == keys == values


def _mask_suits(mask: Tensor, query: Tensor, key: Tensor) -> bool:
    if mask._requires_grad():
        return False
    if size_at(mask, -2) not in (query._sizes[2], 1) or size_at(mask, -1) not in (
        key._sizes[2],
        1,
    ):
        return False
    if len(mask._sizes) == 4:
        batch, heads = query._sizes[:2]
        return mask._sizes[0] in (1, batch) and mask._sizes[1] in (1, heads)
    return len(mask._sizes) == 2


def _additive(mask: Tensor | None, dtype: DType) -> Any:
    """``convert_boolean_attn_mask``: minus infinity is added to what is masked out."""
    if mask is None or mask._dtype is not _BOOL:
        return mask
    if _FILLS_ITS_MASK:
        added = call("zeros_like", mask, dtype=dtype)
        return call("masked_fill_", added, call("logical_not", mask), -math.inf)
    low = call("scalar_tensor", -math.inf, dtype=dtype, device=mask._device)
    return call("where", mask, 0.0, low)


# --- of other operators -------------------------------------------------------------------------


@kernel("aten::_scaled_dot_product_attention_math", key=_IMPLICIT)
def _scaled_dot_product_attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool = False,
) -> tuple[Any, Any]:
    dtype = query._dtype
    asked, keys, values = (_accumulated(each) for each in (query, key, value))
    is_negative = scale is not None and scale < 0
    factor = math.sqrt(calculate_scale(asked, abs(scale) if scale is not None else None))
    asked = mul(asked, -factor if is_negative else factor)
    mask = attn_mask
    if is_causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        sizes = [size_at(asked, -2), size_at(keys, -2)]
        ones = call("ones", sizes, TensorOptions.of(asked)._replace(dtype=_BOOL))
        mask = _additive(call("tril", ones), asked._dtype)
    if enable_gqa:
        keys, values = _for_each_head(asked, keys, values)
    scores = call("matmul", asked, mul(call("transpose", keys, -2, -1), factor))
    if mask is not None:
        in_place = not (is_tensor_subclass_like(scores) or is_tensor_subclass_like(mask))
        scores = call("add_" if in_place else "add", scores, mask)
    shares = call("_safe_softmax" if _IS_SAFE else "softmax", scores, -1)
    if dropout_p > 0:
        if dropout_mask is None:
            shares = call("dropout", shares, dropout_p, True)
        else:
            warn_once("_scaled_dot_product_attention_math", _FOR_TESTING)
            shares = call("masked_fill", shares, call("logical_not", dropout_mask), 0.0)
            values = mul(values, 1.0 / (1 - dropout_p))
    if not _IN_FLOATS:
        return call("matmul", shares, values), shares
    answered = call("to", shares, dtype)
    return call("to", call("matmul", shares, values), dtype), answered


_IS_SAFE: Final = has_operator("_safe_softmax")
_KNOWS_GROUPS: Final = "enable_gqa" in {
    each.name for each in _OF_OPERATORS.operator.schema.arguments
}
_FOR_TESTING: Final = "Dropout mask should only be used for testing purposes."


def _accumulated(tensor: Tensor) -> Any:
    return call("to", tensor, _FLOAT) if _IN_FLOATS and tensor._dtype in HALVES else tensor


def _for_each_head(query: Tensor, key: Tensor, value: Tensor) -> tuple[Any, Any]:
    """``pre_process_group_query_attention_input``: a group of heads shares keys and values."""
    asking, keys, values = (size_at(each, -3) for each in (query, key, value))
    if asking == keys == values:
        return key, value
    if not (keys and values) or asking % keys or asking % values:
        raise worded("attention of heads that do not divide those that ask")
    repeated = (
        call("repeat_interleave", each, asking // count, -3)
        for each, count in ((key, keys), (value, values))
    )
    one, two = repeated
    return one, two


# --- for backends of somebody's own -------------------------------------------------------------


_OVERRIDEABLE: Final = "_scaled_dot_product_fused_attention_overrideable"
_OF_PRIVATE_USE: Final = (
    "This is an operator for privateuse1 backends, please use TORCH_LIBRARY_IMPL to override this "
    "function "
)


@kernel(f"aten::{_OVERRIDEABLE}", key="CompositeExplicitAutograd")
def fused_attention_overrideable(*stack: Any) -> Any:
    raise NotImplementedError(f"{_OVERRIDEABLE} not implemented. {_OF_PRIVATE_USE}")


@kernel(f"aten::{_OVERRIDEABLE}_backward", key="CompositeExplicitAutograd")
def fused_attention_overrideable_backward(*stack: Any) -> Any:
    raise NotImplementedError(f"{_OVERRIDEABLE}_backward not implemented: {_OF_PRIVATE_USE}")
