"""Distances and likenesses that are made of other operators.

Mirrors ``aten/src/ATen/native/Distance.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import add, div, mul, sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.broadcasting import infer_size
from mindtorch_v2.kernels.promotion import result_type
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"


@kernel("aten::pairwise_distance", key=_IMPLICIT)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Any:
    innermost = max(len(x1._sizes), len(x2._sizes)) - 1
    return call("norm", add(sub(x1, x2), eps), p, [innermost], keepdim)


@kernel("aten::cosine_similarity", key=_IMPLICIT)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Any:
    """The sum of products of vectors that are divided by their lengths, but for short ones."""
    dtype = result_type((x1, x2))
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {CPP_NAMES[dtype]}"
        )
    sizes = list(infer_size(tuple(x1._sizes), tuple(x2._sizes)))
    one, two = (_expanded(_of_floats(each, dtype), sizes) for each in (x1, x2))
    lengths = [
        call("clone", call("linalg_vector_norm", each, 2, [dim], True)) for each in (one, two)
    ]
    with tls.guarded(tls.AutoGradMode, False):
        for length in lengths:
            call("clamp_min_", length, eps)
    right = div(two, lengths[1])  # of two operands GCC computes the second one first
    return call("sum", mul(div(one, lengths[0]), right), [dim])


def _of_floats(tensor: Tensor, dtype: DType) -> Any:
    return call("to", tensor, dtype) if is_integral(tensor._dtype) else tensor


def _expanded(tensor: Any, sizes: list[int]) -> Any:
    return tensor if list(tensor._sizes) == sizes else call("expand", tensor, sizes)
