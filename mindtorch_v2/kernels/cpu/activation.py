"""Activation functions.

Mirrors ``aten/src/ATen/native/Activation.cpp`` and ``cpu/Activation.cpp``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.unary import erf
from mindtorch_v2.kernels.pointwise import Pointwise, element, opmath_element, pointwise
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.tensor_iterator import BINARY_OP, UNARY_OP
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_BETA: Final = math.sqrt(2) * (2 / math.sqrt(math.pi)) * 0.5
_KAPPA: Final = 0.044715


def _gelu(self: Array) -> Array:
    return np.asarray(self * (0.5 * (1 + erf(self * self.dtype.type(math.sqrt(0.5))))), self.dtype)


def _gelu_tanh(self: Array) -> Array:
    kind = self.dtype.type
    inner = kind(_BETA) * (self + kind(_KAPPA) * self * self * self)
    return np.asarray(kind(0.5) * self * (1 + np.tanh(inner)), self.dtype)


_GELU: Final = {
    "none": Pointwise("aten::gelu(none)", _gelu, UNARY_OP, 1),
    "tanh": Pointwise("aten::gelu(tanh)", _gelu_tanh, UNARY_OP, 1),
}


@structured.structured("aten::gelu")
def gelu(outputs: Outputs, self: Tensor, approximate: str) -> tuple[Tensor, ...]:
    if approximate not in _GELU:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _GELU[approximate](outputs, self)


def _silu(self: Array) -> Array:
    return np.asarray(self / (1 + np.exp(-self)), self.dtype)


pointwise("aten::silu", _silu, UNARY_OP, 1)


def _slope(dtype: DType, negative_slope: Number) -> tuple[Any, ...]:
    return (opmath_element(negative_slope, dtype),)


def _leaky_relu(self: Array, slope: Any) -> Array:
    return np.where(self > 0, self, self * slope)


pointwise("aten::leaky_relu", _leaky_relu, UNARY_OP, 1, prepare=_slope)


def _elements(dtype: DType, *numbers: Number) -> tuple[Any, ...]:
    return tuple(element(number, dtype) for number in numbers)


def _threshold(self: Array, threshold: Any, value: Any) -> Array:
    return np.where(self <= threshold, value, self)


pointwise(
    "aten::threshold",
    _threshold,
    replace(BINARY_OP, check_mem_overlap=False),
    1,
    prepare=_elements,
)
