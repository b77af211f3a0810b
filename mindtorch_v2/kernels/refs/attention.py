"""What PyTorch registers on meta for attention, and its softmax of rows that are masked out.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``; a function is
named as it is there.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.kernels.cpu.attention import attention_of, logsumexp_of
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
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
        batch, heads, size, rows = (size_at(query, dim) for dim in (0, 1, 3, 2))
        sizes = [[batch, heads, rows, size], *[[batch, heads, size_at(key, 2), size]] * 2]
    one, two, three = (
        call("empty_permuted", each, [0, 2, 1, 3], TensorOptions.of(like))
        for each, like in zip(sizes, (query, key, value), strict=True)
    )
    return one, two, three
