"""The reference functions of gradients: of activations and of losses.

Mirrors ``torch/_decomp/decompositions.py``, operator by operator: on meta each of them promotes and
refuses dtypes, and gives its result strides.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.losses import MEAN
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, to_dtype
from mindtorch_v2.kernels.refs.wrappers import written_out
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_ABS: Final = OperatorHandle("aten::abs")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_AND: Final = OperatorHandle("aten::bitwise_and.Tensor")
_CAT: Final = OperatorHandle("aten::cat")
_CLAMP: Final = OperatorHandle("aten::clamp")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EXP: Final = OperatorHandle("aten::exp")
_GE: Final = OperatorHandle("aten::ge.Scalar")
_GT: Final = OperatorHandle("aten::gt.Scalar")
_LE: Final = OperatorHandle("aten::le.Scalar")
_LT: Final = OperatorHandle("aten::lt.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")
_NEG: Final = OperatorHandle("aten::neg")
_OR: Final = OperatorHandle("aten::bitwise_or.Tensor")
_RSUB: Final = OperatorHandle("aten::rsub.Scalar")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_SIGN: Final = OperatorHandle("aten::sign")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_WHERE: Final = OperatorHandle("aten::where.self")
_WHERE_NUMBERS: Final = OperatorHandle("aten::where.Scalar")
_WHERE_OTHER: Final = OperatorHandle("aten::where.ScalarOther")
_WHERE_SELF: Final = OperatorHandle("aten::where.ScalarSelf")


# --- activations ------------------------------------------------------------------------------


@body(_DECOMPOSED + "sigmoid_backward", _DECOMPOSED + "tanh_backward")
def sigmoid_backward(out_grad: Tensor, y: Tensor) -> Any:
    """A product with something of ``y``'s dtype and shape."""
    return _MUL(out_grad, y)


@body(_DECOMPOSED + "gelu_backward")
def gelu_backward(grad: Tensor, self: Tensor, approximate: str = "none") -> Any:
    return _MUL(grad, self)


@body(_DECOMPOSED + "native_dropout_backward")
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """A product with the mask in the gradient's dtype times the scale."""
    return _MUL(grad_output, _MUL(to_dtype(mask, grad_output._dtype), scale))


@body(_DECOMPOSED + "threshold_backward")
def threshold_backward(grad_output: Tensor, self: Tensor, threshold: Number) -> Any:
    """The number zero or the gradient, as ``where`` promotes them."""
    return _WHERE_SELF(_LE(self, threshold), 0, grad_output)


@body(_DECOMPOSED + "hardtanh_backward")
def hardtanh_backward(grad_output: Tensor, self: Tensor, min_val: Any, max_val: Any) -> Any:
    return _WHERE_SELF(_OR(_LE(self, min_val), _GE(self, max_val)), 0.0, grad_output)


@body(_DECOMPOSED + "hardsigmoid_backward")
def hardsigmoid_backward(grad_output: Tensor, self: Tensor) -> Any:
    is_between = _AND(_GT(self, -3.0), _LT(self, 3.0))
    return _WHERE_OTHER(is_between, _MUL(grad_output, 1.0 / 6.0), 0.0)


@body(_DECOMPOSED + "hardswish_backward")
def hardswish_backward(grad_output: Tensor, self: Tensor) -> Any:
    curve = _MUL(grad_output, _ADD(_DIV(self, 3), 0.5))
    return _WHERE_SELF(_LT(self, -3), 0.0, _WHERE(_LE(self, 3), curve, grad_output))


@body(_DECOMPOSED + "leaky_relu_backward")
def leaky_relu_backward(
    grad_output: Tensor, self: Tensor, negative_slope: Number, self_is_result: bool
) -> Any:
    return _WHERE(_GT(self, 0), grad_output, _MUL(grad_output, negative_slope))


@body(_DECOMPOSED + "softplus_backward")
def softplus_backward(out_grad: Tensor, x: Tensor, beta: Number, threshold: Any) -> Any:
    scaled = _MUL(x, beta)
    grown = _EXP(scaled)
    curve = _DIV(_MUL(out_grad, grown), _ADD(grown, 1.0))
    return _WHERE(_GT(scaled, threshold), out_grad, curve)


