"""Activation functions.

Mirrors ``aten/src/ATen/native/Activation.cpp`` and ``cpu/Activation.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.vector_functions import (
    ONE_BY_ONE,
    Functions,
    always,
    over_lanes,
)
from mindtorch_v2.kernels.cpu.onednn import gelu as onednn_gelu
from mindtorch_v2.kernels.cpu.onednn import gelu_derivative as onednn_gelu_derivative
from mindtorch_v2.kernels.cpu.onednn import has_avx512
from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.elementwise.pointwise import (
    Pointwise,
    element,
    opmath_element,
    pointwise,
    rounded,
)
from mindtorch_v2.kernels.elementwise.promotion import Number, to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, UNARY_OP, TensorIterator
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_BETA: Final = math.sqrt(2) * (2 / math.sqrt(math.pi)) * 0.5
_KAPPA: Final = 0.044715


def _gelu(functions: Functions, self: Array) -> Array:
    kind = self.dtype.type
    error = functions.erf(self * kind(math.sqrt(0.5)))
    return np.asarray(self * kind(0.5) * (1 + error), self.dtype)


def _inner(self: Array) -> Array:
    kind = self.dtype.type
    return np.asarray(kind(_BETA) * fused(kind(_KAPPA), self * self * self, self))


def _gelu_tanh(functions: Functions, self: Array) -> Array:
    kind = self.dtype.type
    return np.asarray(kind(0.5) * self * (1 + functions.tanh(_inner(self))), self.dtype)


def _gelu_mkldnn(self: Array) -> Array:
    """oneDNN's; with AVX512 infinity meets a zero."""
    if not has_avx512():
        return onednn_gelu(self)
    found = _gelu(ONE_BY_ONE, self)
    found[self == math.inf] = math.nan
    return found


_GELU_MKLDNN: Final = Pointwise("aten::gelu(none)", _gelu_mkldnn, UNARY_OP, 1)
_GELU: Final = {
    name: Pointwise(f"aten::gelu({name})", over_lanes(compute), UNARY_OP, 1, by_lanes=always)
    for name, compute in (("none", _gelu), ("tanh", _gelu_tanh))
}


def _gelu_backward(functions: Functions, grad: Array, self: Array) -> Array:
    kind = self.dtype.type
    cumulative = kind(0.5) * (1 + functions.erf(self * kind(math.sqrt(0.5))))
    density = functions.exp(self * self * kind(-0.5)) * kind(1 / math.sqrt(2 * math.pi))
    return np.asarray(grad * fused(self, density, cumulative), self.dtype)


def _gelu_tanh_backward(functions: Functions, grad: Array, self: Array) -> Array:
    kind = self.dtype.type
    tanh = functions.tanh(_inner(self))
    inner = kind(_BETA) * fused(kind(3) * kind(_KAPPA), self * self, 1)
    right = kind(0.5) * self * fused(-tanh, tanh, 1)
    return np.asarray(grad * (kind(0.5) * (1 + tanh) + right * inner), self.dtype)


def _gelu_backward_mkldnn(grad: Array, self: Array) -> Array:
    if has_avx512():
        return _gelu_backward(ONE_BY_ONE, grad, self)
    return np.asarray(grad * onednn_gelu_derivative(self))


_ONEDNN: Final = tuple(DTYPES[name] for name in ("float32", "bfloat16", "float16", "int8", "uint8"))
"""What oneDNN takes for a gradient."""
_GELU_BACKWARD: Final = {
    name: Pointwise(
        f"aten::gelu_backward({name})", over_lanes(compute), BINARY_OP, 2, by_lanes=always
    )
    for name, compute in (("none", _gelu_backward), ("tanh", _gelu_tanh_backward))
}
_GELU_BACKWARD_MKLDNN: Final = Pointwise(
    "aten::gelu_backward(none)", _gelu_backward_mkldnn, BINARY_OP, 2
)


@structured.structured("aten::gelu_backward")
def gelu_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, approximate: str
) -> tuple[Tensor, ...]:
    if approximate not in _GELU_BACKWARD:
        TensorIterator(BINARY_OP, tuple(outputs), (grad_output, self))
        raise RuntimeError("approximate argument must be either none or tanh.")
    is_for_onednn = approximate == "none" and self._dtype is _FLOAT and numel(self._sizes) > 1
    if is_for_onednn and not self.is_meta and grad_output._dtype not in _ONEDNN:
        iterator = TensorIterator(BINARY_OP, tuple(outputs), (grad_output, self))
        if is_contiguous(self._sizes, self._strides) and iterator.outputs:
            raise worded("gelu_backward of doubles", Double=CPP_NAMES[grad_output._dtype])
    is_mkldnn = approximate == "none" and _is_for_mkldnn(self)
    chosen = _GELU_BACKWARD_MKLDNN if is_mkldnn else _GELU_BACKWARD[approximate]
    return chosen(outputs, grad_output, self)


