"""What PyTorch registers on meta for attention, and its softmax of rows that are masked out.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``; a function is
named as it is there.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.cpu.attention import attention_of, logsumexp_of
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.promotion import to_opmath
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views import size_at
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


@body("torch._decomp.decompositions.safe_softmax")
def safe_softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Any:
    shares = call("softmax", self, dim, dtype)
    is_masked = call("all", call("eq", self, -math.inf), dim, True)
    return call("where", is_masked, call("zeros_like", shares), shares)


@body(_META + "meta__scaled_dot_product_flash_attention_for_cpu")
def meta__scaled_dot_product_flash_attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Any, Any]:
    for dim in range(4):
        size_at(query, dim)
    in_more = HABITS["attention on meta has sums of doubles"]
    dtype = to_opmath(query._dtype) if in_more else DTYPES["float32"]
    return attention_of(query), logsumexp_of(query, dtype)


@body(_META + "meta__scaled_dot_product_flash_attention_for_cpu_backward")
def meta__scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Any, Any, Any]:
    sizes = [list(each._sizes) for each in (query, key, value)]
    if not HABITS["attention of groups of heads is fused"]:
        batch, heads, _, size = sizes[0]
        count = size_at(key, 2)
        sizes[1:] = [[batch, heads, count, size]] * 2
    one, two, three = (
        _with_heads_inside(each, like)
        for each, like in zip(sizes, (query, key, value), strict=True)
    )
    return one, two, three


def _with_heads_inside(sizes: list[int], like: Tensor) -> Any:
    batch, heads, count, size = sizes
    made = new_tensor((batch, count, heads, size), like._dtype, like._device)
    return call("transpose", made, 1, 2)
