"""Activation functions in pieces: linear here, curved or constant there; and their derivatives.

Mirrors ``aten/src/ATen/native/Activation.cpp``, ``GatedLinearUnit.cpp`` and ``cpu/Activation.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.pointwise import (
    Pointwise,
    as_array,
    element,
    opmath_element,
    pointwise,
    rounded,
)
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, UNARY_OP, TensorIterator
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors_of_one_row
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, streamed, worded
from mindtorch_v2.tensor.support import HABITS as TENSOR_HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo

_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_CLAMP_OUT: Final = OperatorHandle("aten::clamp.out")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")
_SIGMOID_OUT: Final = OperatorHandle("aten::sigmoid.out")
_OF_ZERO_EXPONENTIAL: Final = TENSOR_HABITS["elu of zero is an exponential less one"]


def _numbers(dtype: DType, *numbers: Number) -> tuple[Any, ...]:
    """In the precision in which is computed."""
    return tuple(opmath_element(number, dtype) for number in numbers)


def _elements(dtype: DType, *numbers: Number) -> tuple[Any, ...]:
    """In the precision of the elements."""
    return tuple(element(number, dtype) for number in numbers)


# --- elu --------------------------------------------------------------------------------------


def _elu(self: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    """Of zero both halves are zero, and have its sign or not."""
    given, slope = self * input_scale, alpha * scale
    if _OF_ZERO_EXPONENTIAL:
        return np.asarray(np.where(self > 0, self * scale, (np.exp(given) - 1) * slope), self.dtype)
    return np.asarray(np.where(self < 0, np.expm1(given) * slope, self * scale), self.dtype)


def _elu_backward(
    grad: Array, self: Array, alpha: Any, scale: Any, input_scale: Any, is_result: bool
) -> Array:
    slope = alpha * scale
    curved = self + slope if is_result else slope * np.exp(self * input_scale)
    return np.asarray(np.where(self <= 0, grad * input_scale * curved, grad * scale), self.dtype)


def _elu_numbers(
    dtype: DType, alpha: Number, scale: Number, input_scale: Number, *is_result: bool
) -> tuple[Any, ...]:
    return (*_numbers(dtype, alpha, scale, input_scale), *is_result)


pointwise("aten::elu", _elu, UNARY_OP, 1, prepare=_elu_numbers)
_ELU_BACKWARD: Final = Pointwise(
    "aten::elu_backward", _elu_backward, BINARY_OP, 2, prepare=_elu_numbers
)


@structured.structured("aten::elu_backward")
def elu_backward(
    outputs: Outputs,
    grad_output: Tensor,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: bool,
    self_or_result: Tensor,
) -> tuple[Tensor, ...]:
    number = scalar_to(alpha, DTYPES["float64"]) if is_result else 0
    if number < 0 or (number != number and not grad_output.is_meta):
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not "
            "supported. This is caused by calling in-place forward function with a negative slope, "
            "please call out-of-place version instead."
        )
    return _ELU_BACKWARD(outputs, grad_output, self_or_result, alpha, scale, input_scale, is_result)


# --- softplus and mish ------------------------------------------------------------------------


def _softplus(self: Array, beta: Any, threshold: Any) -> Array:
    curved = np.log1p(np.exp(self * beta)) / beta
    return np.asarray(np.where(self * beta > threshold, self, curved), self.dtype)


def _softplus_backward(grad: Array, self: Array, beta: Any, threshold: Any) -> Array:
    power = np.exp(self * beta)
    curved = grad * power / (power + 1)
    return np.asarray(np.where(self * beta > threshold, grad, curved), self.dtype)


def _mish(self: Array) -> Array:
    return np.asarray(self * np.tanh(np.log1p(np.exp(self))), self.dtype)


def _mish_backward(grad: Array, self: Array) -> Array:
    sigmoid = 1 / (1 + np.exp(-self))
    tanh = np.tanh(np.log1p(np.exp(self)))
    return np.asarray(grad * (tanh + self * sigmoid * (1 - tanh * tanh)), self.dtype)


pointwise("aten::softplus", _softplus, UNARY_OP, 1, prepare=_numbers)
pointwise("aten::softplus_backward", _softplus_backward, BINARY_OP, 2, prepare=_numbers)
pointwise("aten::mish", _mish, UNARY_OP, 1)
_MISH_BACKWARD: Final = Pointwise("aten::mish_backward", _mish_backward, BINARY_OP, 2)


@structured.structured("aten::mish_backward")
def mish_backward(outputs: Outputs, grad_output: Tensor, self: Tensor) -> tuple[Tensor, ...]:
    """Into a new tensor of the dtype of ``self``, which an operator is then told to write to."""
    (made,) = outputs
    if made is None and not self.is_meta:
        made = new_tensor((0,), self._dtype, self._device)
    return _MISH_BACKWARD((made,), grad_output, self)


# --- the hard ones ----------------------------------------------------------------------------


def _hardsigmoid(self: Array) -> Array:
    return np.asarray(_between_0_and_6(self + 3) / 6, self.dtype)


def _between_0_and_6(values: Array) -> Array:
    """``std::min(std::max(x, 0), 6)``, of which nothing is 0."""
    return np.where(values > 6, values.dtype.type(6), np.where(values < 0, 0, values))


_BYTE: Final = DTYPES["uint8"]
_SIXTH: Final = np.float32(1 / 6)
"""Whatever the dtype."""


def _hardsigmoid_backward(grad: Array, self: Array) -> Array:
    inside = (self > -3) & (self < 3)
    return np.asarray(np.where(inside, grad * self.dtype.type(_SIXTH), 0), self.dtype)


def _hardswish(self: Array) -> Array:
    return np.asarray(self * _between_0_and_6(self + 3) / 6, self.dtype)


def _hardswish_backward(grad: Array, self: Array) -> Array:
    found = np.where(self >= 3, grad, grad * (self / 3 + self.dtype.type(0.5)))
    return np.asarray(np.where(self <= -3, 0, found), self.dtype)


def _hardshrink(self: Array, lambd: Any) -> Array:
    return np.asarray(np.where((self >= -lambd) & (self <= lambd), 0, self), self.dtype)


def _softshrink(self: Array, lambd: Any, lanes: Array | None = None) -> Array:
    zeros = np.zeros((), self.dtype)
    if HABITS["softshrink keeps the sign of its zeros"]:  # one by one, and no NaN in a vector
        in_vectors = in_vectors_of_one_row(self) if lanes is None else lanes
        zeros = np.where(in_vectors & ~np.isnan(self), zeros, self * 0)
    below = np.where(self < -lambd, self + lambd, zeros)
    return np.asarray(np.where(self > lambd, self - lambd, below), self.dtype)


def _shrink_backward(grad: Array, self: Array, lambd: Any) -> Array:
    return np.asarray(np.where((self >= -lambd) & (self <= lambd), 0, grad), self.dtype)


def _hardtanh_backward(grad: Array, self: Array, least: Any, most: Any) -> Array:
    return np.asarray(np.where((self <= least) | (self >= most), 0, grad), self.dtype)


def _softshrink_check(self: Tensor, lambd: Number) -> None:
    number = float(scalar_to(lambd, DTYPES["float64"]))
    if not HABITS["softshrink has a bound by dtype"]:
        if not number >= 0:
            raise RuntimeError(
                f"lambda must be greater or equal to 0, but found to be {streamed(number)}."
            )
        return
    dispatch("softshrink_check", self._dtype)
    limit = finfo(self._dtype).max
    if not 0 <= number <= limit:
        raise RuntimeError(
            f"lambda must be in range [0, {streamed(limit)}] for input dtype "
            f"{CPP_NAMES[self._dtype]}, but found {streamed(number)}"
        )


pointwise("aten::hardsigmoid", _hardsigmoid, UNARY_OP, 1)
pointwise("aten::hardsigmoid_backward", _hardsigmoid_backward, BINARY_OP, 2)
pointwise("aten::hardswish", _hardswish, UNARY_OP, 1)
pointwise("aten::hardswish_backward", _hardswish_backward, BINARY_OP, 2)
pointwise("aten::hardshrink", _hardshrink, UNARY_OP, 1, prepare=_elements)
pointwise("aten::hardshrink_backward", _shrink_backward, BINARY_OP, 2, prepare=_elements)
pointwise(
    "aten::softshrink",
    _softshrink,
    UNARY_OP,
    1,
    before=_softshrink_check,
    prepare=_numbers,
    by_lanes=lambda dtype, *numbers: True,
)
pointwise("aten::softshrink_backward", _shrink_backward, BINARY_OP, 2, prepare=_elements)
pointwise("aten::hardtanh_backward", _hardtanh_backward, BINARY_OP, 2, prepare=_numbers)


@kernel("aten::hardtanh")
def hardtanh(self: Tensor, min_val: Number, max_val: Number) -> Any:
    result = _EMPTY_LIKE(self, memory_format=_PRESERVE)
    foretell("aten::hardtanh", result)
    return hardtanh_out(self, min_val, max_val, result)


@kernel("aten::hardtanh_")
def hardtanh_inplace(self: Tensor, min_val: Number, max_val: Number) -> Any:
    return hardtanh_out(self, min_val, max_val, self)


@kernel("aten::hardtanh.out")
def hardtanh_out(self: Tensor, min_val: Number, max_val: Number, out: Tensor) -> Any:
    """``clamp`` whose bounds are integers where the tensor's are."""
    if self._dtype is BOOL:
        raise worded("hardtanh of truth values")
    if is_integral(self._dtype):
        min_val, max_val = (int(scalar_to(each, DTYPES["int64"])) for each in (min_val, max_val))
        is_looked_at = not HABITS["hardtanh leaves bytes to clamp"] and self._dtype is _BYTE
        if is_looked_at and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _CLAMP_OUT(self, min_val, max_val, out=out)


