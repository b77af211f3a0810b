"""The reference functions of tensors that are filled with random numbers, as new tensors.

Mirrors ``torch/_refs/__init__.py``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import add, div, ge, mul, sub
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import assertion
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo

_REFS: Final = "torch._refs."


def _check_generator(generator: object) -> None:
    if generator is not None:
        raise assertion("generator is not supported in refs")


def _check_continuous(name: str, self: Tensor) -> None:
    if not self._dtype.is_floating_point:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. "
            f"        dtype must be a floating point but you specified {self._dtype}"
        )


@body(_REFS + "cauchy")
def cauchy(self: Tensor, median: float = 0, sigma: float = 1, generator: object = None) -> Any:
    _check_generator(generator)
    _check_continuous("Cauchy", self)
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    angle = mul(sub(call("rand_like", self), 0.5), math.pi)
    return add(mul(call("tan", angle), sigma), median)


@body(_REFS + "exponential")
def exponential(self: Tensor, rate: float = 1, generator: object = None) -> Any:
    _check_generator(generator)
    _check_continuous("Exponential", self)
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    uniform = call("rand_like", self)
    epsilon = finfo(uniform._dtype).eps / 2
    logarithm = call("where", ge(uniform, 1.0 - epsilon), -epsilon, call("log", uniform))
    return mul(logarithm, -1 / rate)


@body(_REFS + "geometric")
def geometric(self: Tensor, p: float, generator: object = None) -> Any:
    _check_generator(generator)
    if self._dtype.is_complex or self._dtype is DTYPES["bool"]:
        raise RuntimeError(f"geometric not implemented for {self._dtype}")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    logarithm = call("log1p", call("neg", call("rand_like", self)))
    return add(call("floor", div(logarithm, math.log1p(-p))), 1)


@body(_REFS + "log_normal")
def log_normal(self: Tensor, mean: float = 1, std: float = 2, generator: object = None) -> Any:
    _check_generator(generator)
    if not self._dtype.is_floating_point:
        raise RuntimeError(f"log_normal not implemented for {self._dtype}")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return call("exp", add(mul(call("randn_like", self), std), mean))
