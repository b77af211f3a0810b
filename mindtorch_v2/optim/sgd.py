"""Stochastic gradient descent.

Mirrors ``torch/optim/sgd.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.optim.optimizer import (
    Group,
    Optimizer,
    as_number,
    check_fused_device,
    check_fused_devices_early,
    check_rate,
    stepped,
    uncounted_if,
)
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["SGD"]

_TORCH: Final = FUNCTIONS["torch"]


class SGD(Optimizer):
    """Steps against the gradient, or against what momentum makes of all that were."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        if fused:
            self._step_supports_amp_scaling = True
            self._need_device_dtype_check_for_fused = True
            check_fused_devices_early(self)
            if differentiable:
                raise RuntimeError("`fused` does not support `differentiable`")
            if foreach:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step: change the parameters by their gradients."""
        return stepped(self, lambda group, params: self._update_all(group, params), closure)

    def _update_all(self, group: Group, params: list[Any]) -> None:
        if group["fused"] and params and getattr(self, "_need_device_dtype_check_for_fused", True):
            check_fused_device(params[0])
            self._need_device_dtype_check_for_fused = False
        buffers = [
            self.state[each].get("momentum_buffer") if group["momentum"] != 0 else None
            for each in params
        ]
        with uncounted_if(
            group["fused"], [*params, *(each for each in buffers if each is not None)]
        ):
            if group["foreach"]:
                buffers = _update_together(params, buffers, group)
            else:
                buffers = [
                    _update(param, buffer, group)
                    for param, buffer in zip(params, buffers, strict=True)
                ]
        if group["momentum"] != 0:
            for param, buffer in zip(params, buffers, strict=True):
                self.state[param]["momentum_buffer"] = buffer


def _update_together(params: list[Any], buffers: list[Any], group: Group) -> list[Any]:
    """The same step by step, each for all parameters: with Nesterov's momentum the gradients
    themselves change (``_multi_tensor_sgd``)."""
    if not params:
        return buffers
    add, add_ = _TORCH["_foreach_add"], _TORCH["_foreach_add_"]
    lr, momentum, decay = as_number(group["lr"]), group["momentum"], group["weight_decay"]
    grads = [param.grad for param in params]
    if group["maximize"]:
        grads = list(_TORCH["_foreach_neg"](grads))
    if decay != 0 and group["maximize"]:
        add_(grads, params, alpha=decay)
    elif decay != 0:
        grads = list(add(grads, params, alpha=decay))
    if momentum != 0:
        kept = 1 - group["dampening"]
        if all(buffer is not None for buffer in buffers):
            _TORCH["_foreach_mul_"](buffers, momentum)
            add_(buffers, grads, alpha=kept)
        else:
            buffers = [
                grad.detach().clone()
                if buffer is None
                else buffer.mul_(momentum).add_(grad, alpha=kept)
                for buffer, grad in zip(buffers, grads, strict=True)
            ]
        if group["nesterov"]:
            add_(grads, buffers, alpha=momentum)
        else:
            grads = buffers
    add_(params, grads, alpha=-lr)
    return buffers


def _update(param: Any, buffer: Any, group: Group) -> Any:
    """Change a parameter; answers the momentum of its gradients, if there is any."""
    lr, momentum, decay = as_number(group["lr"]), group["momentum"], group["weight_decay"]
    grad = -param.grad if group["maximize"] else param.grad
    if isinstance(decay, Tensor) and decay.requires_grad:
        grad = grad.addcmul_(param.clone(), decay)
    elif decay != 0:
        grad = grad.add(param, alpha=decay)
    if momentum != 0:
        if buffer is None:
            buffer = grad.detach().clone()
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
    if isinstance(lr, Tensor) and lr.requires_grad:
        param.addcmul_(grad, lr, value=-1)
    else:
        param.add_(grad, alpha=-lr)
    return buffer
