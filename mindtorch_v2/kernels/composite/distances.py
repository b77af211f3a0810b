"""Distances that are made of other operators.

Mirrors ``aten/src/ATen/native/Distance.cpp``, and ``dist`` of ``ReduceOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.autograd.operators import add, div, mul, sub
from mindtorch_v2.kernels.cpu.distances import cdist_impl, check_columns, is_by_product
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import Number, result_type
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_BOUND_IS_CHECKED: Final = HABITS["lengths of a cosine are bounded by no negative number"]
_BOUND_IS_A_TENSOR: Final = HABITS["lengths of a cosine are bounded by a tensor"]
_CDIST: Final = OperatorHandle("aten::_cdist_forward")
_PDIST: Final = OperatorHandle("aten::_pdist_forward")


@kernel("aten::pairwise_distance", key=_IMPLICIT)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Any:
    innermost = max(len(x1._sizes), len(x2._sizes)) - 1
    return call("norm", add(sub(x1, x2), eps), p, [innermost], keepdim)


@kernel("aten::dist", key="CompositeExplicitAutograd")
def dist(self: Tensor, other: Tensor, p: Number) -> Any:
    return call("norm", sub(self, other), p)


@kernel("aten::pdist", key=_IMPLICIT)
def pdist(self: Tensor, p: float) -> Any:
    if len(self._sizes) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(self._sizes)}D")
    if not self._dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return _PDIST(call("contiguous", self), p)


def _expanded(one: Tensor, two: Tensor) -> tuple[Any, Any]:
    """``expand_outplace`` of two: both unless they have one shape, the second one first."""
    if one._sizes == two._sizes:
        return one, two
    sizes = list(infer_size(one._sizes, two._sizes))
    second = call("expand", two, sizes)
    return call("expand", one, sizes), second


@kernel("aten::cosine_similarity", key=_IMPLICIT)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Any:
    dtype = result_type((x1, x2))
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {CPP_NAMES[dtype]}"
        )
    if _BOUND_IS_CHECKED and not eps >= 0:  # NaN neither
        raise RuntimeError(f"eps must be non-negative, got: {streamed(eps)}")
    whole = [call("to", x, dtype) if is_integral(x._dtype) else x for x in (x1, x2)]
    vectors = _expanded(*whole)
    lengths = [call("clone", call("linalg_vector_norm", x, 2, [dim], True)) for x in vectors]
    with no_grad():  # what is bounded below moves nothing
        least: Any = eps
        if _BOUND_IS_A_TENSOR:
            of_lengths = TensorOptions.of(lengths[0])
            least = call("scalar_tensor", eps, dtype=of_lengths.dtype, device=of_lengths.device)
        for length in lengths:
            call("clamp_min_", length, least)
    two, one = (div(vectors[place], lengths[place]) for place in (1, 0))
    return call("sum", mul(one, two), [dim])


# --- of each row from each --------------------------------------------------------------------


@kernel("aten::cdist", key=_IMPLICIT)
def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Any:
    check_columns(x1, x2)
    has_elements = numel(x1._sizes) and numel(x2._sizes)
    if has_elements and is_by_product(x1, x2, p, compute_mode or 0):
        return cdist_impl(x1, x2, p, compute_mode or 0)
    return _CDIST(x1, x2, p, compute_mode)


@kernel("aten::_euclidean_dist", key="CompositeExplicitAutograd")
def _euclidean_dist(x1: Tensor, x2: Tensor) -> Any:
    return call("sqrt_", call("clamp_min_", squared_distances(x1, x2), 0))


def squared_distances(x1: Tensor, x2: Tensor) -> Any:
    """By ``|x|**2 - 2 * x @ y + |y|**2``, one product of what has two more columns."""
    squares = [call("sum", call("pow", x, 2), [-1], True) for x in (x1, x2)]
    ones = [call("ones_like", each, memory_format=_CONTIGUOUS) for each in squares]
    left = call("cat", [call("mul", x1, -2), squares[0], ones[0]], -1)
    right = call("cat", [x2, ones[1], squares[1]], -1)
    return call("matmul", left, call("mT", right))
