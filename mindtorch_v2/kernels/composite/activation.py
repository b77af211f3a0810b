"""Activation functions that are made of others.

Mirrors ``aten/src/ATen/native/Activation.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number, to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, promote_types
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_ALPHA: Final = 1.6732632423543772848170429916717
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_SCALE: Final = 1.0507009873554804934193349852946
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_NUMBER: Final = OperatorHandle("aten::add.Scalar")
_ADDCMUL_: Final = OperatorHandle("aten::addcmul_")
_ELU: Final = OperatorHandle("aten::elu")
_ELU_: Final = OperatorHandle("aten::elu_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_ERF_: Final = OperatorHandle("aten::erf_")
_EXP_: Final = OperatorHandle("aten::exp_")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_HARDTANH: Final = OperatorHandle("aten::hardtanh")
_HARDTANH_: Final = OperatorHandle("aten::hardtanh_")
_LOG_SIGMOID_FORWARD: Final = OperatorHandle("aten::log_sigmoid_forward")
_LOG_SIGMOID_FORWARD_OUT: Final = OperatorHandle("aten::log_sigmoid_forward.output")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_NUMBER: Final = OperatorHandle("aten::mul.Scalar")
_MUL_NUMBER_: Final = OperatorHandle("aten::mul_.Scalar")
_PRELU: Final = OperatorHandle("aten::_prelu_kernel")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_SOFTPLUS: Final = OperatorHandle("aten::softplus")
_SUB_: Final = OperatorHandle("aten::sub_.Tensor")
_TANH: Final = OperatorHandle("aten::tanh")
_TO: Final = OperatorHandle("aten::to.dtype")


@kernel("aten::selu", key=_IMPLICIT)
def selu(self: Tensor) -> Any:
    return _ELU(self, _ALPHA, _SCALE)


@kernel("aten::selu_", key=_IMPLICIT)
def selu_(self: Tensor) -> Any:
    return _ELU_(self, _ALPHA, _SCALE)


@kernel("aten::celu", key=_EXPLICIT)
def celu(self: Tensor, alpha: Number) -> Any:
    return _ELU(self, alpha, 1.0, _inverse(alpha))


@kernel("aten::celu_", key=_EXPLICIT)
def celu_(self: Tensor, alpha: Number) -> Any:
    return _ELU_(self, alpha, 1.0, _inverse(alpha))


def _inverse(alpha: Number) -> float:
    number = float(scalar_to(alpha, DTYPES["float64"]))
    if not number:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return 1 / number


@kernel("aten::relu6", key=_IMPLICIT)
def relu6(self: Tensor) -> Any:
    return _HARDTANH(self, 0, 6)


@kernel("aten::relu6_", key=_IMPLICIT)
def relu6_(self: Tensor) -> Any:
    return _HARDTANH_(self, 0, 6)


@kernel("aten::log_sigmoid", key=_IMPLICIT)
def log_sigmoid(self: Tensor) -> Any:
    return _LOG_SIGMOID_FORWARD(self)[0]


@kernel("aten::log_sigmoid.out", key=_IMPLICIT)
def log_sigmoid_out(self: Tensor, out: Tensor) -> Any:
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    buffer = _EMPTY([0], **options)
    return _LOG_SIGMOID_FORWARD_OUT(self, output=out, buffer=buffer)[0]


@kernel("aten::prelu", key=_IMPLICIT)
def prelu(self: Tensor, weight: Tensor) -> Any:
    """With a weight for each channel, in a shape that says which dimension is theirs."""
    if self._dtype is not weight._dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {CPP_NAMES[self._dtype]} and "
            f"{CPP_NAMES[weight._dtype]}"
        )
    rank, count = len(self._sizes), numel(weight._sizes)
    if count != 1:
        if not rank:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self._sizes[1] if rank > 1 else 1
        if channels != count:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    if len(weight._sizes) > 1:
        raise RuntimeError(
            "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
            f"{len(weight._sizes)}"
        )
    if rank != len(weight._sizes):
        weight = _RESHAPE(weight, [count if dim == 1 else 1 for dim in range(rank)])
    return _PRELU(self, weight)


# --- derivatives where there is no kernel for them ----------------------------------------------


@kernel("aten::silu_backward", key=_IMPLICIT)
def math_silu_backward(grad_output: Tensor, self: Tensor) -> Any:
    sigmoid = _SIGMOID(self)
    inner = _ADD_NUMBER(_MUL(self, _one_less(sigmoid)), 1)
    return _MUL(grad_output, _MUL(sigmoid, inner))


@kernel("aten::mish_backward", key=_IMPLICIT)
def math_mish_backward(grad_output: Tensor, self: Tensor) -> Any:
    """As compiled, what stands on the right is computed first."""
    tanh = _TANH(_SOFTPLUS(self))
    sigmoid = _SIGMOID(self)
    rest = _one_less(_MUL(tanh, tanh))
    return _MUL(grad_output, _ADD(tanh, _MUL(_MUL(self, sigmoid), rest)))


def _one_less(tensor: Tensor) -> Any:
    """``1 - tensor`` of C++, a tensor of ones from which that is taken."""
    return _SUB_(_FILL_(_EMPTY_LIKE(tensor, memory_format=_PRESERVE), 1), tensor)


@kernel("aten::infinitely_differentiable_gelu_backward", key=_IMPLICIT)
def infinitely_differentiable_gelu_backward(grad: Tensor, self: Tensor) -> Any:
    """In operators that each have a gradient."""
    if not HABITS["a gelu gradient with gradients is computed in floats"]:
        return _gelu_backward(grad, self)
    dtype = promote_types(grad._dtype, self._dtype)
    operands = [_TO(each, to_opmath(dtype)) for each in (grad, self)]
    return _TO(_gelu_backward(*operands), dtype)


def _gelu_backward(grad: Any, self: Any) -> Any:
    share = _MUL_NUMBER_(_ADD_NUMBER(_ERF_(_MUL_NUMBER(self, math.sqrt(0.5))), 1.0), 0.5)
    density = _EXP_(_MUL(_MUL_NUMBER(self, -0.5), self))
    factor = 2 / math.sqrt(math.pi) * math.sqrt(0.5) * 0.5
    return _MUL_(_ADDCMUL_(share, self, density, value=factor), grad)