def _sigmoid_backward(grad: Array, output: Array, step: DType) -> Array:
    """Each step is a value of a dtype; complex numbers are multiplied in another order."""
    if output.dtype.kind == "c":
        return np.asarray(grad * np.conj((1 - output) * output), output.dtype)
    return np.asarray(rounded(grad * rounded(1 - output, step), step) * output, output.dtype)


def _step_of_sigmoid(dtype: DType) -> tuple[DType]:
    """Of bfloat16 they are floats."""
    return (to_opmath(dtype) if dtype is _BFLOAT16 else dtype,)


def _tanh_backward(grad: Array, output: Array) -> Array:
    if output.dtype.kind == "c":
        return np.asarray(grad * np.conj(1 - output * output), output.dtype)
    return np.asarray(grad * fused(-output, output, 1), output.dtype)


def _silu_backward(functions: Functions, grad: Array, self: Array) -> Array:
    sigmoid = 1 / (1 + functions.exp(-self))
    if self.dtype.kind == "c":
        return np.asarray(grad * sigmoid * (1 + self * (1 - sigmoid)), self.dtype)
    return np.asarray(grad * sigmoid * fused(self, 1 - sigmoid, 1), self.dtype)


pointwise("aten::sigmoid_backward", _sigmoid_backward, BINARY_OP, 2, prepare=_step_of_sigmoid)
pointwise("aten::tanh_backward", _tanh_backward, BINARY_OP, 2)


def _leaky_relu_backward(self: Array, grad: Array, slope: Any) -> Array:
    return np.where(self > 0, grad, grad * slope)


def _check_slope(grad: Tensor, self: Tensor, negative_slope: Number, is_result: bool) -> None:
    if is_result and scalar_to(negative_slope, DTYPES["float64"]) < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is "
            "not supported. This is caused by calling in-place forward function with a negative "
            "slope, please call out-of-place version instead. File an issue at "
            "https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
            "backward calculation with negative slope"
        )
    check_supported("aten::leaky_relu_backward", grad._dtype, self._dtype)


def _slope_of_backward(
    dtype: DType, negative_slope: Number, self_is_result: bool
) -> tuple[Any, ...]:
    return _slope(dtype, negative_slope)


pointwise(
    "aten::leaky_relu_backward",
    _leaky_relu_backward,
    BINARY_OP,
    2,
    before=_check_slope,
    prepare=_slope_of_backward,
    backwards=True,
)
pointwise("aten::silu_backward", over_lanes(_silu_backward), BINARY_OP, 2, by_lanes=always)


@structured.structured("aten::gelu")
def gelu(outputs: Outputs, self: Tensor, approximate: str) -> tuple[Tensor, ...]:
    if approximate not in _GELU:
        TensorIterator(UNARY_OP, tuple(outputs), (self,))
        raise RuntimeError("approximate argument must be either none or tanh.")
    is_mkldnn = approximate == "none" and _is_for_mkldnn(self)
    return (_GELU_MKLDNN if is_mkldnn else _GELU[approximate])(outputs, self)


def _is_for_mkldnn(self: Tensor) -> bool:
    """``use_mkldnn``: of bfloat16 on a processor that has AVX512 (``mkldnn_bf16_device_check``)."""
    has_dtype = self._dtype is _FLOAT or (self._dtype is _BFLOAT16 and has_avx512())
    is_taken = has_dtype and numel(self._sizes) > 1
    return is_taken and is_contiguous(self._sizes, self._strides)


def _silu(functions: Functions, self: Array) -> Array:
    return np.asarray(self / (1 + functions.exp(-self)), self.dtype)


pointwise("aten::silu", over_lanes(_silu), UNARY_OP, 1, by_lanes=always)


def _slope(dtype: DType, negative_slope: Number) -> tuple[Any, ...]:
    return (opmath_element(negative_slope, dtype),)


def _leaky_relu(self: Array, slope: Any) -> Array:
    return np.where(self > 0, self, self * slope)


pointwise("aten::leaky_relu", _leaky_relu, UNARY_OP, 1, prepare=_slope)


def _bounds(dtype: DType, threshold: Number, *values: Number) -> tuple[Any, ...]:
    """What elements are compared with is no element: it keeps the precision of the comparison."""
    return opmath_element(threshold, dtype), *(element(value, dtype) for value in values)


def _threshold(self: Array, threshold: Any, value: Any) -> Array:
    return np.where(self <= threshold, value, self)


pointwise(
    "aten::threshold",
    _threshold,
    BINARY_OP._replace(check_mem_overlap=False),
    1,
    prepare=_bounds,
)


def _threshold_backward(self: Array, grad: Array, threshold: Any) -> Array:
    return np.where(self <= threshold, grad.dtype.type(0), grad)


pointwise(
    "aten::threshold_backward",
    _threshold_backward,
    BINARY_OP._replace(check_mem_overlap=False),
    2,
    prepare=_bounds,
    backwards=True,
)