@body(_DECOMPOSED + "elu_backward")
def elu_backward(
    grad_output: Tensor,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: bool,
    self_or_result: Tensor,
) -> Any:
    """Which does not mind an ``alpha`` below zero."""
    below = _MUL(grad_output, input_scale)
    if is_result:
        below = _MUL(below, _ADD(self_or_result, alpha * scale))
    else:
        below = _MUL(_MUL(below, alpha * scale), _EXP(_MUL(self_or_result, input_scale)))
    return _WHERE(_LE(self_or_result, 0), below, _MUL(grad_output, scale))


@body(_DECOMPOSED + "log_sigmoid_backward")
def log_sigmoid_backward(grad_output: Tensor, self: Tensor, buffer: Tensor) -> Any:
    is_negative = _LT(self, 0)
    most, sign = _WHERE_NUMBERS(is_negative, 1, 0), _WHERE_NUMBERS(is_negative, 1, -1)
    if not (HABITS["log_sigmoid_backward reads its buffer"] and numel(buffer._sizes)):
        buffer = _EXP(_NEG(_ABS(self)))
    share = _MUL(sign, _DIV(buffer, _ADD(buffer, 1)))
    return _MUL(grad_output, _SUB(most, share))


@body(_DECOMPOSED + "glu_backward")
def glu_backward(grad_output: Tensor, self: Tensor, dim: int) -> Any:
    if not self._sizes:
        raise AssertionError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, len(self._sizes))
    size = self._sizes[dim]
    if size % 2:
        raise AssertionError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    one, two = (_NARROW(self, dim, start, size // 2) for start in (0, size // 2))
    gate = _SIGMOID(two)
    rest = _MUL(_MUL(_MUL(_RSUB(gate, 1.0), gate), one), grad_output)
    return _CAT([_MUL(gate, grad_output), rest], dim)


@body(_DECOMPOSED + "_prelu_kernel_backward")
def prelu_kernel_backward(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Any, Any]:
    is_positive = _GT(self, 0)
    of_input = _WHERE(is_positive, grad_output, _MUL(weight, grad_output))
    return of_input, _WHERE_SELF(is_positive, 0.0, _MUL(self, grad_output))


# --- losses -----------------------------------------------------------------------------------


def _norm(whole: float, input: Tensor, reduction: int) -> float:
    """What a mean divides by; Python's ZeroDivisionError where there is nothing."""
    return whole / numel(input._sizes) if reduction == MEAN else whole


@body(_DECOMPOSED + "smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Any:
    norm = _norm(1.0, self, reduction)
    difference = _SUB(self, target)
    distance = _ABS(difference)
    grad = _MUL(grad_output, norm)
    within = _DIV(_MUL(grad, difference), beta)
    return _WHERE(_LT(distance, beta), within, _MUL(grad, _SIGN(difference)))


@body(_DECOMPOSED + "huber_loss_backward")
def huber_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Any:
    norm = _norm(1.0, self, reduction)
    difference = _SUB(self, target)
    below, above = (_MUL(_MUL(grad_output, slope), delta) for slope in (-norm, norm))
    within = _MUL(_MUL(difference, norm), grad_output)
    rest = _WHERE(_GT(difference, delta), above, within)
    return _WHERE(_LT(difference, -delta), below, rest)


_SMOOTH_L1: Final = OperatorHandle("aten::smooth_l1_loss_backward")
_HUBER: Final = OperatorHandle("aten::huber_loss_backward")


def _into_grad_input(name: str, backward: OperatorHandle) -> None:
    @body(_DECOMPOSED + name)
    def write(*args: Any, grad_input: Tensor) -> Tensor:
        return written_out(grad_input, backward(*args), exact_dtype=True)


_into_grad_input("smooth_l1_loss_backward_out", _SMOOTH_L1)
_into_grad_input("huber_loss_backward_out", _HUBER)


@body(_DECOMPOSED + "mse_loss_backward")
def mse_loss_backward(grad_output: Tensor, input: Tensor, target: Tensor, reduction: int) -> Any:
    norm = _norm(2.0, input, reduction)
    return _MUL(_MUL(_SUB(input, target), norm), grad_output)


@body(_DECOMPOSED + "binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Any:
    ahead = _MUL(grad_output, _SUB(self, target))
    found = _DIV(ahead, _CLAMP(_MUL(self, _RSUB(self, 1)), min=1e-12))
    if weight is not None:
        found = _MUL(found, weight)
    return _DIV(found, numel(self._sizes)) if reduction == MEAN else found
