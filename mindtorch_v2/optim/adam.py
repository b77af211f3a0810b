"""Adam: steps by running means of the gradient and of its square.

Mirrors ``torch/optim/adam.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2._library.release import without
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels import switches
from mindtorch_v2.optim.optimizer import (
    DEVICES,
    HABITS,
    Group,
    Optimizer,
    as_number,
    check_fused_device,
    check_fused_devices_early,
    check_rate,
    stepped,
    uncounted_if,
)
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["Adam"]

MAY_DECOUPLE: Final = switches.HABITS["Adam may decouple weight decay"]
_TORCH: Final = FUNCTIONS["torch"]
_MEANS: Final = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")


class Adam(Optimizer):
    """Steps by running means of the gradient and of its square.

    Weight decay is part of the gradient, unless ``decoupled_weight_decay`` makes it a step of its
    own, in releases that have that.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
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
        if MAY_DECOUPLE:
            defaults["decoupled_weight_decay"] = decoupled_weight_decay
        initialize(self, params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        complete(self)
        if MAY_DECOUPLE:
            for group in self.param_groups:
                group.setdefault("decoupled_weight_decay", False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step: change the parameters by their gradients."""
        return stepped(self, lambda group, params: update_all(self, group, params), closure)


if not MAY_DECOUPLE:
    Adam.__init__ = without(Adam.__init__, "decoupled_weight_decay")  # type: ignore[method-assign]


def initialize(optimizer: Optimizer, params: Any, defaults: dict[str, Any]) -> None:
    """Begin, with options that are checked; ValueError or RuntimeError for wrong ones."""
    lr, betas, foreach = defaults["lr"], defaults["betas"], defaults["foreach"]
    listed = foreach and not defaults["capturable"]
    if HABITS["a tensor that is a rate has one element"]:
        _check_listed(lr, listed)
        check_rate(lr)
    if not 0.0 <= lr:  # noqa: SIM300 (what cannot be compared is named in this order)
        raise ValueError(f"Invalid learning rate: {lr}")
    _check_listed(lr, listed)
    if not 0.0 <= defaults["eps"]:  # noqa: SIM300
        raise ValueError(f"Invalid epsilon value: {defaults['eps']}")
    for place in range(2):
        if not 0.0 <= betas[place] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {betas[place]}")
    if not 0.0 <= defaults["weight_decay"]:  # noqa: SIM300
        raise ValueError(f"Invalid weight_decay value: {defaults['weight_decay']}")
    if HABITS["Adam's betas are both numbers or both tensors"]:
        _check_betas(betas, listed)
    if HABITS["Adam's betas are in a tuple"]:
        defaults["betas"] = tuple(map(as_number, betas))
    Optimizer.__init__(optimizer, params, defaults)
    if defaults["fused"]:
        if defaults["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        optimizer._step_supports_amp_scaling = True  # type: ignore[attr-defined]
        check_fused_devices_early(optimizer)
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _check_listed(lr: Any, listed: bool) -> None:
    if isinstance(lr, Tensor) and listed:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")


def _check_betas(betas: tuple[Any, Any], listed: bool) -> None:
    if not any(all(isinstance(each, kind) for each in betas[:2]) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
    for place, beta in enumerate(betas[:2]):
        if not isinstance(beta, Tensor):
            continue
        if listed:
            raise ValueError(
                f"betas[{place}] as a Tensor is not supported for capturable=False and foreach=True"
            )
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{place}] must be 1-element")


def complete(optimizer: Optimizer) -> None:
    """Have a state of an old release have the options of this one, and numbers in tensors."""
    for group in optimizer.param_groups:
        group.setdefault("amsgrad", False)
        group.setdefault("maximize", False)
        group.setdefault("foreach", None)
        group.setdefault("capturable", False)
        group.setdefault("differentiable", False)
        group.setdefault("fused", None)
        for param in group["params"]:
            state = optimizer.state.get(param, {})
            if len(state) != 0 and not isinstance(state["step"], Tensor):
                state["step"] = _number_of_steps(float(state["step"]), param, group)


def _number_of_steps(value: float, param: Any, group: Group) -> Any:
    """On the CPU unless what counts is on the parameter's device."""
    is_double = get_default_dtype() is DTYPES["float64"] and not group["fused"]
    is_with_param = group["capturable"] or group["fused"]
    device = {"device": param.device} if is_with_param else {}
    return _TORCH["tensor"](value, dtype=DTYPES["float64" if is_double else "float32"], **device)


def update_all(
    optimizer: Optimizer, group: Group, params: list[Any], *, decays: bool = False
) -> None:
    """Change the parameters of a group; those that step for the first time get a state.

    ``decays`` is true where weight decay is always a step of its own, even of nothing.
    """
    states = [_state(optimizer, param, group) for param in params]
    means = [state[name] for state in states for name in _MEANS if name in state]
    if group["foreach"]:
        if params and group["differentiable"]:
            raise AssertionError("_foreach ops don't support autograd")
        for param, state in zip(params, states, strict=True):
            _check_capturable(param, state, group)
    with uncounted_if(group["fused"], [*params, *means]):
        for param, state in zip(params, states, strict=True):
            _update(param, state, group, decays)


def _state(optimizer: Optimizer, param: Any, group: Group) -> dict[str, Any]:
    if param.grad.is_sparse:
        name = type(optimizer).__name__
        advice = ", please consider SparseAdam instead"
        is_told = name != "AdamW" or HABITS["AdamW is an Adam"]
        shown = "Adam" if is_told else name
        raise RuntimeError(f"{shown} does not support sparse gradients{advice if is_told else ''}")
    state: dict[str, Any] = optimizer.state[param]
    if not state:
        if group["fused"]:
            check_fused_device(param)
        state["step"] = _number_of_steps(0.0, param, group)
        for name in _MEANS if group["amsgrad"] else _MEANS[:2]:
            state[name] = _TORCH["zeros_like"](param)
    if group["differentiable"] and state["step"].requires_grad:
        raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
    if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
        raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
    return state


def _check_capturable(param: Any, state: dict[str, Any], group: Group) -> None:
    """AssertionError where nothing could be captured."""
    devices = [each for each in DEVICES["capturable"] if each != "xla" or not group["foreach"]]
    kind = param.device.type
    if group["capturable"] and not (kind == state["step"].device.type and kind in devices):
        raise AssertionError(
            f"If capturable=True, params and state_steps must be on supported devices: {devices}."
        )


def _update(param: Any, state: dict[str, Any], group: Group, decays: bool) -> None:
    lr, decay = as_number(group["lr"]), group["weight_decay"]
    beta1: Any = as_number(group["betas"][0])
    beta2: Any = as_number(group["betas"][1])
    grad = -param.grad if group["maximize"] else param.grad
    if not group["fused"]:
        _check_capturable(param, state, group)
    state["step"] += 1
    if decays or (decay != 0 and group.get("decoupled_weight_decay")):
        param.mul_(1 - lr * decay)
    elif isinstance(decay, Tensor) and decay.requires_grad:
        grad = grad.addcmul_(param.clone(), decay)
    elif decay != 0:
        grad = grad.add(param, alpha=decay)
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    largest = state.get("max_exp_avg_sq")
    if param.is_complex():
        real = _TORCH["view_as_real"]
        param, grad, mean, square = map(real, (param, grad, mean, square))
        largest = None if largest is None else real(largest)
    mean.lerp_(grad, 1 - beta1)
    if getattr(beta2, "requires_grad", False):
        square.lerp_(grad.square(), 1 - beta2)
    else:
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    if group["differentiable"]:
        _differentiable_step(param, mean, square, largest, state["step"], lr, group)
        return
    step = state["step"].item()
    size = lr / (1 - beta1**step)
    if largest is not None:
        square = _TORCH["maximum"](largest, square, out=largest)
    scale = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
    param.addcdiv_(mean, scale, value=-size)


def _differentiable_step(
    param: Any, mean: Any, square: Any, largest: Any, step: Any, lr: Any, group: Group
) -> None:
    """The same, of tensors alone."""
    beta1, beta2 = (
        (beta, step.clone()) if isinstance(beta, Tensor) and beta.requires_grad else (beta, step)
        for beta in map(as_number, group["betas"])
    )
    size = (lr / (1 - beta1[0] ** beta1[1])).neg()
    correction = (1 - beta2[0] ** beta2[1]).sqrt()
    if largest is not None:
        square = largest.copy_(_TORCH["maximum"](largest.clone(), square))
    scale = (square.sqrt() / (correction * size)).add_(group["eps"] / size)
    param.addcdiv_(mean.clone(), scale)
