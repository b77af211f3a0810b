"""The reference functions of losses.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.losses import MEAN, NONE, apply_loss_reduction
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import worded
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_ABS: Final = OperatorHandle("aten::abs")
_EXP: Final = OperatorHandle("aten::exp")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_WHERE: Final = OperatorHandle("aten::where.ScalarOther")
_GATHER: Final = OperatorHandle("aten::gather")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


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


@body(_DECOMPOSED + "nll_loss_forward")
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
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
    kept = _WHERE(_NE(target, ignore_index), target, 0)
    _GATHER(self, rank - 1, _UNSQUEEZE(kept, rank - 1))
    shape = self._sizes[:1] if reduction == NONE and rank > 1 else ()
    return (
        new_tensor(shape, self._dtype, self._device),
        new_tensor((), self._dtype, self._device),
    )
