"""Losses that are made of other operators.

Mirrors ``aten/src/ATen/native/Loss.cpp``; of two operands GCC computes the second one first.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.operators import add, sub
from mindtorch_v2.kernels.cpu.losses import apply_loss_reduction
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADD_SCALAR: Final = OperatorHandle("aten::add.Scalar")
_ADD_SCALAR_: Final = OperatorHandle("aten::add_.Scalar")
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_CLAMP_MIN_: Final = OperatorHandle("aten::clamp_min_")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_DISTANCE: Final = OperatorHandle("aten::pairwise_distance")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EXP: Final = OperatorHandle("aten::exp")
_LE: Final = OperatorHandle("aten::le.Scalar")
_LOG: Final = OperatorHandle("aten::log")
_LOG_SIGMOID: Final = OperatorHandle("aten::log_sigmoid")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_MIN: Final = OperatorHandle("aten::min.other")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_SCALAR: Final = OperatorHandle("aten::mul.Scalar")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_NEG: Final = OperatorHandle("aten::neg")
_SQRT_: Final = OperatorHandle("aten::sqrt_")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUB_: Final = OperatorHandle("aten::sub_.Tensor")
_SUB_SCALAR: Final = OperatorHandle("aten::sub.Scalar")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_WHERE: Final = OperatorHandle("aten::where.self")
_XLOGY: Final = OperatorHandle("aten::xlogy.Tensor")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")

_EPSILON: Final = float(np.float32(1e-12))
"""What is added to a squared length."""


@kernel("aten::binary_cross_entropy_with_logits", keys=(_EXPLICIT, "Meta"))
def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Any:
    log_sigmoid = _LOG_SIGMOID(self)
    if pos_weight is not None:
        scale = _ADD_SCALAR_(_MUL(_SUB_SCALAR(pos_weight, 1), target), 1)
        _MUL_(log_sigmoid, scale)
    loss = _SUB_(_MUL_(sub(1, target), self), log_sigmoid)
    if weight is not None:
        _MUL_(loss, weight)
    return apply_loss_reduction(loss, reduction)


@kernel("aten::kl_div", key=_IMPLICIT)
def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Any:
    dtypes = (self._dtype, target._dtype)
    if any(dtype.is_complex for dtype in dtypes):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if any(map(is_integral, dtypes)):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        difference = _SUB(target, self)
        loss = _MUL(_EXP(target), difference)
    else:
        product = _MUL(target, self)
        loss = _SUB(_XLOGY(target, target), product)
    return apply_loss_reduction(loss, reduction)


@kernel("aten::hinge_embedding_loss", key=_IMPLICIT)
def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float, reduction: int) -> Any:
    zeros = _ZEROS_LIKE(self, memory_format=_CONTIGUOUS)
    rest = _CLAMP_MIN_(sub(margin, self), 0)
    of_margin = _WHERE(_NE(target, 1), rest, zeros)
    own = _WHERE(_NE(target, -1), self, zeros)
    return apply_loss_reduction(_ADD(of_margin, own), reduction)


@kernel("aten::margin_ranking_loss", key=_IMPLICIT)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Any:
    difference = _SUB(input1, input2)
    unclamped = _ADD_SCALAR(_MUL(_NEG(target), difference), margin)
    return apply_loss_reduction(_CLAMP_MIN_(unclamped, 0), reduction)


@kernel("aten::poisson_nll_loss", key=_IMPLICIT)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    if log_input:
        product = _MUL(target, input)
        loss = _SUB(_EXP(input), product)
    else:
        loss = _SUB(input, _MUL(target, _LOG(_ADD_SCALAR(input, eps))))
    if full:  # Stirling's approximation of the factorial
        half = _MUL_SCALAR(_LOG(_MUL_SCALAR(target, 2 * math.pi)), 0.5)
        term = _ADD(_SUB(_MUL(target, _LOG(target)), target), half)
        loss = _ADD_(loss, _MASKED_FILL(term, _LE(target, 1), 0))
    return apply_loss_reduction(loss, reduction)


# --- between vectors --------------------------------------------------------------------------


@kernel("aten::cosine_embedding_loss", key=_IMPLICIT)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Any:
    rank = len(target._sizes)
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if len(input1._sizes) != rank + 1 or len(input2._sizes) != rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
            f"{list(input1._sizes)} and {list(input2._sizes)}."
        )
    product = _SUM(_MUL(input1, input2), [rank])
    squares = [_ADD_SCALAR(_SUM(_MUL(each, each), [rank]), _EPSILON) for each in (input1, input2)]
    cosine = _DIV(product, _SQRT_(_MUL(*squares)))
    zeros = _ZEROS_LIKE(cosine, memory_format=_CONTIGUOUS)
    alike = sub(1, cosine)
    unlike = _CLAMP_MIN_(_SUB_SCALAR(cosine, margin), 0)
    of_alike = _WHERE(_EQ(target, 1), alike, zeros)
    of_unlike = _WHERE(_EQ(target, -1), unlike, zeros)
    return apply_loss_reduction(_ADD(of_alike, of_unlike), reduction)


@kernel("aten::triplet_margin_loss", key=_IMPLICIT)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Any:
    ranks = [len(each._sizes) for each in (anchor, positive, negative)]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative "
            f"{ranks[2]}D inputs"
        )
    near, far = (_DISTANCE(anchor, each, p, eps) for each in (positive, negative))
    if swap:
        far = _MIN(far, _DISTANCE(positive, negative, p, eps))
    return apply_loss_reduction(_CLAMP_MIN(_SUB(add(margin, near), far), 0), reduction)
