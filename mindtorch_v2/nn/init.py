"""How parameters begin.

Mirrors ``torch/nn/init.py``.  Each function changes a tensor in place, without a history, and
answers it.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.nn._overriding import overridable
from mindtorch_v2.tensor.generator import Generator

__all__ = [
    "calculate_gain",
    "constant_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR: Final = frozenset(
    (
        *("linear", "sigmoid", "conv1d", "conv2d", "conv3d"),
        *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    )
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much a function lessens the deviation of what goes through it; ValueError if unknown."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _no_grad_uniform_(tensor: Any, a: float, b: float, generator: Generator | None) -> Any:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Any, mean: float, std: float, generator: Generator | None) -> Any:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor: Any, val: float) -> Any:
    with no_grad():
        return tensor.fill_(val)


@overridable("tensor", by_name=True)
def uniform_(
    tensor: Any, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Any:
    return _no_grad_uniform_(tensor, a, b, generator)


@overridable("tensor", by_name=True)
def normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Any:
    return _no_grad_normal_(tensor, mean, std, generator)


@overridable("tensor", by_name=True)
def constant_(tensor: Any, val: float) -> Any:
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Any) -> Any:
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    with no_grad():
        return tensor.zero_()


def fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input; ValueError for a vector."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    inputs, outputs = tensor.size(1), tensor.size(0)
    size = math.prod(tensor.shape[2:]) if tensor.dim() > 2 else 1
    return inputs * size, outputs * size


def _is_empty(tensor: Any) -> bool:
    """Whether there is nothing to initialize, which is warned of."""
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def _fan(tensor: Any, mode: str) -> int:
    wanted = mode.lower()
    modes = ("fan_in", "fan_out")
    if wanted not in modes:
        raise ValueError(f"Mode {wanted} not supported, please use one of {list(modes)}")
    return fan_in_and_fan_out(tensor)[modes.index(wanted)]


def _xavier(tensor: Any, gain: float) -> float:
    """The deviation."""
    return gain * math.sqrt(2.0 / float(sum(fan_in_and_fan_out(tensor))))


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    bound = math.sqrt(3.0) * _xavier(tensor, gain)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    return _no_grad_normal_(tensor, 0.0, _xavier(tensor, gain), generator)


def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    """The deviation."""
    fan = _fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@overridable("tensor", by_name=True)
def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    if _is_empty(tensor):
        return tensor
    std = _kaiming(tensor, a, mode, nonlinearity)
    return _no_grad_normal_(tensor, 0, std, generator)
