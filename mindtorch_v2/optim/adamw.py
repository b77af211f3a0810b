"""AdamW: Adam whose weight decay is a step of its own.

Mirrors ``torch/optim/adamw.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mindtorch_v2.optim.adam import Adam, complete, initialize, update_all
from mindtorch_v2.optim.optimizer import HABITS, Optimizer, stepped

__all__ = ["AdamW"]

_IS_ADAM: Final = HABITS["AdamW is an Adam"]
_Base: Any = Adam if _IS_ADAM else Optimizer


class AdamW(_Base):  # type: ignore[misc]
    """Steps as Adam does, after a step of weight decay."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "foreach": foreach,
            "maximize": maximize,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
        }
        if _IS_ADAM:
            super().__init__(params, **options, decoupled_weight_decay=True)
        else:
            initialize(self, params, options)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        complete(self)
        if _IS_ADAM:
            for group in self.param_groups:
                group["decoupled_weight_decay"] = True

    if not _IS_ADAM:

        def step(self, closure: Callable[[], Any] | None = None) -> Any:
            """One step: change the parameters by their gradients."""
            update = partial(update_all, self, decays=True)
            return stepped(self, update, closure)
