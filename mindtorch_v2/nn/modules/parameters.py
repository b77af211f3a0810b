"""How modules make their parameters."""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn import init
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["made", "options_of", "reset_affine"]

_EMPTY: Final = FUNCTIONS["torch"]["empty"]


def made(
    options: dict[str, Any], size: int | tuple[int, ...], *, requires_grad: bool = True
) -> Parameter:
    """A parameter of a size that holds nothing yet."""
    return Parameter(_EMPTY(size, **options), requires_grad=requires_grad)


def options_of(device: Any, dtype: Any) -> dict[str, Any]:
    """Those of a module's arguments that say what its parameters shall be."""
    return {"device": device, "dtype": dtype}


def reset_affine(weight: Parameter, bias: Parameter | None) -> None:
    """Uniform within one over the root of the number of inputs."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in, _ = init.fan_in_and_fan_out(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)
