"""The reference functions of losses that keep a margin.

Mirrors ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.operators import add, mul, sub
from mindtorch_v2.kernels.cpu.losses import MEAN, SUM, apply_loss_reduction
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import to_dtype
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_AMIN: Final = OperatorHandle("aten::amin")
_ANY: Final = OperatorHandle("aten::any.dim")
_ARANGE: Final = OperatorHandle("aten::arange")
_AT_LEAST_1D: Final = OperatorHandle("aten::atleast_1d")
_AT_LEAST_2D: Final = OperatorHandle("aten::atleast_2d")
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_DIV: Final = OperatorHandle("aten::div.Scalar")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EQ_TENSOR: Final = OperatorHandle("aten::eq.Tensor")
_EXP: Final = OperatorHandle("aten::exp")
_GATHER: Final = OperatorHandle("aten::gather")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_LOG1P: Final = OperatorHandle("aten::log1p")
_LT: Final = OperatorHandle("aten::lt.Tensor")
_MEAN: Final = OperatorHandle("aten::mean")
_MEAN_OVER: Final = OperatorHandle("aten::mean.dim")
_NE: Final = OperatorHandle("aten::ne.Tensor")
_NEG: Final = OperatorHandle("aten::neg")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RSUB: Final = OperatorHandle("aten::rsub.Scalar")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_SUM: Final = OperatorHandle("aten::sum")
_SUM_OVER: Final = OperatorHandle("aten::sum.dim_IntList")
_T: Final = OperatorHandle("aten::numpy_T")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_WHERE: Final = OperatorHandle("aten::where.ScalarOther")
_WHERE_NUMBER: Final = OperatorHandle("aten::where.ScalarSelf")


@body(_DECOMPOSED + "soft_margin_loss")
def soft_margin_loss(input: Tensor, target: Tensor, reduction: int = MEAN) -> Any:
    return apply_loss_reduction(_LOG1P(_EXP(mul(_NEG(input), target))), reduction)


@body(_DECOMPOSED + "soft_margin_loss_backward")
def soft_margin_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int = MEAN
) -> Any:
    turned = mul(target, grad_output)
    grad = mul(turned, sub(_SIGMOID(mul(target, self)), 1))
    return _DIV(grad, numel(self._sizes)) if reduction == MEAN else grad


def _check_matrix(is_one: bool, input: Tensor) -> None:
    if not is_one:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{input._sizes}"
        )


@body(_DECOMPOSED + "multi_margin_loss")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: Number = 1,
    margin: Number = 1,
    weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Any:
    input, target = _AT_LEAST_2D(input), _AT_LEAST_1D(target)
    count, classes = input._sizes[:2]
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    _check_matrix(len(input._sizes) == 2 and classes != 0, input)
    if weight is not None:
        weight = _AT_LEAST_1D(weight)
    for name, given, wanted in (("target", target, count), ("weight", weight, classes)):
        if given is not None and (len(given._sizes) != 1 or numel(given._sizes) != wanted):
            raise RuntimeError(
                f"inconsistent {name} size, expected {wanted} but got {given._sizes}"
            )
    labels = _UNSQUEEZE(target, 1)
    excess = add(_RSUB(_GATHER(input, 1, labels), margin), input)
    excess = _CLAMP_MIN(excess, 0)
    losses = excess if p == 1 else mul(excess, excess)
    if weight is not None:
        losses = mul(losses, _INDEX(weight, [labels]))
    places = _ARANGE(classes, device=input._device)
    losses = _WHERE(_NE(places, labels), losses, 0)
    if reduction == MEAN:
        return _MEAN(losses)
    if reduction == SUM:
        return _DIV(_SUM(losses), losses._sizes[1])
    return _MEAN_OVER(losses, [1])


@body(_DECOMPOSED + "multilabel_margin_loss_forward")
def multilabel_margin_loss_forward(
    input: Tensor, target: Tensor, reduction: int
) -> tuple[Any, Any]:
    given, sizes = input, target._sizes
    input, target = _AT_LEAST_2D(input), _AT_LEAST_2D(target)
    classes = input._sizes[1]
    _check_matrix(len(given._sizes) <= 2 and classes != 0, given)
    if len(sizes) > 2 or sizes != given._sizes:
        raise RuntimeError(f"inconsistent target size: {sizes} for input of size: {given._sizes}")
    places = _ARANGE(classes, device=target._device)
    end = _AMIN(_WHERE(_EQ(target, -1), places, classes), [-1], True)
    is_kept = _LT(places, end)
    right = _GATHER(input, -1, _WHERE(is_kept, target, 0))
    labels = _UNSQUEEZE(_WHERE(is_kept, target, -1), -1)
    is_target = _ANY(_EQ_TENSOR(places, labels), 1)
    pairs = add(_RSUB(_UNSQUEEZE(_T(right), -1), 1.0), input)
    pairs = _DIV(_CLAMP_MIN(pairs, 0), classes)
    pairs = _WHERE_NUMBER(is_target, 0, pairs)
    loss = _SUM(pairs) if reduction == SUM else _SUM_OVER(pairs, [0, -1])
    if reduction == MEAN:
        loss = _MEAN(loss)
    return loss, _RESHAPE(to_dtype(is_target, input._dtype), sizes)
