"""Adam, and Adam whose weight decay stands apart from the gradient.

Mirrors ``torch/optim/adam.py`` and ``adamw.py``; without AMSGrad.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.optim.optimizer import Group, Optimizer
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.factories import tensor, zeros_like

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Steps by running means of the gradient and of its square."""

    _decouples_weight_decay = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for place, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {place}: {beta}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if amsgrad:
            raise NotImplementedError("mindtorch_v2 has no AMSGrad yet")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
        }
        if HABITS["Adam may decouple weight decay"]:
            defaults["decoupled_weight_decay"] = self._decouples_weight_decay
        super().__init__(params, defaults)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: Group) -> None:
        if not state:
            state["step"] = tensor(0.0, dtype=DTYPES["float32"])
            state["exp_avg"] = zeros_like(param)
            state["exp_avg_sq"] = zeros_like(param)
        state["step"] += 1
        lr, decay = group["lr"], group["weight_decay"]
        if decay != 0:
            if self._decouples_weight_decay:
                param.mul_(1 - lr * decay)
            else:
                grad = grad.add(param, alpha=decay)
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        step = state["step"].item()
        correction = (1 - beta2**step) ** 0.5
        scale = (square.sqrt() / correction).add_(group["eps"])
        param.addcdiv_(mean, scale, value=-lr / (1 - beta1**step))


class AdamW(Adam):
    """The same, where weight decay is a step of its own."""

    _decouples_weight_decay = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)