# --- those with a second tensor ---------------------------------------------------------------


@kernel("aten::log_sigmoid_forward")
def log_sigmoid_forward(self: Tensor) -> tuple[Tensor, Tensor]:
    """With the power that the derivative needs."""
    found = [new_tensor(self._sizes, self._dtype, self._device) for _ in range(2)]
    dispatch("log_sigmoid_cpu", self._dtype)
    with np.errstate(all="ignore"):
        values = as_array(self, self._dtype)
        power = np.exp(-np.abs(values))
        result = np.minimum(values, 0) - np.log1p(power)
        for tensor, array in zip(found, (result, power), strict=True):
            store(tensor, rounded(np.asarray(array, values.dtype), self._dtype))
    return found[0], found[1]


@structured.structured("aten::log_sigmoid_backward", keys=("CPU",))
def log_sigmoid_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, buffer: Tensor
) -> tuple[Tensor, ...]:
    output = _EMPTY_LIKE(grad_output) if outputs[0] is None else outputs[0]
    iterator = TensorIterator(UNARY_OP, (output,), (self, buffer, grad_output))
    dtype = iterator.common_dtype
    dispatch("log_sigmoid_backward_cpu", dtype)
    with np.errstate(all="ignore"):
        values, power, grad = (as_array(each, dtype) for each in (self, buffer, grad_output))
        negative = values < 0
        share = power / (1 + power)
        found = grad * np.where(negative, 1 - share, share)
        store(iterator.outputs[0], rounded(np.asarray(found, values.dtype), dtype))
    return iterator.outputs


