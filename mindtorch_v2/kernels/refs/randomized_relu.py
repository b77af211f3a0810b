"""The reference functions of the rectifier with random slopes.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.operators import mul
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_META: Final = "torch._meta_registrations."
_NO_SLOPES: Final = 1e-6
"""With bounds as near as this there is one slope."""

_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_LE: Final = OperatorHandle("aten::le.Scalar")
_LEAKY: Final = OperatorHandle("aten::leaky_relu")
_LEAKY_BACKWARD: Final = OperatorHandle("aten::leaky_relu_backward")
_UNIFORM: Final = OperatorHandle("aten::uniform")
_WHERE: Final = OperatorHandle("aten::where.self")
_WHERE_OTHER: Final = OperatorHandle("aten::where.ScalarOther")


@body(_DECOMPOSED + "rrelu_with_noise")
def rrelu_with_noise(
    self: Tensor,
    noise: Tensor,
    lower: Number = 0.125,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Any:
    if generator is not None:
        raise AssertionError
    if not training:
        return _LEAKY(self, (lower + upper) / 2)
    is_drawn, slopes = _LE(self, 0), _UNIFORM(self, lower, upper)
    output = _WHERE(is_drawn, mul(self, slopes), self)
    _COPY_(noise, _WHERE_OTHER(is_drawn, slopes, 1))
    return output


@body(_DECOMPOSED + "rrelu_with_noise_")
def rrelu_with_noise_(self: Tensor, *rest: Any, **named: Any) -> Any:
    return _COPY_(self, rrelu_with_noise(self, *rest, **named))


@body(_DECOMPOSED + "rrelu_with_noise_backward")
def rrelu_with_noise_backward(
    grad_output: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> Any:
    if training and upper - lower > _NO_SLOPES:
        return mul(grad_output, noise)
    return _LEAKY_BACKWARD(grad_output, self, (lower + upper) / 2, self_is_result)


@body(_META + "meta_rrelu_with_noise")
def meta_rrelu_with_noise(self: Tensor, noise: Tensor, *rest: Any, **named: Any) -> Any:
    return _EMPTY_LIKE(self)


@body(_META + "meta_rrelu_with_noise_functional")
def meta_rrelu_with_noise_functional(
    self: Tensor, noise: Tensor, *rest: Any, **named: Any
) -> tuple[Any, Any]:
    return _EMPTY_LIKE(self), _EMPTY_LIKE(noise)


@body(_META + "meta_rrelu_with_noise_")
def meta_rrelu_with_noise_(
    self: Tensor,
    lower: Number | Tensor = 0.125,
    upper: Number = 1 / 3,
    training: Number | bool = False,
    generator: Generator | bool | None = None,
) -> Tensor:
    """The noise has no place of its own: it is taken for the next argument."""
    return self
