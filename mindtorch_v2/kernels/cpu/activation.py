"""Activation functions.

Mirrors ``aten/src/ATen/native/Activation.cpp`` and ``cpu/Activation.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.blocks import by_blocks
from mindtorch_v2.kernels.cpu.error_function import erf, erf_of_vectors
from mindtorch_v2.kernels.cpu.onednn import gelu as onednn_gelu
from mindtorch_v2.kernels.cpu.onednn import has_avx512
from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.pointwise import Pointwise, element, opmath_element, pointwise, rounded
from mindtorch_v2.kernels.promotion import Number, to_opmath
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.tensor_iterator import BINARY_OP, UNARY_OP, TensorIterator
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


def _gelu(self: Array, lanes: Array | None = None) -> Array:
    """The error function of a vector is another one than that of an element."""
    if lanes is None or self.dtype != np.float32:
        return _gelu_of_each(self)
    root = self * np.float32(math.sqrt(0.5))
    error = np.where(lanes, erf_of_vectors(root), erf(root))
    return np.asarray(self * np.float32(0.5) * (1 + error), self.dtype)


@by_blocks
def _gelu_of_each(self: Array) -> Array:
    return np.asarray(self * (0.5 * (1 + erf(self * self.dtype.type(math.sqrt(0.5))))), self.dtype)


def _exact_tanh(self: Array) -> Array:
    """To its last digit, which is the first of ``1 + tanh`` close to minus one."""
    wide = np.float64 if self.dtype == np.float32 else np.longdouble
    found: Array = np.tanh(self.astype(wide)).astype(self.dtype)
    return found


@by_blocks
def _gelu_tanh(self: Array) -> Array:
    kind = self.dtype.type
    inner = kind(_BETA) * (self + kind(_KAPPA) * self * self * self)
    return np.asarray(kind(0.5) * self * (1 + _exact_tanh(inner)), self.dtype)


def _gelu_mkldnn(self: Array) -> Array:
    """oneDNN's; with AVX512 infinity meets a zero."""
    if not has_avx512():
        return onednn_gelu(self)
    found: Array = _gelu_of_each(self)
    found[self == math.inf] = math.nan
    return found


_GELU_MKLDNN: Final = Pointwise("aten::gelu(none)", _gelu_mkldnn, UNARY_OP, 1)
_GELU: Final = {
    "none": Pointwise("aten::gelu(none)", _gelu, UNARY_OP, 1, by_lanes=lambda dtype: True),
    "tanh": Pointwise("aten::gelu(tanh)", _gelu_tanh, UNARY_OP, 1),
}


@by_blocks
def _gelu_backward(grad: Array, self: Array) -> Array:
    kind = self.dtype.type
    cumulative = kind(0.5) * (1 + erf(self * kind(math.sqrt(0.5))))
    density = np.exp(self * self * kind(-0.5)) * kind(1 / math.sqrt(2 * math.pi))
    return np.asarray(grad * (cumulative + self * density), self.dtype)


@by_blocks
def _gelu_tanh_backward(grad: Array, self: Array) -> Array:
    kind = self.dtype.type
    tanh = _exact_tanh(kind(_BETA) * (self + kind(_KAPPA) * self * self * self))
    inner = kind(_BETA) * (1 + kind(3 * _KAPPA) * self * self)
    left = kind(0.5) * (1 + tanh)
    right = kind(0.5) * self * (1 - tanh * tanh) * inner
    return np.asarray(grad * (left + right), self.dtype)


_ONEDNN: Final = tuple(DTYPES[name] for name in ("float32", "bfloat16", "float16", "int8", "uint8"))
"""What oneDNN takes for a gradient."""
_GELU_BACKWARD: Final = {
    "none": Pointwise("aten::gelu_backward(none)", _gelu_backward, BINARY_OP, 2),
    "tanh": Pointwise("aten::gelu_backward(tanh)", _gelu_tanh_backward, BINARY_OP, 2),
}


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
    return _GELU_BACKWARD[approximate](outputs, grad_output, self)


def _sigmoid_backward(grad: Array, output: Array, step: DType) -> Array:
    """Each step is a value of a dtype; complex numbers are multiplied in another order."""
    if output.dtype.kind == "c":
        return np.asarray(grad * np.conj((1 - output) * output), output.dtype)
    return np.asarray(rounded(grad * rounded(1 - output, step), step) * output, output.dtype)


def _step_of_sigmoid(dtype: DType) -> tuple[DType]:
    """Of bfloat16 they are floats."""
    return (to_opmath(dtype) if dtype is _BFLOAT16 else dtype,)


def _tanh_backward(grad: Array, output: Array) -> Array:
    return np.asarray(grad * np.conj(1 - output * output), output.dtype)


def _silu_backward(grad: Array, self: Array) -> Array:
    sigmoid = 1 / (1 + np.exp(-self))
    return np.asarray(grad * sigmoid * (1 + self * (1 - sigmoid)), self.dtype)


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
pointwise("aten::silu_backward", _silu_backward, BINARY_OP, 2)


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


def _silu(self: Array) -> Array:
    return np.asarray(self / (1 + np.exp(-self)), self.dtype)


pointwise("aten::silu", _silu, UNARY_OP, 1)


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
