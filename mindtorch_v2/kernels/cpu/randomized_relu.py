"""A rectifier that lets negative elements through, each by a slope drawn at random.

Mirrors the functions of ``rrelu`` in ``aten/src/ATen/native/Activation.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.operators import add, div, mul
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.samples.distributions import uniform_doubles
from mindtorch_v2.kernels.elementwise.pointwise import as_array, opmath_element, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number, number_dtype
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import contiguous_strides
from mindtorch_v2.tensor.scalar_ops import scalar_tensor_static
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import streamed
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_FLOAT64: Final = DTYPES["float64"]
_DRAWN: Final = FLOATING_TYPES | {DTYPES["bfloat16"]}

_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_ITEM: Final = OperatorHandle("aten::_local_scalar_dense")
_LEAKY_BACKWARD: Final = OperatorHandle("aten::leaky_relu_backward")
_LEAKY_OUT: Final = OperatorHandle("aten::leaky_relu.out")
_WITH_NOISE: Final = OperatorHandle("aten::rrelu_with_noise")
_WITH_NOISE_: Final = OperatorHandle("aten::rrelu_with_noise_")


@structured.structured("aten::rrelu_with_noise", keys=("CPU",))
def rrelu_with_noise(
    outputs: Outputs,
    self: Tensor,
    noise: Tensor,
    lower: Number,
    upper: Number,
    training: bool,
    generator: Generator | None,
) -> tuple[Tensor, ...]:
    """The slopes are left in ``noise``, in the order of its memory.

    While it is trained an output keeps the sizes that it has.
    """
    if tuple(self._sizes) != tuple(noise._sizes):
        raise RuntimeError(
            "noise tensor shape must match self tensor shape. Got self.shape = "
            f"{list(self._sizes)} noise.shape = {list(noise._sizes)}"
        )
    (output,) = outputs
    if output is None:
        output = new_tensor(self._sizes, self._dtype, self._device)
    if not training:
        return (_LEAKY_OUT(self, _middle(lower, upper), out=output),)
    dtype = self._dtype
    dispatch_over(_DRAWN, "rrelu_with_noise_out_cpu", dtype)
    check_pointers(dtype, output, noise)
    if output.is_meta:
        return (output,)
    values = as_array(self, dtype)
    is_drawn = ~(values > 0) & ~np.isnan(values)
    low, high = (float(opmath_element(each, dtype)) for each in (lower, upper))
    slopes = np.ones_like(values)
    drawn = uniform_doubles(generator, int(is_drawn.sum()))
    slopes[is_drawn] = (drawn * (high - low) + low).astype(slopes.dtype)
    with np.errstate(all="ignore"):
        store(output, rounded(np.where(is_drawn, values * slopes, values), dtype))
    strides = contiguous_strides(noise._sizes)
    in_memory = noise._as_view(noise._sizes, strides, noise._storage_offset)
    store(in_memory, rounded(slopes, dtype))
    return (output,)


@kernel("aten::rrelu_with_noise_")
def rrelu_with_noise_(self: Tensor, *rest: Any) -> Tensor:
    """Forms of the functional operator are found by what they change, and these change their noise
    as well."""
    rrelu_with_noise((self,), self, *rest)
    return self


@kernel("aten::rrelu_with_noise.out")
def rrelu_with_noise_out(self: Tensor, *rest: Any) -> Any:
    *arguments, out = rest
    return rrelu_with_noise((out,), self, *arguments)[0]


def _middle(lower: Number, upper: Number) -> Any:
    """Halfway between two numbers, as tensors of them have it."""
    one, two = (scalar_tensor_static(each, number_dtype(each)) for each in (lower, upper))
    return _ITEM(div(add(one, two), 2))


@kernel("aten::rrelu_with_noise_backward", key="CompositeExplicitAutograd")
def rrelu_with_noise_backward(
    grad_output: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: Number,
    upper: Number,
    training: bool,
    self_is_result: bool,
) -> Any:
    if training:
        return mul(noise, grad_output)
    low, high = (float(scalar_to(each, _FLOAT64)) for each in (lower, upper))
    return _LEAKY_BACKWARD(grad_output, self, (low + high) / 2, self_is_result)


def _noise_for(self: Tensor, lower: Number, upper: Number) -> Any:
    """Empty memory for the slopes; RuntimeError for bounds the wrong way round."""
    low, high = (scalar_to(each, _FLOAT64) for each in (lower, upper))
    if not low <= high:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    return _EMPTY_LIKE(self, memory_format=_CONTIGUOUS)


@kernel("aten::rrelu", key=_IMPLICIT)
def rrelu(
    self: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None
) -> Any:
    if HABITS["rrelu wants finite bounds"]:
        for name, bound in (("lower", lower), ("upper", upper)):
            number = scalar_to(bound, _FLOAT64)
            if not math.isfinite(number):
                raise RuntimeError(f"rrelu: {name} bound must be finite, got {streamed(number)}")
    noise = _noise_for(self, lower, upper)
    return _WITH_NOISE(self, noise, lower, upper, training, generator)


@kernel("aten::rrelu_", key=_IMPLICIT)
def rrelu_(
    self: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None
) -> Any:
    noise = _noise_for(self, lower, upper)
    return _WITH_NOISE_(self, noise, lower, upper, training, generator)