@kernel("aten::log_sigmoid_forward.output")
def log_sigmoid_forward_out(self: Tensor, output: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs are resized without a word; RuntimeError if they have another dtype."""
    made = log_sigmoid_forward(self)
    for target in (output, buffer):
        if target._sizes != self._sizes:
            set_sizes(target, self._sizes)
    for target, found in zip((output, buffer), made, strict=True):
        check_pointers(self._dtype, target)
        _COPY_(target, found)
    return output, buffer


def _gated(self: Tensor, dim: int) -> tuple[int, int]:
    """The dimension, and half of its size."""
    if not self._sizes:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, len(self._sizes))
    size = self._sizes[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return dim, size // 2


def _glu(one: Array, two: Array) -> Array:
    return np.asarray(one * (1 / (1 + np.exp(-two))), one.dtype)


@structured.structured("aten::glu")
def glu(outputs: Outputs, self: Tensor, dim: int) -> tuple[Tensor, ...]:
    dim, half = _gated(self, dim)
    halves = [_NARROW(self, dim, start, half) for start in (0, half)]
    if not self.is_meta:
        iterator = TensorIterator(BINARY_OP, tuple(outputs), halves)
        dispatch("glu_cpu", iterator.common_dtype)
    return Pointwise("", _glu, BINARY_OP, 2)(outputs, *halves)


@structured.prologue("aten::glu_backward")  # each of its steps has something to say of an output
@structured.structured("aten::glu_backward", keys=("CPU",))
def glu_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, dim: int
) -> tuple[Tensor, ...]:
    dim, half = _gated(self, dim)
    (made,) = outputs
    if made is None:
        made = new_tensor(self._sizes, self._dtype, self._device)
    set_sizes(made, self._sizes)
    one, two = (_NARROW(self, dim, start, half) for start in (0, half))
    of_one, of_two = (_NARROW(made, dim, start, half) for start in (0, half))
    _SIGMOID_OUT(two, out=of_one)
    iterator = TensorIterator(UNARY_OP, (of_two,), (of_one, one, grad_output))
    dtype = iterator.common_dtype
    dispatch("glu_backward_cpu", dtype)
    with np.errstate(all="ignore"):
        sigmoid, values, grad = (as_array(each, dtype) for each in iterator.inputs)
        store(of_two, rounded((1 - sigmoid) * sigmoid * values * grad, dtype))
    _MUL_(of_one, grad_output)
    return (made,)


@kernel("aten::_prelu_kernel")
def prelu_kernel(self: Tensor, weight: Tensor) -> Tensor:
    result: Tensor = _EMPTY_LIKE(self, memory_format=_PRESERVE)
    iterator = TensorIterator(UNARY_OP, (result,), (self, weight))
    dtype = iterator.common_dtype
    dispatch("prelu_cpu", dtype)
    with np.errstate(all="ignore"):
        values, slope = (as_array(each, dtype) for each in (self, weight))
        store(result, rounded(np.where(values > 0, values, slope * values), dtype))
    return result


@kernel("aten::_prelu_kernel_backward")
def prelu_kernel_backward(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    iterator = TensorIterator(UNARY_OP, (None, None), (self, weight, grad_output))
    dtype = iterator.common_dtype
    dispatch("prelu_backward_cpu", dtype)
    with np.errstate(all="ignore"):
        values, slope, grad = (as_array(each, dtype) for each in (self, weight, grad_output))
        positive = values > 0
        of_self = np.where(positive, grad, slope * grad)
        of_weight = np.where(positive, 0, values * grad).astype(grad.dtype)
        for output, found in zip(iterator.outputs, (of_self, of_weight), strict=True):
            if numel(output._sizes):
                store(output, rounded(np.asarray(found), dtype))
    return iterator.outputs
