"""Modules of losses.

Mirrors ``torch/nn/modules/loss.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn._reduction import chosen
from mindtorch_v2.nn.modules.module import Module

__all__ = ["CrossEntropyLoss", "L1Loss", "MSELoss", "NLLLoss"]


class _Loss(Module):
    """``reduction``: what becomes of the losses of a batch."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = chosen(size_average, reduce, reduction)


class MSELoss(_Loss):
    def forward(self, input: Any, target: Any) -> Any:
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    def forward(self, input: Any, target: Any) -> Any:
        return functional.l1_loss(input, target, reduction=self.reduction)


class _WeightedLoss(_Loss):
    """``weight`` has one number for each class; rows labelled ``ignore_index`` do not count."""

    weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index


class NLLLoss(_WeightedLoss):
    """Of the logarithms of shares."""

    def forward(self, input: Any, target: Any) -> Any:
        return functional.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class CrossEntropyLoss(_WeightedLoss):
    """The same of scores that are no logarithms of shares yet."""

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
