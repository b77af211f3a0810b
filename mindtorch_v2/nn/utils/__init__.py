"""What training programs do with the gradients of all parameters.

Mirrors ``torch/nn/utils/clip_grad.py`` as far as no norms are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["clip_grad_value_"]


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Have no element of a gradient be further from zero than ``clip_value``."""
    given: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    limit = float(clip_value)
    with no_grad():
        for parameter in given:
            if parameter.grad is not None:
                parameter.grad.clamp_(min=-limit, max=limit)
