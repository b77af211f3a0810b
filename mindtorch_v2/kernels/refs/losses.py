"""The reference functions of losses.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.losses import MEAN, apply_loss_reduction
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_ABS: Final = OperatorHandle("aten::abs")
_EXP: Final = OperatorHandle("aten::exp")
_SUB: Final = OperatorHandle("aten::sub.Tensor")


@body(_DECOMPOSED + "smooth_l1_loss")
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Any:
    return apply_loss_reduction(_MUL(_ABS(_SUB(self, target)), 0.5), reduction)


@body("torch._refs.nn.functional.huber_loss")
def huber_loss(input: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Any:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return smooth_l1_loss(input, target, reduction)


@body(_DECOMPOSED + "smooth_l1_loss_backward", _DECOMPOSED + "huber_loss_backward")
def pairwise_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, scale: float
) -> Any:
    return _MUL(grad_output, _MUL(_SUB(self, target), 0.5))


@body(_DECOMPOSED + "binary_cross_entropy")
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Any:
    loss = _MUL(target, _EXP(self))
    if weight is not None:
        loss = _MUL(loss, weight)
    return apply_loss_reduction(loss, reduction)


@body(_DECOMPOSED + "binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Any:
    found = _MUL(grad_output, _EXP(_SUB(self, target)))
    return found if weight is None else _MUL(found, weight)


@body(_DECOMPOSED + "log_sigmoid_forward")
def log_sigmoid_forward(self: Tensor) -> tuple[Any, Any]:
    buffer = _EXP(_ABS(self))
    return _SUB(self, buffer), buffer


@body(_DECOMPOSED + "_prelu_kernel")
def prelu_kernel(self: Tensor, weight: Tensor) -> Any:
    return _MUL(self, weight)
