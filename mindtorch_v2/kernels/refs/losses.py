"""The reference functions of losses.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.losses import MEAN, NONE, SUM, apply_loss_reduction
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS as REFS_HABITS
from mindtorch_v2.kernels.refs.common import to_dtype, worded
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_ABS: Final = OperatorHandle("aten::abs")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EXP: Final = OperatorHandle("aten::exp")
_EXPAND: Final = OperatorHandle("aten::expand")
_GATHER: Final = OperatorHandle("aten::gather")
_LOG: Final = OperatorHandle("aten::log")
_LOG1P: Final = OperatorHandle("aten::log1p")
_LOG_SIGMOID: Final = OperatorHandle("aten::log_sigmoid")
_LT: Final = OperatorHandle("aten::lt.Scalar")
_MAXIMUM: Final = OperatorHandle("aten::maximum")
_MINIMUM: Final = OperatorHandle("aten::minimum")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_NEG: Final = OperatorHandle("aten::neg")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_RSUB: Final = OperatorHandle("aten::rsub.Scalar")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")
_WHERE: Final = OperatorHandle("aten::where.ScalarOther")
_WHERE_SELF: Final = OperatorHandle("aten::where.self")


def _number_like(tensor: Tensor) -> Tensor:
    """``new_full`` of no dimensions: on meta a number is nothing but a dtype."""
    return new_tensor((), tensor._dtype, tensor._device)


@body(_DECOMPOSED + "smooth_l1_loss")
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Any:
    distance = _ABS(_SUB(self, target))
    curve = _DIV(_MUL(_POW(distance, 2), 0.5), beta)
    loss = _WHERE_SELF(_LT(distance, beta), curve, _SUB(distance, 0.5 * beta))
    return apply_loss_reduction(loss, reduction)


@body("torch._refs.nn.functional.huber_loss")
def huber_loss(input: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Any:
    if reduction not in (NONE, MEAN, SUM):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return smooth_l1_loss(input, target, reduction)


@body(_DECOMPOSED + "mse_loss")
def mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Any:
    return apply_loss_reduction(_POW(_SUB(self, target), 2), reduction)


@body(_DECOMPOSED + "binary_cross_entropy")
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Any:
    least = _number_like(self)
    without = _MUL(_SUB(target, 1), _MAXIMUM(_LOG1P(_NEG(self)), least))
    loss = _SUB(without, _MUL(target, _MAXIMUM(_LOG(self), least)))
    if weight is not None:
        loss = _MUL(loss, weight)
    return apply_loss_reduction(loss, reduction)


@body(_DECOMPOSED + "binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Any:
    """Whose result has the target's dtype where the release casts it to that."""
    if pos_weight is None:
        loss = _SUB(_MUL(_RSUB(target, 1), self), _LOG_SIGMOID(self))
    else:
        log_weight = _ADD(_MUL(_SUB(pos_weight, 1), target), 1)
        loss = _SUB(_MUL(_RSUB(target, 1), self), _MUL(log_weight, _LOG_SIGMOID(self)))
    if weight is not None:
        loss = _MUL(loss, weight)
    if REFS_HABITS["a loss of logits has the target's dtype"]:
        loss = to_dtype(loss, target._dtype)
    return apply_loss_reduction(loss, reduction)


@body(_DECOMPOSED + "log_sigmoid_forward")
def log_sigmoid_forward(self: Tensor) -> tuple[Any, Any]:
    buffer = _EXP(_NEG(_ABS(self)))
    return _SUB(_MINIMUM(_number_like(self), self), _LOG1P(buffer)), buffer


@body(_DECOMPOSED + "_prelu_kernel")
def prelu_kernel(self: Tensor, weight: Tensor) -> Any:
    return _MUL(weight, self)


@body(_DECOMPOSED + "nll_loss_forward")
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Any, Any]:
    rank, labels = len(self._sizes), len(target._sizes)
    counts = HABITS["functions on meta count dimensions"]
    if not 0 < rank <= 2:
        raise AssertionError("input tensor should be 1D or 2D" + f", got {rank}D" * counts)
    if labels > 1:
        raise AssertionError(
            "0D or 1D target tensor expected, multi-target not supported"
            + f", got {labels}D" * counts
        )
    if rank != 1 or labels:
        if not labels:
            raise IndexError("tuple index out of range")
        if self._sizes[0] != target._sizes[0]:
            sizes = {"torch.Size([2, 3])": str(self._sizes), "torch.Size([5])": str(target._sizes)}
            raise worded("more labels than rows", **sizes)
    classes = self._sizes[-1]
    if weight is not None and (len(weight._sizes) != 1 or numel(weight._sizes) != classes):
        raise AssertionError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {weight._sizes}"
        )
    return nll_loss2d_forward(self, target, weight, reduction, ignore_index)


@body(_DECOMPOSED + "nll_loss2d_forward")
def nll_loss2d_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Any, Any]:
    """``_nll_loss_forward``, which leaves it to its operators to look at shapes."""
    rank = len(self._sizes)
    dim = 0 if rank < 2 else 1
    if weight is not None:
        if rank > 1:
            weight = _VIEW(weight, [weight._sizes[0] if at == dim else 1 for at in range(rank)])
        self = _MUL(self, weight)
    is_counted = _NE(target, ignore_index)
    labels = _UNSQUEEZE(_WHERE(is_counted, target, 0), dim)
    loss = _NEG(_SQUEEZE(_GATHER(self, dim, labels), dim))
    loss = _WHERE(is_counted, loss, 0)
    if reduction == NONE and rank > 1:
        return loss, _number_like(self)
    if weight is None:
        total = to_dtype(_SUM(is_counted), self._dtype)
    else:
        chosen = _SQUEEZE(_GATHER(_EXPAND(weight, self._sizes), dim, labels), dim)
        total = _SUM(_WHERE(is_counted, chosen, 0))
    if reduction in (MEAN, SUM):  # of any other number it stays as it is
        loss = _SUM(loss)
    return (_DIV(loss, total) if reduction == MEAN else loss), total
